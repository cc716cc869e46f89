#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests --self-managed with a real kube-apiserver: two replicas with the rights that
# deploy/ grants, rotations during admission, and failures.
# usage: self-managed.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
. tests/webhook/account.sh
need_control_plane
account_make deploy/components/self-managed/rbac.yaml || exit 1
# A token of the same account for the test's own requests.
control_plane_user "$account_name" system:serviceaccounts
kube create namespace ml >/dev/null
# The API server offers HTTP/2 only to webhooks on loopback, so use another
# address, as in production.
address=$(hostname -I | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$' || echo 127.0.0.1)
ports=()
while [ ${#ports[@]} -lt 4 ]; do
	ports+=("$(control_plane_free_port)")
done
status=0
python3 tests/webhook/self_managed.py "$build/gpugated" "$work/cluster" \
	"$address" "${ports[@]}" || status=1
# Ignores requests of the test itself, and those while it had revoked rights.
account_refused | grep -v -e secrets/other -e fieldManager=refused \
	-e fieldManager=gpugated-create >"$work/refused"
if [ -s "$work/refused" ]; then
	echo "FAILED with the rights of deploy/ it was refused:"
	sort "$work/refused" | uniq -c
	status=1
fi
exit $status
