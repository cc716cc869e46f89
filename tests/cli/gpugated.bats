# SPDX-License-Identifier: Apache-2.0
# gpugated as its operators use it: options, start, reload, drain, self-test.
bats_require_minimum_version 1.5.0
load gpugated

asking_gives() {
	[ "$(ask 2)" = "$1" ]
}

policy() {
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: %s\n' "$1" >"$2"
}

figure() {
	get /metrics | sed -n "s/^$1 //p"
}

taken() { # FILE: prints whether the content of FILE is in use
	figure "gpugate_last_reload_successful{file=\"$1\"}"
}

ended() {
	! kill -0 "$pid" 2>/dev/null
}

# --- commands and options ------------------------------------------------------

@test "gpugated: a full disk is reported" {
	run --separate-stderr bash -c '"$0" help >/dev/full' "$GPUGATED"
	is "$status" 2
	holds "$stderr" "gpugated: standard output: No space left on device"
}

@test "gpugated: version, help" {
	run "$GPUGATED" version
	is "$status" 0
	holds "$output" "gpugated "
	is "$("$GPUGATED" --version)" "$output"
	for words in help --help -h; do
		run "$GPUGATED" $words
		is "$status" 0
		holds "$output" "--tls-cert FILE"
		holds "$output" "Default: 95"
		holds "$output" "gpugated selftest"
		is "$(echo "$output" | awk 'length > 80')" ""
	done
	run "$GPUGATED" help certs
	is "$status" 0
	holds "$output" "--dns NAME"
	run "$GPUGATED" help selftest
	is "$status" 0
	holds "$output" "--address HOST:PORT"
	run "$GPUGATED" selftest --help
	is "$status" 0
}

@test "gpugated: wrong usage exits with 2 and a hint" {
	refused --tls-crt x
	holds "$errors" 'unknown option `--tls-crt`; did you mean `--tls-cert`?'
	refused --kubeconfigs x
	holds "$errors" 'unknown option `--kubeconfigs`'
	refused --tls-cert x
	holds "$errors" "--tls-cert and --tls-key are needed"
	refused --threads none
	holds "$errors" '`none` is not a number'
	GPUGATED_LOG_LEVEL=loud refused --tls-cert x --tls-key x
	holds "$errors" "GPUGATED_LOG_LEVEL"
	run --separate-stderr "$GPUGATED" selftets
	is "$status" 2
	holds "$stderr" 'did you mean `selftest`?'
	run --separate-stderr "$GPUGATED" help nonsense
	is "$status" 2
}

@test "gpugated: a failed start exits with 2 and a reason" {
	refused --tls-cert none.crt --tls-key "$CERTS/tls.key"
	holds "$errors" none.crt
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/ca.key"
	holds "$errors" '"level":"error"'
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		--client-ca none.crt
	holds "$errors" none.crt
	start
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		--listen "127.0.0.1:$port"
	holds "$errors" "$port"
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		--probe-listen nonsense
	holds "$errors" nonsense
}

@test "gpugated: a broken policy reports every problem and exits with 2" {
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforc\nexempts: []\nrules:\n  shm-missing: {action: pach}\n  no-such-rule: {action: deny}\n' >policy.yaml
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		--policy policy.yaml
	holds "$errors" 'policy.yaml:3:7: unknown mode `enforc`; did you mean `enforce`?'
	holds "$errors" 'policy.yaml:4:1: '
	holds "$errors" 'policy.yaml:6:25: '
	# A rule that only a newer gpugated knows is a warning.
	is "$(echo "$errors" | grep no-such-rule | grep -c '"level":"warn"')" 1
	holds "$errors" "policy.yaml: policy is not used"
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		--policy none.yaml
	holds "$errors" none.yaml
}

# --- serving -----------------------------------------------------------------

@test "gpugated: answers reviews and probes" {
	start
	is "$(ask 2)" "denied u-1"
	is "$(ask 1)" "allowed u-1"
	holds "$(get /healthz)" "200 "
	holds "$(get /livez)" "200 "
	holds "$(get /readyz)" "200 "
	holds "$(get /nothing)" "404 "
	python3 -c '
import json
lines = [json.loads(line) for line in open("log")]
[d] = [l for l in lines if l.get("decision") == "deny"]
assert d["uid"] == "u-1" and d["user"] == "alice", d
assert d["namespace"] == "ml" and d["name"] == "train", d
assert "gpu-request-limit-mismatch" in d["rules"], d
assert d["mode"] == "enforce" and len(d["policy"]) == 16, d
[l] = [l for l in lines if l["msg"] == "policy in use"]
assert l["policy"] == "recommended" and l["hash"] == d["policy"], l'
}

