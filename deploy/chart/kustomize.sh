#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The chart is the only source of the objects. The files for kustomize and for a
# plain Prometheus are rendered from it. tests/check/deploy.sh fails if they
# differ from the output of this script.
# usage: kustomize.sh HELM [FOLDER]      FOLDER: default deploy/
set -euo pipefail
helm=$1
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here/..}

# render FILE TEMPLATE [OPTION...]: renders without Helm's labels
render() {
	local file=$1 template=$2
	shift 2
	mkdir -p "$(dirname "$out/$file")"
	{
		echo '# SPDX-License-Identifier: Apache-2.0'
		echo '# Rendered from the chart by deploy/chart/kustomize.sh: edit there.'
		"$helm" template gpugate "$here/gpugate" --namespace gpugate-system \
			--kube-version 1.31 --set cluster.live=false \
			--show-only "templates/$template.yaml" "$@" |
			sed -e '/^# Source: /d' -e '/^ *helm.sh\/chart: /d' \
				-e '/^ *app.kubernetes.io\/managed-by: Helm$/d'
	} >"$out/$file"
}

render base/deployment.yaml deployment
render base/service.yaml service
render base/service-account.yaml rbac
render base/policy.yaml policy
render base/disruption.yaml pdb
render base/infrastructure.yaml infrastructure
# Removes caBundle, which the TLS components set.
render base/webhooks.yaml webhooks --set tls.mode=selfManaged
render components/cert-manager/certificates.yaml certificates
render components/network-policy/network-policy.yaml networkpolicy \
	--set networkPolicy.enabled=true
render components/monitoring/monitoring.yaml monitoring \
	--set serviceMonitor.enabled=true,prometheusRule.enabled=true,dashboard.enabled=true
render components/self-managed/rbac.yaml rbac \
	--set tls.mode=selfManaged,serviceAccount.create=false,serviceAccount.name=gpugate
render components/cluster-state/rbac.yaml rbac \
	--set cluster.live=true,serviceAccount.create=false,serviceAccount.name=gpugate

mkdir -p "$out/monitoring"
cp "$here/gpugate/files/dashboard.json" "$out/monitoring/dashboard.json"
render monitoring/alerts.yaml monitoring --set prometheusRule.enabled=true
# Only the groups, which Prometheus itself reads (rule_files).
{
	sed -n 1,2p "$out/monitoring/alerts.yaml"
	sed '1,/^spec:$/d; s/^  //' "$out/monitoring/alerts.yaml"
} >"$out/monitoring/alerts.new"
mv "$out/monitoring/alerts.new" "$out/monitoring/alerts.yaml"
