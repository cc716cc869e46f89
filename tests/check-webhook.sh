#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The webhook behind a real kube-apiserver: what is denied, patched, warned
# and audited, a rollout from audit to enforce, and the corpus through both
# doors. usage: check-webhook.sh BUILD
set -u
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.." || exit 2
. tests/control-plane/control-plane.sh
work=$(mktemp -d)
trap 'control_plane_stop; rm -rf "$work"' EXIT
control_plane_start "$work/cluster" --crds
case $? in
0) ;;
77)
	echo "skip: webhook: no control plane (Go and ../shared/crds)"
	exit 0
	;;
*) exit 1 ;;
esac
control_plane_user oncall gpu-oncall
control_plane_user alice developers
control_plane_user system:serviceaccount:kubeflow:training-operator \
	system:serviceaccounts
kube create clusterrolebinding everybody --clusterrole=cluster-admin \
	--group=gpu-oncall --group=developers --group=system:serviceaccounts \
	>/dev/null
# Loopback has HTTP/2 in its ALPN; production has not.
address=$(hostname -I | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$' || echo 127.0.0.1)
python3 tests/webhook/admission.py "$build" "$work/cluster" "$address" \
	"$(control_plane_free_port)" "$(control_plane_free_port)"