@test "gpugated: metrics count reviews and their results" {
	start
	ask 2
	ask 2
	ask 1
	get /metrics | sed '1s/^200 //' >page
	python3 "$BATS_TEST_DIRNAME/../check/metrics_page.py" page \
		'gpugate_admission_requests_total{webhook="validate",operation="CREATE",kind="Pod",decision="deny",dry_run="false"}' 2 \
		gpugate_in_flight 0 gpugate_policy_reload_failures_total 0
	[ "$(figure gpugate_policy_last_reload_success_timestamp_seconds)" -gt 1700000000 ]
	[ "$(figure gpugate_certificate_expiry_timestamp_seconds)" -gt "$(date +%s)" ]
}

@test "gpugated: expiring exemptions are reported" {
	policy enforce policy.yaml
	cat >>policy.yaml <<-END
	exempt:
	- {namespaces: [a], rules: [all], reason: until then, until: 2099-12-31}
	- {namespaces: [b], rules: [all], reason: for good}
	END
	start --policy policy.yaml
	is "$(get /metrics | grep -c '^gpugate_exemption_expiry')" 1
	is "$(get /metrics | sed -n 's/^gpugate_exemption_expiry.*policy.yaml:5"} //p')" \
		"$(date -u -d 2100-01-01 +%s)"
}

@test "gpugated: environment instead of arguments, text log" {
	export GPUGATED_TLS_CERT=$CERTS/tls.crt GPUGATED_TLS_KEY=$CERTS/tls.key
	export GPUGATED_LISTEN=127.0.0.1:0 GPUGATED_PROBE_LISTEN=127.0.0.1:0
	export GPUGATED_LOG_FORMAT=text GPUGATED_LOG_LEVEL=info
	"$GPUGATED" --threads 1 2>log 3>&- &
	pid=$!
	until_true logged ' info "ready"'
	logged ' info "listening" address=127.0.0.1:0 port=[0-9]* threads=1 '
}

@test "gpugated: an idle process uses 3 MB of private memory, 18 MB with the libraries" {
	start
	if logged "the sandbox is off"; then
		skip "a build with sanitizers is larger"
	fi
	ask 1
	rss=$(figure process_resident_memory_bytes)
	own=$(awk '/^RssAnon/ { print $2 }' "/proc/$pid/status")
	echo "resident: $rss, its own: $own KiB"
	[ "$own" -le $((3 << 10)) ]
	[ "$rss" -le $((18 << 20)) ]
}

# --- reload ------------------------------------------------------------------

@test "gpugated: a changed policy takes effect, a broken one does not" {
	policy enforce policy.yaml
	start --policy policy.yaml
	asking_gives "denied u-1"
	policy audit policy.yaml
	until_true asking_gives "allowed u-1"
	policy enforce new.yaml
	mv new.yaml policy.yaml
	until_true asking_gives "denied u-1"
	policy enforc policy.yaml
	until_true logged 'policy.yaml:3:7: unknown mode'
	until_true logged "the last good one stays"
	is "$(figure gpugate_policy_reload_failures_total)" 1
	is "$(taken policy)" 0
	asking_gives "denied u-1"
	holds "$(get /readyz)" "200 "
	rm policy.yaml
	until_true logged 'policy.yaml: .*No such file'
	asking_gives "denied u-1"
	is "$(taken policy)" 0
	policy warn policy.yaml
	until_true asking_gives "allowed u-1"
	is "$(taken policy)" 1
}

# asserting EXPRESSION: writes a rule that asserts it for every Pod.
asserting() {
	mkdir -p rules
	cat >rules/site.yaml <<-END
		apiVersion: gpugate.dev/v1
		kind: Rules
		rules:
		- name: site-rule
		  severity: error
		  summary: the site refuses it
		  match: {kinds: [core/Pod]}
		  assert: $1
	END
}

asking_one_gives() {
	[ "$(ask 1)" = "$1" ]
}

@test "gpugated: custom rules are reloaded when they change" {
	policy enforce policy.yaml
	echo 'custom: [rules/*.yaml]' >>policy.yaml
	asserting '"request.operation != \u0027CREATE\u0027 || oldObject != null"'
	start --policy policy.yaml
	asking_one_gives "denied u-1"
	asserting '"request.operation == \u0027CREATE\u0027 && oldObject == null"'
	until_true asking_one_gives "allowed u-1"
	asserting '"request.operatoin == 1"'
	until_true logged "rules/site.yaml:8:20: .*did you mean .operation.*"
	until_true logged "the last good one stays"
	is "$(ask 1)" "allowed u-1"
	asserting '"false"'
	until_true asking_one_gives "denied u-1"
	rm rules/site.yaml
	until_true logged "no file matches"
	is "$(ask 1)" "denied u-1"
}

