#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs in the PreSync Job: lints the application's manifests against the target
# cluster. If it fails, nothing was changed.
#
#   GPUGATE_MANIFESTS  the mounted folder with the manifests. Without it, they are
#                      cloned with git.
#   GPUGATE_REPO       the repository to clone
#   GPUGATE_REVISION   the revision (by default that of the server)
#   GPUGATE_PATH       the folder in the repository (by default its root)
#   GPUGATE_NAMESPACE  namespace of objects that name none (optional)
#   GPUGATE_POLICY     the policy file of the webhook, as a floor (optional)
#   GPUGATE_WEBHOOK_POLICY  instead of that file: the ConfigMap of the policy,
#                      NAMESPACE/NAME, which the account must be allowed to get
#   GPUGATE_RENDER     kustomize or helm, which renders GPUGATE_PATH first, or a
#                      value of `gpugate lint --render` (optional)
#
# The exit status is that of `gpugate lint`: 1 if there is a finding of severity
# error, 2 if the state or a manifest cannot be read, or if a rule lacks its part
# of the state (--require cluster).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case "${GPUGATE_REPO:-}${GPUGATE_REVISION:-}${GPUGATE_PATH:-}" in
*'$ARGOCD_APP_'* | *'${ARGOCD_APP_'*)
	echo 'gpugate-presync: nothing replaced $ARGOCD_APP_*: Argo CD does so in' \
		'helm.parameters and, with commonAnnotationsEnvsubst, in' \
		'kustomize.commonAnnotations' >&2
	exit 2
	;;
esac
if [ -z "${GPUGATE_MANIFESTS:-}" ]; then
	: "${GPUGATE_REPO:?where are the manifests? GPUGATE_MANIFESTS or GPUGATE_REPO}"
	git -c advice.detachedHead=false clone -q --filter=blob:none \
		"$GPUGATE_REPO" "$work/repo"
	git -C "$work/repo" -c advice.detachedHead=false checkout -q \
		"${GPUGATE_REVISION:-HEAD}"
	GPUGATE_MANIFESTS=$work/repo/${GPUGATE_PATH:-.}
fi
case ${GPUGATE_RENDER:-} in
kustomize)
	kubectl kustomize "$GPUGATE_MANIFESTS" >"$work/rendered.yaml"
	;;
helm)
	helm template "${ARGOCD_APP_NAME:-app}" "$GPUGATE_MANIFESTS" \
		>"$work/rendered.yaml"
	;;
esac
# gpugate itself reads the other values of GPUGATE_RENDER.
if [ -e "$work/rendered.yaml" ]; then
	GPUGATE_MANIFESTS=$work/rendered.yaml
	unset GPUGATE_RENDER
fi

# `gpugate snapshot` reads GPUGATE_WEBHOOK_POLICY, and stores that policy in the
# state.
gpugate snapshot -q --output "$work/state.json"
[ -z "${GPUGATE_WEBHOOK_POLICY:-${GPUGATE_DOOR:-}}" ] || GPUGATE_POLICY=${GPUGATE_POLICY:-$work/state.json}
set -- lint --cluster "$work/state.json" --require cluster
[ -z "${GPUGATE_NAMESPACE:-}" ] || set -- "$@" --namespace "$GPUGATE_NAMESPACE"
[ -z "${GPUGATE_POLICY:-}" ] || set -- "$@" --policy "$GPUGATE_POLICY"
gpugate "$@" "$GPUGATE_MANIFESTS"
