#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the webhook with a real kube-apiserver: denials, patches, warnings and
# audit annotations, a rollout from audit to enforce, and the corpus through
# the linter and the webhook.
# usage: webhook.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_control_plane --crds
control_plane_user oncall gpu-oncall
control_plane_user alice developers
control_plane_user system:serviceaccount:kubeflow:training-operator \
	system:serviceaccounts
kube create clusterrolebinding everybody --clusterrole=cluster-admin \
	--group=gpu-oncall --group=developers --group=system:serviceaccounts \
	>/dev/null
# The API server offers HTTP/2 only to webhooks on loopback, so use another
# address, as in production.
address=$(hostname -I | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$' || echo 127.0.0.1)
python3 tests/webhook/admission.py "$build" "$work/cluster" "$address" \
	"$(control_plane_free_port)" "$(control_plane_free_port)"