# admitting EXPRESSION [OPERATION]: writes a ValidatingAdmissionPolicy with it
# for every Pod.
admitting() {
	mkdir -p rules
	cat >rules/site.yaml <<-END
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingAdmissionPolicy
		metadata: {name: site}
		spec:
		  matchConstraints:
		    resourceRules:
		    - {apiGroups: [""], apiVersions: [v1], operations: [${2:-CREATE}], resources: [pods]}
		  validations:
		  - {expression: "$1", message: the site refuses it}
		---
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingAdmissionPolicyBinding
		metadata: {name: site}
		spec: {policyName: site, validationActions: [Deny]}
	END
}

@test "gpugated: the cluster's policies check a review with its operation, and are reloaded" {
	policy enforce policy.yaml
	echo 'custom: [rules/*.yaml]' >>policy.yaml
	admitting "request.operation != 'CREATE' || oldObject != null || request.userInfo.username == ''"
	start --policy policy.yaml
	asking_one_gives "denied u-1"
	admitting "false" UPDATE
	until_true asking_one_gives "allowed u-1"
	admitting "request.operatoin == ''"
	until_true logged "rules/site.yaml:9:27: .*did you mean .operation"
	until_true logged "the last good one stays"
	admitting "false"
	until_true asking_one_gives "denied u-1"
}

@test "gpugated: a folder of policy files may contain rules" {
	mkdir policy
	policy enforce policy/policy.yaml
	asserting '"false"'
	mv rules/site.yaml policy/
	start --policy policy
	is "$(ask 1)" "denied u-1"
}

@test "gpugated: a snapshot or a policy that is not a regular file does not block" {
	policy audit policy.yaml
	mkfifo pipe
	for state in pipe /dev/zero; do
		refused --tls-cert "$CERTS/tls.crt" \
			--tls-key "$CERTS/tls.key" --policy policy.yaml \
			--cluster $state
		holds "$errors" "cluster snapshot $state: not a regular file"
	done
	mkdir policies
	cp policy.yaml policies/a.yaml
	mkfifo policies/b.yaml
	for path in pipe /dev/zero policies; do
		refused --tls-cert "$CERTS/tls.crt" \
			--tls-key "$CERTS/tls.key" --policy $path
		holds "$errors" "not a regular file"
	done
}

@test "gpugated: overrides by unknown labels are reported" {
	policy audit policy.yaml
	printf 'overrides: [{namespaceLabels: {tier: prod}, mode: enforce}]\n' \
		>>policy.yaml
	start --policy policy.yaml
	logged '"level":"warn".*namespaceLabels never match'
	# Ends the first server, which would still write to the log that is read
	# below.
	kill -KILL "$pid"
	wait "$pid" || true
	"$GPUGATE" version >/dev/null
	printf '{"apiVersion":"gpugate.dev/v1","kind":"ClusterSnapshot","version":1,"takenAt":"2026-01-31T08:00:00Z","unreadable":[],"items":[],"usage":[]}' >state.json
	start --policy policy.yaml --cluster state.json
	! logged 'never match'
}

@test "gpugated: the swapped folder of a mounted ConfigMap is noticed" {
	mkdir -p mount/..1 mount/..2
	policy enforce mount/..1/policy.yaml
	policy audit mount/..2/policy.yaml
	ln -s ..1 mount/..data
	ln -s ..data/policy.yaml mount/policy.yaml
	start --policy mount/policy.yaml
	asking_gives "denied u-1"
	ln -s ..2 mount/..new
	mv -T mount/..new mount/..data
	until_true asking_gives "allowed u-1"
}

@test "gpugated: SIGHUP reloads the policy and the certificate" {
	policy enforce policy.yaml
	start --policy policy.yaml
	policy enforc policy.yaml
	kill -HUP "$pid"
	until_true logged '"msg":"reloading"'
	until_true logged 'unknown mode'
	kill -0 "$pid"
	asking_gives "denied u-1"
}

