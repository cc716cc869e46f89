#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the deployment of the webhook: the chart with real Helm 3 and 4, the
# bases with real kustomize, and the results on a real API server, which
# compiles and runs the conditions. Steps with missing programs are skipped with
# a message.
# usage: deploy.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=/dev/null
. "$tests/check/go-tools.bash"
# shellcheck source=/dev/null
. "$tests/control-plane/control-plane.sh"
cache=$(go_tools_cache)
chart=$root/deploy/chart/gpugate
trap 'control_plane_stop; rm -rf "$work"' EXIT

objects() {
	python3 "$tests/deploy/objects.py" "$@"
}

# --- values -------------------------------------------------------------------

# Prints a line `NAME<tab>OPTIONS` for each installation that must be valid.
# OPTIONS are those of helm.
value_sets() {
	cat <<-'END'
	default
	secret	--set tls.mode=secret,tls.secretName=own-tls,tls.caBundle=Y2EK
	self-managed	--set tls.mode=selfManaged,cluster.live=false
	stateless	--set cluster.live=false
	live-self	--set cluster.live=true,cluster.reservations=true,tls.mode=selfManaged
	issuer	--set tls.certManager.issuerRef.name=corp,tls.certManager.issuerRef.kind=ClusterIssuer
	enforce	--set policy.mode=enforce,webhooks.failurePolicy.validate=Fail,webhooks.failurePolicy.mutate=Fail
	everything	--set tls.mode=selfManaged,cluster.live=true,webhooks.allPods.enabled=true,serviceMonitor.enabled=true,prometheusRule.enabled=true,dashboard.enabled=true,networkPolicy.enabled=true
	every-pod	--set webhooks.onlyGpu=false,replicas=1
	snapshot	--set cluster.snapshotConfigMap=state,tls.client.caConfigMap=ca,tls.client.name=kube-apiserver,server.threads=4,server.maxInFlight=200
	policy	--set-json policy.config={"contact":"#gpu","rules":{"shm-missing":{"params":{"size":"16Gi"}}}} --set-json policy.exemptions={"team-a":{"namespaces":["team-a"],"exempt":[]}}
	extras	--set-json extraObjects=[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"more"}}] --set-json webhooks.namespaceSelector=[{"key":"gpugate.dev/judged","operator":"Exists"}] --set-json webhooks.extraMatchConditions=[{"name":"mine","expression":"true"}] --set-json webhooks.extraRules=[{"apiGroups":["platform.example.com"],"apiVersions":["*"],"operations":["CREATE","UPDATE"],"resources":["trainingruns"]}]
	own	--set policy.existingConfigMap=mine,image.digest=sha256:0123456789012345678901234567890123456789012345678901234567890123,imagePullSecrets[0].name=pull,hostNetwork=true,server.port=9443,server.probePort=9080,dnsPolicy=ClusterFirstWithHostNet,serviceAccount.create=false,podDisruptionBudget.enabled=false,priorityClassName=
	END
}

