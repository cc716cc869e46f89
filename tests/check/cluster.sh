#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A quota says the same whether it stands in the set or in a cluster state:
# the corpus is linted with made-up quotas for all its namespaces, once as
# files and once as a snapshot, and what is found in the corpus is compared.
#
# usage: cluster.sh GPUGATE
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$corpus"
python3 "$tests/check/cluster.py" "$gpugate" "$corpus" "$work"
