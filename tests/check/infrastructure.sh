#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On a real API server, a tenant who may create namespaces must not get a name
# that the policy exempts as infrastructure. gpugated exempts only these names.
# usage: infrastructure.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=tests/check/go-tools.bash
. "$tests/check/go-tools.bash"
go_tool helm3 v3.19.0 helm.sh/helm/v3/cmd/helm || exit 0
helm=$(go_tools_cache)/helm3-v3.19.0
need_control_plane
control_plane_user tenant tenants
control_plane_user platform platform
kube create clusterrole creator --verb=create,get,delete --resource=namespaces \
	>/dev/null
kube create clusterrole namer --verb=create \
	--resource=infrastructure.gpugate.dev >"$work/log" 2>&1 ||
	kube apply -f - >/dev/null <<'END'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: namer}
rules:
- {apiGroups: [gpugate.dev], resources: [infrastructure], verbs: [create]}
END
for group in tenants platform; do
	kube create clusterrolebinding "$group" --clusterrole=creator \
		--group="$group" >/dev/null
done
kube create clusterrolebinding namers --clusterrole=namer --group=platform \
	>/dev/null

installed() { # OPTIONS...
	"$helm" template gpugate deploy/chart/gpugate --kube-version 1.31 \
		--show-only templates/infrastructure.yaml "$@" >"$work/guard.yaml" &&
		kube apply -f "$work/guard.yaml" >"$work/log"
}

create() { # USER NAMESPACE
	kube_as "$1" create namespace "$2" --dry-run=server
}

denied() { # NAMESPACE
	! create tenant "$1" >"$work/said" 2>&1 && grep -q \
		"infrastructure: creating it needs the verb" "$work/said"
}

check 'the guard is installed' installed --set policy.mode=enforce
check 'it is compiled' control_plane_until 30 denied gpu-operator

# The names that the program exempts are the guarded names.
names=$(sed -n '/infrastructure_default\[\]/,/;/s/[^"]*"\([^"]*\)"[^"]*/\1 /gp' \
	rules/kube/purpose/class.c)
check 'the program has such names' test "$(wc -w <<<"$names")" -ge 4
for name in $names; do
	[ "$name" = kube-system ] || check "$name" denied "$name"
done
check 'another name' create tenant gpu-operator-2
check 'an administrator' create admin gpu-operator
check 'an account with the right' create platform nvidia-device-plugin

check 'names of the policy' installed --set policy.mode=enforce \
	--set-json 'policy.config={"infrastructure":{"namespaces":["drivers"]}}'
check 'drivers' control_plane_until 30 denied drivers
check 'a default that the policy replaced' \
	control_plane_until 30 create tenant gpu-operator

check 'in audit mode' installed
check 'nothing is denied' control_plane_until 30 create tenant nvidia-device-plugin
check 'in warn mode' installed --set policy.mode=warn
warned() {
	create tenant gpu-operator 2>&1 | grep -q '^Warning: .*needs the verb'
}
check 'the tenant is warned' control_plane_until 30 warned
check 'no names, no guard' eval '! installed --set-json \
	"policy.config={\"infrastructure\":{\"namespaces\":[]}}" 2>&1'

# The README's command lists the names that are taken.
command=$(grep -o 'kubectl get namespaces gpu-operator[a-z -]*' deploy/README.md)
kube create namespace gpu-operator >/dev/null
kubectl() { kube "$@"; }
taken() {
	eval "$command" 2>"$work/log" | grep -q '^gpu-operator ' &&
		grep -q 'nvidia-device-plugin" not found' "$work/log"
}
check 'the README shows what exists' taken
finish infrastructure