# Values that the schema must reject, each for its own reason.
bad_values() {
	cat <<-'END'
	--set replicas=0
	--set replicas=two
	--set replica=3
	--set webhooks.scale=true
	--set policy.mode=deny
	--set-json policy.config={"mode":"enforce"}
	--set-json policy.config={"kind":"Exemptions"}
	--set-json policy.exemptions={"Team_A":{}}
	--set tls.mode=self
	--set tls.mode=secret
	--set tls.mode=secret,tls.secretName=x
	--set tls.mode=secret,tls.caBundle=Y2EK
	--set tls.mode=secret,tls.secretName=x,tls.caBundle=-----BEGIN
	--set tls.certManager.duration=90d
	--set tls.client.caConfigMap=ca
	--set tls.client.name=kube-apiserver
	--set tls.certManager.issuer=corp
	--set tls.certManager.issuerRef.kind=ClusterIssuer
	--set webhooks.failurePolicy.validate=fail
	--set webhooks.failurePolicy=Ignore
	--set webhooks.timeoutSeconds.mutate=0
	--set webhooks.timeoutSeconds.validate=10
	--set webhooks.excludedNamespaces={kube-system}
	--set webhooks.excludedNamespaces={kube-node-lease}
	--set webhooks.excludedNamespaces={}
	--set-json webhooks.namespaceSelector=[{"key":"a","operator":"Equals"}]
	--set-json webhooks.extraMatchConditions=[{"name":"a"}]
	--set webhooks.allPods=true
	--set webhooks.onlyGpu=yes
	--set cluster.reservations=true,cluster.snapshotConfigMap=state
	--set cluster.live=false,cluster.reservations=true
	--set prometheusRule.clusterSnapshotDays=0
	--set server.drainSeconds=1
	--set server.timeout=9
	--set server.port=443
	--set server.probePort=70000
	--set logLevel=trace
	--set image.pullPolicy=Sometimes
	--set image.digest=sha256:abc
	--set image.repository=
	--set image.tag=a:b
	--set podDisruptionBudget.maxUnavailable=0
	--set podDisruptionBudget.maxUnavailable=100%
	--set resources.limits=null
	--set resources.limits.memory=null
	--set prometheusRule.denyRatioFactor=1
	--set prometheusRule.slowSeconds=0
	--set networkPolicy.apiServerPorts={}
	--set networkPolicy.apiServerPorts={70000}
	--set extraArgs=--verbose
	--set commonLabels.a=1
	--set fullnameOverride=Upper
	--set dnsPolicy=None
	END
}

# --- Helm and kustomize ---------------------------------------------------------

# A Helm from the module cache assumes Kubernetes 1.20.
helm_render() { # HELM OUT OPTIONS...
	local helm=$1 out=$2
	shift 2
	"$helm" template gpugate "$chart" --namespace gpugate-system \
		--kube-version 1.31 "$@" >"$out"
}

one_value_set() { # MAJOR HELM NAME OPTIONS...
	local major=$1 helm=$2 name=$3 out=$work/$1-$3.yaml
	shift 3
	check "helm $major, $name: renders" helm_render "$helm" "$out" "$@"
	check "helm $major, $name: what every install guarantees" objects every "$out"
	if [ "$major" = 4 ] && [ -f "$work/3-$name.yaml" ]; then
		check "$name: both Helms say the same" \
			objects same "$work/3-$name.yaml" "$out"
		return
	fi
	check "$name: gpugate lint is clean" \
		"$gpugate" lint --isolated --fail-on info "$out"
}

helm_tests() { # MAJOR HELM
	local name options bad
	check "helm $1 lint" "$2" lint --strict --kube-version 1.31 "$chart"
	while IFS=$'\t' read -r name options; do
		read -ra options <<<"$options"
		one_value_set "$1" "$2" "$name" "${options[@]}"
	done < <(value_sets)
	while read -r bad; do
		read -ra options <<<"$bad"
		check "helm $1: the schema refuses $bad" \
			refused_by_schema "$2" "${options[@]}"
	done < <(bad_values)
}

# Succeeds if the schema rejects the values. Other errors of helm do not count.
refused_by_schema() { # HELM OPTIONS...
	local helm=$1
	shift
	if helm_render "$helm" /dev/null "$@" 2>"$work/refused"; then
		echo 'it renders'
		return 1
	fi
	cat "$work/refused"
	grep -q "values don't meet the specifications of the schema" "$work/refused"
}

kustomize_tests() { # KUSTOMIZE
	local overlay component tree=$work/deploy
	for overlay in "$root"/deploy/overlays/*; do
		built "$1" "$overlay" "overlay-${overlay##*/}"
	done
	# The component secret needs certificates next to it, so use a copy of the
	# components.
	cp -r "$root/deploy/base" "$root/deploy/components" "$work/" &&
		mkdir -p "$tree"
	for component in tls.crt tls.key ca.crt; do
		echo "$component" >"$work/components/secret/$component"
	done
	for component in "$work"/components/*; do
		component=${component##*/}
		components "$tree" "$component"
		built "$1" "$tree" "component-$component"
	done
	# Builds both components together, in either order.
	components "$tree" self-managed cluster-state
	built "$1" "$tree" component-self-live
	components "$tree" cluster-state self-managed
	built "$1" "$tree" component-live-self
}

