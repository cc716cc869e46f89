#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Some findings state that the API server rejects the object. Compares them with
# recorded answers of a real API server, for small objects made for this check and
# for every document of the corpus. tests/check/api-server.txt lists disagreements
# and their reasons.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/reference/api-server-verdicts.tsv"
python3 "$tests/check/api_server.py" "$gpugate" "$shared" "$tests/check/api-server.txt"
