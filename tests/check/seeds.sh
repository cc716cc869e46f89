#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lints the manifests of the guides with which this project began: each kind
# must be known, and the known defects must be found.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/seeds"
python3 "$tests/check/seeds.py" "$gpugate" "$shared/seeds" "$work"