components() { # FOLDER COMPONENT...
	local tree=$1
	shift
	{
		echo 'resources: [../base]'
		echo 'components:'
		printf -- '- ../components/%s\n' "$@"
	} >"$tree/kustomization.yaml"
}

built() { # KUSTOMIZE FOLDER NAME
	check "$3: builds" sh -c "'$1' build '$2' >'$work/$3.yaml'"
	check "$3: keeps the guarantees of every install" objects every "$work/$3.yaml"
	check "$3: gpugate lint is clean" \
		"$gpugate" lint --isolated --fail-on info "$work/$3.yaml"
}

# Checks that kustomize makes the same objects as the chart.
same_as_chart() { # HELM
	local pair
	check 'the bases are what deploy/chart/kustomize.sh writes' \
		up_to_date "$1"
	# The patches of these components are written by hand.
	for pair in cert-manager:tls.mode=certManager \
		self-managed:tls.mode=selfManaged \
		self-live:tls.mode=selfManaged,cluster.live=true \
		live-self:tls.mode=selfManaged,cluster.live=true; do
		helm_render "$1" "$work/chart.yaml" --set cluster.live=false,"${pair#*:}"
		check "component ${pair%%:*} is the chart's" objects same \
			"$work/component-${pair%%:*}.yaml" "$work/chart.yaml"
	done
	helm_render "$1" "$work/chart.yaml" --set tls.mode=selfManaged
	check "overlay audit is the chart's" objects same \
		"$work/overlay-audit.yaml" "$work/chart.yaml"
}

up_to_date() { # HELM
	local file rc=0
	"$root/deploy/chart/kustomize.sh" "$1" "$work/rendered" || return
	while read -r file; do
		diff -u "$root/deploy/$file" "$work/rendered/$file" || rc=1
	done < <(cd "$work/rendered" && find . -type f)
	return $rc
}

# --- rendered objects -------------------------------------------------------------

content_tests() {
	local default=$work/3-default.yaml
	check 'the default install keeps its guarantees' objects defaults "$default"
	check 'overlay cert-manager is the default' \
		objects defaults "$work/overlay-cert-manager.yaml"
	check 'every workload kind of the linter is listed' \
		objects kinds "$default" "$root/rules/kube/data/kinds.txt"
	check 'an install that watches may read only its kinds' objects reader "$work/3-default.yaml"
	check 'an install that does not watch has no rights' objects stateless "$work/3-stateless.yaml"
	check 'alerts and dashboard name metrics of the program' objects metrics \
		"$root/deploy/monitoring/alerts.yaml" \
		"$root/deploy/monitoring/dashboard.json" "$root"/webhook/observe/metrics*.c \
		"$root/webhook/observe/process.c" \
		"$root/webhook/server/probe.c"
	objects policy "$work/overlay-enforce.yaml" "$work/policy.yaml"
	check 'gpugate reads the policy of overlay enforce' \
		"$gpugate" lint --policy "$work/policy.yaml" "$root/deploy/examples/good"
	if [ -x "$gpugated" ]; then
		"$gpugated" --help >"$work/help" 2>&1
		for file in default everything snapshot live-self; do
			check "$file: gpugated knows all flags" \
				objects flags "$work/3-$file.yaml" "$work/help"
		done
	else
		skip 'flags against gpugated --help: there is no gpugated'
	fi
	if command -v promtool >/dev/null; then
		check 'promtool reads the alerts' \
			promtool check rules "$root/deploy/monitoring/alerts.yaml"
		check 'alerts fire when they should' \
			promtool test rules "$tests/deploy/alerts-test.yaml"
	else
		skip 'alerts under promtool: it is not here (Debian: prometheus)'
	fi
}

# --- before a real API server -------------------------------------------------------

accepted() { # FILE
	kube apply --dry-run=server --namespace gpugate-system -f "$1"
}

