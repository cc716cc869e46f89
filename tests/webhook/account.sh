# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Makes the webhook's service account on a real API server. Tests source this
# file after control-plane.sh.
#
#   account_make RBAC.yaml...   makes the namespace and the account, with only
#                               the rights in these files, and writes
#                               DIR/account.kubeconfig, with a token of the
#                               account
#   account_refused             prints `VERB URI` for each of its rejected
#                               requests

account_name=system:serviceaccount:gpugate-system:gpugate

account_make() {
	local dir=$CONTROL_PLANE_DIR file
	kube apply -f deploy/base/namespace.yaml \
		-f deploy/base/service-account.yaml >/dev/null || return
	for file; do
		kube apply -f "$file" >/dev/null || return
	done
	kube create token gpugate -n gpugate-system --duration=2h \
		>"$dir/account.token" || return
	cat >"$dir/account.kubeconfig" <<-END
	apiVersion: v1
	kind: Config
	current-context: test
	contexts:
	- name: test
	  context: {cluster: test, user: test}
	clusters:
	- name: test
	  cluster:
	    server: https://127.0.0.1:$(cat "$dir/port")
	    certificate-authority-data: $(base64 -w0 "$dir/ca.crt")
	users:
	- name: test
	  user: {tokenFile: $dir/account.token}
	END
}

account_refused() {
	python3 - "$CONTROL_PLANE_DIR/audit.log" "$account_name" <<-'END'
	import json
	import sys
	with open(sys.argv[1], encoding="utf-8") as log:
	    for line in log:
	        event = json.loads(line) if line.endswith("\n") else {}
	        if event.get("user", {}).get("username") == sys.argv[2] and \
	                event.get("responseStatus", {}).get("code") in (401, 403):
	            print(event["verb"], event["requestURI"])
	END
}
