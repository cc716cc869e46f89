#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares findings that the API server rejects an object with recorded answers
# of a real one, to small objects made for it and to every document of the
# corpus. Disagreements are listed, with their reasons, in
# tests/check/api-server.txt.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/reference/api-server-verdicts.tsv"
python3 "$tests/check/api_server.py" "$gpugate" "$shared" "$tests/check/api-server.txt"
