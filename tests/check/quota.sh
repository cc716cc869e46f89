#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares whole workloads with quotas behind a real kube-apiserver, with the
# state of the cluster kept by list and watch: gangs are created one at a time
# and twenty at once.
# usage: quota.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_control_plane --crds --controller-manager
# The API server offers HTTP/2 only to webhooks on loopback, so use another
# address, as in production.
address=$(hostname -I | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$' || echo 127.0.0.1)
ports=()
while [ ${#ports[@]} -lt 5 ]; do
	ports+=("$(control_plane_free_port)")
done
python3 tests/webhook/quota.py "$build" "$work/cluster" "$address" "${ports[@]}"