dry_runs() {
	local file kinds
	for file in "$work"/3-*.yaml "$work"/overlay-*.yaml "$work"/component-*.yaml; do
		kinds=$(objects split "$file" "$work/taken.yaml" "$work/left.yaml")
		case $file in
		*component-secret.yaml) # its files hold no certificates in this test
			sed -i 's/^    caBundle: .*/    caBundle: Y2EK/' "$work/taken.yaml"
			grep -v 'tls.crt\|tls.key' "$work/taken.yaml" |
				sed 's/kubernetes.io\/tls/Opaque/' >"$work/taken2.yaml"
			mv "$work/taken2.yaml" "$work/taken.yaml"
			;;
		esac
		check "${file##*/}: accepted by the API server" accepted "$work/taken.yaml"
		[ -z "$kinds" ] || echo "$kinds" >>"$work/left-kinds"
	done
	skip "dry run of $(tr ' ' '\n' <"$work/left-kinds" | sort -u | tr '\n' ' ')(their CRDs are not available offline)"
	for file in default everything own; do
		[ $file = own ] && continue # hostNetwork breaks the restricted standard
		objects pods "$work/3-$file.yaml" "$work/pods.yaml"
		check "$file: pods meet the restricted standard" sh -c \
			"$(declare -f kube_as kube); CONTROL_PLANE_BIN='$CONTROL_PLANE_BIN' CONTROL_PLANE_DIR='$CONTROL_PLANE_DIR'
			kube_as admin create --dry-run=server -n gpugate-system -f '$work/pods.yaml' 2>&1 | tee '$work/psa'
			! grep -qi 'forbidden\|warning\|error' '$work/psa'"
	done
}

can_i() { # yes|no USER-ACCOUNT VERB RESOURCE...
	local wanted=$1 account=$2 said
	shift 2
	said=$(kube auth can-i --as="system:serviceaccount:$account" \
		--as-group=system:serviceaccounts "$@" 2>&1 | tail -n 1)
	echo "$said"
	[ "$said" = "$wanted" ]
}

# Permissions of the service account, from the API server's authorizer.
permissions() {
	local sa=gpugate-system:gpugate own=gpugate-system
	objects split "$work/3-default.yaml" "$work/taken.yaml" "$work/left.yaml" >/dev/null
	kube apply -f "$work/taken.yaml" -n $own >/dev/null
	check 'live: lists quotas' can_i yes $sa list resourcequotas -A
	check 'live: watches pods' can_i yes $sa watch pods -A
	check 'live: reads no Secrets' can_i no $sa get secrets -A
	check 'live: reads no ConfigMaps' can_i no $sa list configmaps -A
	check 'live: creates nothing' can_i no $sa create pods -A
	check 'live: deletes nothing' can_i no $sa delete resourcequotas -A
	kube delete -f "$work/taken.yaml" -n $own >/dev/null 2>&1
	kube apply -f "$work/3-self-managed.yaml" -n $own >/dev/null
	check 'self-managed: its own Secret' can_i yes $sa update secret/gpugate-tls -n $own
	check 'self-managed: makes it anew' can_i yes $sa create secret/gpugate-tls -n $own
	check 'self-managed: makes no other' can_i no $sa create secret/other -n $own
	check 'self-managed: makes none of any name' can_i no $sa create secrets -n $own
	check 'self-managed: no other Secret' can_i no $sa get secret/other -n $own
	check 'self-managed: no list of Secrets' can_i no $sa list secrets -n $own
	check 'self-managed: not in other namespaces' can_i no $sa get secret/gpugate-tls -n default
	check 'self-managed: its own configuration' \
		can_i yes $sa patch validatingwebhookconfigurations/gpugate
	check 'self-managed: no other configuration' \
		can_i no $sa patch validatingwebhookconfigurations/other
	check 'self-managed: does not list pods' can_i no $sa list pods -A
	kube delete -f "$work/3-self-managed.yaml" -n $own >/dev/null 2>&1
}

in_cluster() { # HELM COMMAND...
	local helm=$1
	shift
	KUBECONFIG=$CONTROL_PLANE_DIR/admin.kubeconfig "$helm" "$@" \
		--namespace gpugate-system
}

bundle() {
	kube get validatingwebhookconfiguration gpugate \
		-o 'jsonpath={.webhooks[*].clientConfig.caBundle}'
}

