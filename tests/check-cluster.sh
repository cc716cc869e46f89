#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A quota says the same whether it stands in the set or in a cluster state:
# the corpus is linted with made-up quotas for all its namespaces, once as
# files and once as a snapshot, and what is found in the corpus is compared.
#
# usage: check-cluster.sh GPUGATE
set -u
gpugate=$1
corpus=${GPUGATE_SHARED:-../shared}/corpus
if [ ! -d "$corpus" ]; then
	echo "skip: no corpus at $corpus"
	exit 0
fi
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
python3 "$(dirname "$0")/cluster.py" "$gpugate" "$corpus" "$tmp"
