#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that quotas have the same effect in files and in a snapshot: lints the
# corpus with generated quotas for all its namespaces, once as files and once as
# a snapshot, and compares the findings in the corpus.
#
# usage: cluster.sh GPUGATE
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$corpus"
python3 "$tests/check/cluster.py" "$gpugate" "$corpus" "$work"