# Fields that gpugated writes into the cluster survive an upgrade, and an
# uninstall leaves no configuration behind.
life() { # MAJOR HELM
	local index patch='' kept
	check "helm $1 installs" in_cluster "$2" install gpugate "$chart" \
		--set tls.mode=selfManaged
	for index in 0 1 2; do
		patch="$patch{\"op\":\"add\",\"path\":\"/webhooks/$index/clientConfig/caBundle\",\"value\":\"$(base64 -w0 "$CONTROL_PLANE_DIR/ca.crt")\"},"
	done
	kube patch validatingwebhookconfiguration gpugate --type=json \
		-p "[${patch%,}]" --field-manager=gpugated >/dev/null
	kube patch secret gpugate-tls -n gpugate-system --field-manager=gpugated \
		-p '{"stringData":{"tls.key":"x"}}' >/dev/null
	kept=$(bundle)
	check "helm $1 upgrades" in_cluster "$2" upgrade gpugate "$chart" \
		--set tls.mode=selfManaged,policy.mode=warn,webhooks.timeoutSeconds.validate=3
	check "helm $1: caBundle outlives an upgrade" \
		test -n "$kept" -a "$(bundle)" = "$kept"
	check "helm $1: the Secret's content outlives an upgrade" test -n \
		"$(kube get secret gpugate-tls -n gpugate-system -o 'jsonpath={.data.tls\.key}')"
	check "helm $1 uninstalls" in_cluster "$2" uninstall gpugate
	check "helm $1: no configuration is left" test -z \
		"$(kube get validatingwebhookconfigurations,mutatingwebhookconfigurations -o name)"
}

api_server_tests() {
	local rc=0
	mkdir "$work/cp"
	control_plane_start "$work/cp" --controller-manager || rc=$?
	if [ $rc -ne 0 ]; then
		skip 'everything before a real API server: there is none'
		[ $rc -eq 77 ] || fail=$((fail + 1))
		return
	fi
	kube create -f "$root/deploy/base/namespace.yaml" >/dev/null
	dry_runs
	permissions
	for major in 3 4; do
		[ -n "${helm[$major]:-}" ] && life $major "${helm[$major]}"
	done
	conditions
}

conditions() {
	local corpus=()
	control_plane_sign "$CONTROL_PLANE_DIR/webhook" /CN=webhook \
		'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth' || return
	if [ ! -d "$shared/corpus" ]; then
		skip 'conditions over the corpus: it is not here'
	else
		corpus=("$shared/corpus")
	fi
	python3 "$tests/deploy/conditions.py" "$CONTROL_PLANE_DIR" "$gpugate" \
		"$work/3-default.yaml" "$tests/rules" "${corpus[@]}" |
		tee "$work/conditions" | cut -c1-2000
	read -r conditions_passed conditions_failed < <(sed -n \
		's/^conditions: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
		"$work/conditions")
	pass=$((pass + ${conditions_passed:-0}))
	fail=$((fail + ${conditions_failed:-1}))
}

# ------------------------------------------------------------------------------------

python3 -c 'import yaml' 2>/dev/null || {
	echo 'skip: everything: python3 has no yaml (Debian: python3-yaml)'
	echo '0 passed, 0 failed'
	exit 0
}
helm=()
go_tool helm3 v3.19.0 helm.sh/helm/v3/cmd/helm && helm[3]=$cache/helm3-v3.19.0
go_tool helm4 v4.0.0 helm.sh/helm/v4/cmd/helm && helm[4]=$cache/helm4-v4.0.0
if [ -z "${helm[3]:-}" ]; then
	echo 'skip: everything: the chart cannot be rendered'
	echo '0 passed, 0 failed'
	exit 0
fi
for major in "${!helm[@]}"; do
	helm_tests "$major" "${helm[$major]}"
done
if go_tool kustomize v5.8.1 sigs.k8s.io/kustomize/kustomize/v5; then
	kustomize_tests "$cache/kustomize-v5.8.1"
	same_as_chart "${helm[3]}"
	content_tests
else
	skipped=$((skipped + 1))
fi
api_server_tests
[ $skipped -eq 0 ] || echo "$skipped skipped"
echo "$pass passed, $fail failed"
[ $fail -eq 0 ]