@test "gpugated: a new certificate is served, a broken one is not" {
	cp -r "$CERTS" mine
	CERTS=$PWD/mine
	start
	old=$(python3 "$https" serial mine/ca.crt "$port")
	"$GPUGATED" certs --dir next --dns localhost >/dev/null
	cat next/ca.crt >>mine/ca.crt
	cp next/tls.crt next/tls.key mine/
	served_anew() {
		[ "$(python3 "$https" serial mine/ca.crt "$port")" != "$old" ]
	}
	until_true served_anew
	new=$(python3 "$https" serial mine/ca.crt "$port")
	echo broken >mine/tls.crt
	until_true logged "certificate is not used"
	is "$(python3 "$https" serial mine/ca.crt "$port")" "$new"
	is "$(figure gpugate_certificate_reload_failures_total)" 1
	is "$(taken certificate)" 0
	is "$(taken client_ca)" ""
	is "$(figure gpugate_ready)" 1
	holds "$(get /readyz)" "200 "
}

# --- the end -----------------------------------------------------------------

@test "gpugated: a new client CA is required, a broken one is not used" {
	"$GPUGATED" certs --dir other --dns localhost >/dev/null
	cp "$CERTS/ca.crt" clients.crt
	start --client-ca clients.crt
	logged 'client CA in use: clients.crt: 1 certificate'
	is "$(ask 1)" "status 403"
	echo broken >clients.crt
	until_true logged 'client CA is not used.*the last good one stays'
	is "$(figure gpugate_client_ca_reload_failures_total)" 1
	is "$(grep -c 'client CA in use' log)" 1
	is "$(taken client_ca)" 0
	is "$(taken certificate)" 1
	is "$(ask 1)" "status 403"
	cat "$CERTS/ca.crt" other/ca.crt >both.crt
	mv both.crt clients.crt
	until_true logged 'client CA in use: clients.crt: 2 certificates'
	is "$(taken client_ca)" 1
	is "$(figure gpugate_client_ca_reload_failures_total)" 1
	[ "$(figure gpugate_client_ca_expiry_timestamp_seconds)" -gt "$(date +%s)" ]
	is "$(get /readyz)" "200 ok"
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		--client-ca /dev/null
	holds "$errors" "client CA is not used: /dev/null"
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		--client-ca absent.crt
	holds "$errors" "absent.crt"
}

# An API server that is not reachable is awaited.
@test "gpugated: the log says ready when /readyz succeeds" {
	cat >kubeconfig <<-EOF
		apiVersion: v1
		kind: Config
		current-context: c
		contexts: [{name: c, context: {cluster: c, user: u}}]
		clusters: [{name: c, cluster: {server: "https://127.0.0.1:9", certificate-authority: $CERTS/ca.crt}}]
		users: [{name: u, user: {token: t}}]
	EOF
	"$GPUGATED" --listen 127.0.0.1:0 --probe-listen 127.0.0.1:0 \
		--tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		--kubeconfig kubeconfig 2>log 3>&- &
	pid=$!
	until_true logged '"msg":"not ready: cluster state'
	probe=$(port_of 'probes listening')
	run get /readyz
	holds "$output" "503 cluster state"
	run ! logged '"msg":"ready"'
	kill -KILL "$pid"
	start
	is "$(get /readyz)" "200 ok"
	is "$(grep -c 'ready"' log)" 1
}

@test "gpugated: SIGTERM: not ready at once, serves on, exits with 0" {
	start --drain 600
	# the open connection is asked to close; a new one is served
	run python3 "$https" kept "$CERTS/ca.crt" "$port" "$pid" SIGTERM
	is "$output" "denied u kept
denied u close
denied u close"
	run get /readyz
	holds "$output" "503 draining"
	holds "$(get /healthz)" "200 "
	advance 600000
	wait "$pid"
	logged '"msg":"draining"'
	logged '"msg":"stopped"'
}

@test "gpugated: clients that stay are disconnected at the time limit" {
	start --drain 60
	python3 "$https" idle "$CERTS/ca.crt" "$port" >idle 3>&- &
	client=$!
	until_true grep -q open idle
	kill -TERM "$pid"
	until_true logged '"msg":"draining"'
	advance 50000
	sleep 0.2
	kill -0 "$pid"
	advance 10100
	wait "$pid"
	kill "$client"
	logged '"msg":"stopped","connections":1'
}

@test "gpugated: a second SIGTERM exits at once; so does SIGINT" {
	start
	kill -TERM "$pid"
	until_true logged '"msg":"draining"'
	kill -TERM "$pid"
	until_true ended
	wait "$pid"
	start
	kill -INT "$pid"
	until_true ended
	wait "$pid"
}

