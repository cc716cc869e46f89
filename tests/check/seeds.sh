#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manifests of the guides this project began with: each is recognized,
# and the defects known in them are found.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/seeds"
python3 "$tests/check/seeds.py" "$gpugate" "$shared/seeds" "$work"
