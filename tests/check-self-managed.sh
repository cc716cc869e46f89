#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# --self-managed with a real kube-apiserver: two replicas with the rights that
# deploy/ grants, rotations while admissions go on, and what may go wrong.
# usage: check-self-managed.sh BUILD
set -u
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.." || exit 2
. tests/control-plane/control-plane.sh
work=$(mktemp -d)
trap 'control_plane_stop; rm -rf "$work"' EXIT
control_plane_start "$work/cluster"
case $? in
0) ;;
77)
	echo "skip: self-managed: no control plane (Go)"
	exit 0
	;;
*) exit 1 ;;
esac
control_plane_user system:serviceaccount:gpugate-system:gpugate \
	system:serviceaccounts
kube create namespace gpugate-system >/dev/null
kube create namespace ml >/dev/null
kube apply -f deploy/components/self-managed/rbac.yaml >/dev/null || exit 1
# Loopback has HTTP/2 in its ALPN; production has not.
address=$(hostname -I | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$' || echo 127.0.0.1)
ports=()
while [ ${#ports[@]} -lt 4 ]; do
	ports+=("$(control_plane_free_port)")
done
python3 tests/webhook/self_managed.py "$build/gpugated" "$work/cluster" \
	"$address" "${ports[@]}"
