#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Whole workloads against quota behind a real kube-apiserver, with the state of
# the cluster kept by list and watch: what a gang may have, one at a time and
# twenty at once. usage: check-quota.sh BUILD
set -u
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.." || exit 2
. tests/control-plane/control-plane.sh
work=$(mktemp -d)
trap 'control_plane_stop; rm -rf "$work"' EXIT
control_plane_start "$work/cluster" --crds --controller-manager
case $? in
0) ;;
77)
	echo "skip: quota: no control plane (Go and ../shared/crds)"
	exit 0
	;;
*) exit 1 ;;
esac
# Loopback has HTTP/2 in its ALPN; production has not.
address=$(hostname -I | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$' || echo 127.0.0.1)
ports=()
while [ ${#ports[@]} -lt 5 ]; do
	ports+=("$(control_plane_free_port)")
done
python3 tests/webhook/quota.py "$build" "$work/cluster" "$address" "${ports[@]}"