@test "gpugated: a policy that is slow to read delays no signal" {
	gcc -D_GNU_SOURCE -shared -fPIC -o slow.so \
		"$BATS_TEST_DIRNAME/../webhook/slow_open.c" -ldl
	policy audit policy.yaml
	export SLOW_WHILE=$PWD/slow
	LD_PRELOAD=$PWD/slow.so start --policy policy.yaml --sandbox off
	touch slow
	kill -HUP "$pid"
	until_true logged '"msg":"reloading"'
	kill -TERM "$pid"
	until_true logged '"msg":"draining"'
	run get /readyz
	holds "$output" "503 draining"
	kill -TERM "$pid"
	until_true ended
	wait "$pid"
	logged 'second signal: stopping'
}

# --- self-test ---------------------------------------------------------------

@test "gpugated: selftest of itself" {
	run --separate-stderr "$GPUGATED" selftest
	is "$status" 0
	is "$(echo "$output" | grep -c ^ok:)" 3
	is "$stderr" ""
}

@test "gpugated: a misspelled rule shows in a metric and in the selftest" {
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n  shm-mising: off\n' >policy.yaml
	start --policy policy.yaml
	holds "$(get /metrics)" "gpugate_policy_warnings 1"
	run --separate-stderr "$GPUGATED" selftest --policy policy.yaml
	is "$status" 1
	holds "$stderr" 'failed: policy: policy.yaml:4:3: unknown rule `shm-mising`; did you mean `shm-missing`?'
	sed -i 's/mising/missing/' policy.yaml
	until_true eval 'get /metrics | grep -q "^gpugate_policy_warnings 0"'
	run "$GPUGATED" selftest --policy policy.yaml
	is "$status" 0
	holds "$output" "ok: policy: policy.yaml"
}

@test "gpugated: selftest of a running server" {
	policy audit policy.yaml
	start --policy policy.yaml
	run --separate-stderr "$GPUGATED" selftest --address "127.0.0.1:$port"
	is "$status" 0
	GPUGATED_ADDRESS=localhost:$port run "$GPUGATED" selftest
	is "$status" 0
	holds "$output" "localhost:$port answers"
	run --separate-stderr "$GPUGATED" selftest --address "127.0.0.1:$probe"
	is "$status" 1
	holds "$stderr" "TLS handshake"
	kill -KILL "$pid"
	wait "$pid" || true
	run --separate-stderr "$GPUGATED" selftest --address "127.0.0.1:$port"
	is "$status" 1
	holds "$stderr" "cannot connect"
	run "$GPUGATED" selftest --address nonsense
	is "$status" 1
}

# --- sandbox -----------------------------------------------------------------

status_of() {
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$pid/status"
}

@test "gpugated: the sandbox is on and allows everything that serving needs" {
	policy enforce policy.yaml
	start --policy policy.yaml
	if logged "the sandbox is off"; then
		skip "this build or kernel has no system call filters"
	fi
	for task in /proc/"$pid"/task/*; do
		is "$(sed -n 's/^Seccomp:\t//p' "$task/status")" 2
		is "$(sed -n 's/^NoNewPrivs:\t//p' "$task/status")" 1
	done
	is "$(status_of CapEff)" 0000000000000000
	is "$(sed -n 's/^Max core file size *\([0-9]*\) .*/\1/p' "/proc/$pid/limits")" 0
	asking_gives "denied u-1"
	policy audit policy.yaml
	until_true asking_gives "allowed u-1"
	kill -HUP "$pid"
	get /metrics >/dev/null
	"$GPUGATED" selftest --address "127.0.0.1:$port"
	kill -INT "$pid"
	wait "$pid"
	run ! grep "sandbox rejected" log
}

@test "gpugated: --sandbox off" {
	start --sandbox off
	logged "the sandbox is off"
	is "$(status_of Seccomp)" 0
}

@test "gpugated: completion and the manual page" {
	eval "$("$GPUGATED" completion bash)"
	while read -r line wanted; do
		read -ra COMP_WORDS <<<"gpugated ${line//|/ }"
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_gpugated
		is "${COMPREPLY[*]}" "$wanted"
	done <<-'END'
		cer certs
		--tls-c --tls-cert
		--tls-cert|x
		--log-level|w warn
		--listen|:1|--log-level|w warn
		certs|--da --days
	END
	for shell in bash zsh fish; do
		run "$GPUGATED" completion "$shell"
		is "$status" 0
		holds "$output" gpugated
	done
	run "$GPUGATED" completion tcsh
	is "$status" 2
	run "$GPUGATED" manpage
	is "$status" 0
	for option in $("$GPUGATED" --help | grep -o '^ *--[a-z-]*' | tr -d ' '); do
		holds "$output" "\\fB${option//-/\\-}"
	done
	if command -v groff >/dev/null; then
		"$GPUGATED" manpage | groff -man -ww -Tutf8 2>&1 >/dev/null |
			diff /dev/null - >&2
	fi
}
