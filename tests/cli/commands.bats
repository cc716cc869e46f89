# SPDX-License-Identifier: Apache-2.0
# Commands other than lint.
bats_require_minimum_version 1.5.0
load helper

@test "version, help, --version, --help" {
	run "$GPUGATE" version
	is "$status" 0
	holds "$output" "gpugate "
	run "$GPUGATE" --version
	is "$status" 0
	run "$GPUGATE" help
	is "$status" 0
	holds "$output" "lint"
	run "$GPUGATE" --help
	is "$status" 0
	run "$GPUGATE" help lint
	is "$status" 0
	holds "$output" "--fail-on SEVERITY"
	run "$GPUGATE" lint --help
	is "$status" 0
	holds "$output" "--fail-on SEVERITY"
	run --separate-stderr "$GPUGATE" help nonsense
	is "$status" 2
}

@test "help fits into 80 columns" {
	for command in '' lint explain rules config init completion; do
		run "$GPUGATE" help $command
		is "$(echo "$output" | awk 'length > 79')" ""
		is "$(echo "$output" | grep ' $')" ""
	done
}

@test "rules: text, json, markdown" {
	run "$GPUGATE" rules
	is "$status" 0
	echo "$output" | grep -q '^invalid-syntax  *error '
	is "$output" "$(echo "$output" | LC_ALL=C sort)"
	run "$GPUGATE" rules --format json
	is "$status" 0
	n=$(echo "$output" | python3 -c '
import json, sys
rules = json.load(sys.stdin)["rules"]
for r in rules:
    assert r["name"] and r["category"] and r["summary"], r
    assert r["remedy"] or r["name"].endswith("-rejects") or \
        r["name"] == "pod-invalid", r
print(len(rules))')
	is "$n" "$("$GPUGATE" rules | wc -l)"
	run "$GPUGATE" rules --format markdown
	is "$status" 0
	is "$(echo "$output" | grep -c '^| `')" "$n"
	run "$GPUGATE" rules --format xml
	is "$status" 2
	run "$GPUGATE" rules nonsense
	is "$status" 2
}

@test "explain: every rule; unknown ones with the nearest name" {
	for rule in $("$GPUGATE" rules | cut -d' ' -f1); do
		run "$GPUGATE" explain "$rule"
		is "$status" 0
		holds "$output" "Why"
		case $rule in
		*-rejects | pod-invalid) holds_not "$output" "Help" ;;
		*) holds "$output" "Help" ;;
		esac
		holds "$output" "# flagged"
		holds "$output" "Not flagged:"
	done
	run "$GPUGATE" explain node-selector-unmatched
	holds "$output" 'Needs       a cluster snapshot: --cluster with a file from `gpugate'
	run "$GPUGATE" explain --format json shm-missing
	is "$(python3 -c '
import json, sys
rule = json.load(sys.stdin)
print(rule["name"], rule["severity"], "kind:" in rule["flagged"],
      "want" in rule["flagged"])' <<<"$output")" "shm-missing warning True False"
	run "$GPUGATE" explain --format markdown shm-missing
	is "${lines[0]}" "# shm-missing"
	holds "$output" '**Fix:** safe: applied by `gpugate lint --fix`'
	holds "$output" '**Not reported together with:** `shm-volume-unmounted`'
	holds "$output" '- <https://github.com/pytorch/pytorch/issues/5040>'
	holds "$output" '```yaml'
	holds_not "$output" '# want'
	run "$GPUGATE" explain --format markdown quota-gpu-uncovered
	holds "$output" 'Add requests.\<resource> for that resource'
	run --separate-stderr "$GPUGATE" explain priority-integer-sets
	is "$status" 2
	holds "$stderr" 'did you mean `priority-integer-set`?'
	run --separate-stderr "$GPUGATE" explain
	is "$status" 2
}

@test "config: settings and their sources" {
	run "$GPUGATE" config
	is "$status" 0
	holds "$output" "policy: none"
	mkdir s
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: warn\ncontact: "#gpu"\nrules:\n  priority-integer-set: {severity: info}\n' >s/.gpugate.yaml
	run "$GPUGATE" config s
	is "$status" 0
	holds "$output" "policy: s/.gpugate.yaml"
	holds "$output" "mode: warn"
	holds "$output" "contact: #gpu"
	echo "$output" | grep -q '^priority-integer-set  *info .*s/.gpugate.yaml:6'
	run "$GPUGATE" config --isolated s
	holds "$output" "policy: none"
	run "$GPUGATE" config --ignore priority-integer-set
	echo "$output" | grep -q '^priority-integer-set  *off'
	run "$GPUGATE" config nothing
	is "$status" 2
	run "$GPUGATE" config s s
	is "$status" 2
	printf 'paths: [{glob: "p.yaml", namespace: team-x, cluster: c.json, preset: strict}]\n' \
		>>s/.gpugate.yaml
	: >s/p.yaml
	: >s/q.yaml
	run "$GPUGATE" config s/p.yaml
	holds "$output" "namespace: team-x"
	holds "$output" "cluster: c.json"
	holds "$output" "preset strict"
	run "$GPUGATE" config s/q.yaml
	holds_not "$output" "team-x"
	holds_not "$output" "preset strict"
	sed -i 's/#gpu/\\e[31m/' s/.gpugate.yaml
	run "$GPUGATE" config s
	holds "$output" "contact: ␛[31m"
}

@test "arguments that a command does not take" {
	for command in krm post-render version init rules snapshot \
		'explain shm-missing' 'config .' 'completion bash'; do
		# shellcheck disable=SC2086 # two words
		run "$GPUGATE" $command more </dev/null
		is "$status" 2
		holds "$output" "Try"
	done
}

@test "init writes a valid policy, and keeps an existing one" {
	run "$GPUGATE" init
	is "$status" 0
	[ -s .gpugate.yaml ]
	cp .gpugate.yaml before
	run "$GPUGATE" config
	is "$status" 0
	holds "$output" "policy: .gpugate.yaml"
	run --separate-stderr "$GPUGATE" init
	is "$status" 2
	holds "$stderr" "File exists"
	cmp before .gpugate.yaml
}

@test "completion: scripts that shells accept" {
	run "$GPUGATE" completion bash
	is "$status" 0
	echo "$output" | bash -n
	run "$GPUGATE" completion zsh
	holds "$output" "#compdef gpugate"
	run "$GPUGATE" completion fish
	holds "$output" "complete -c gpugate"
	holds "$output" "complete -c kubectl-gpugate"
	run "$GPUGATE" completion tcsh
	is "$status" 2
	run "$GPUGATE" completion
	is "$status" 2
}

# offers WORD...: prints the completions of the last word in bash, on one line.
offers() {
	COMP_WORDS=(gpugate "$@") COMP_CWORD=$#
	_gpugate
	echo "${COMPREPLY[*]}"
}

@test "completion: commands, options, values, lists" {
	eval "$("$GPUGATE" completion bash)"
	is "$(offers li)" "lint"
	is "$(offers lint --fail-o)" "--fail-on"
	is "$(offers lint --fail-on w)" "warning"
	is "$(offers lint --fail-on=w)" "--fail-on=warning"
	is "$(offers lint --fail-on = w)" "warning"
	is "$(offers lint --fail-on =)" "error warning info never"
	is "$(offers lint --select quota,priority-int)" \
		"quota,priority-integer-set"
	is "$(offers lint --select scheduli)" "scheduling"
	is "$(offers explain priority-int)" "priority-integer-set"
	is "$(offers explain scheduli)" ""
	is "$(offers lint --format sari)" "sarif"
	is "$(offers quota --format ht)" "html"
	is "$(offers lint fil)" ""
	is "$(offers lint --config --f)" ""
	is "$(offers lint -n m --fail-on i)" "info"
	is "$(offers nothing x)" ""
	is "$(offers completion z)" "zsh"
	is "$(offers help sna)" "snapshot"
	holds "$(offers '')" "snapshot"
	holds_not "$(offers '')" "manpage"
}

@test "completion: TAB runs no program and sends no request" {
	for shell in bash zsh fish; do
		run "$GPUGATE" completion "$shell"
		holds_not "$output" __complete
		for rule in $("$GPUGATE" rules | cut -d' ' -f1); do
			holds "$output" " $rule"
		done
	done
}

@test "manual pages name every option and every key" {
	run "$GPUGATE" manpage 1
	is "$status" 0
	for option in $("$GPUGATE" help lint | grep -o -- '--[a-z-]*' | sort -u); do
		[ "$option" = --help ] && continue
		holds "$output" "${option//-/\\-}"
	done
	if command -v groff >/dev/null; then
		echo "$output" | groff -man -ww -Tutf8 2>&1 >/dev/null |
			diff /dev/null - >&2
		"$GPUGATE" manpage 5 | groff -man -ww -Tutf8 2>&1 >/dev/null |
			diff /dev/null - >&2
	fi
	run "$GPUGATE" manpage 5
	for key in $("$GPUGATE" init 2>/dev/null; \
		grep -o '^#* *[a-zA-Z]*:' .gpugate.yaml | tr -d '#: ' | sort -u); do
		grep -qi "$key" <<<"$output" || echo "not described: $key"
	done
	run "$GPUGATE" manpage 7
	is "$status" 2
}

@test "config: overrides, exemptions and exclusions of a path" {
	mkdir -p s/testdata
	cat >s/.gpugate.yaml <<-'END'
		apiVersion: gpugate.dev/v1
		kind: Policy
		overrides:
		- {namespaces: ["research-*"], namespaceLabels: {tier: dev}, mode: warn, preset: all}
		- {kinds: [Job], rules: {shm: {severity: info}, priority-integer-set: off}}
		exempt:
		- {namespaces: [kube-system], kinds: [DaemonSet], rules: [all], reason: operator pods, until: 2099-06-30}
		- {namespaces: [ml], rules: [shm-missing], reason: "sets its own \e[31m"}
		exclude: ["**/testdata/**"]
		infrastructure: {namespaces: [gpu-operator]}
		platform: {gpuTaints: [nvidia.com/gpu], priorityClasses: [], deviceInjection: cdi}
		paths: [{glob: "prod/**", set: prod}]
	END
	: >s/testdata/p.yaml
	run "$GPUGATE" config s
	is "$status" 0
	holds "$output" "override: namespaces=research-* namespaceLabels=tier=dev -> mode=warn preset=all  s/.gpugate.yaml:4"
	holds "$output" "override: kinds=Job -> rules=shm,priority-integer-set  s/.gpugate.yaml:5"
	holds "$output" "exemption: namespaces=kube-system kinds=DaemonSet -> all until 2099-06-30: operator pods  s/.gpugate.yaml:7"
	holds "$output" "exemption: namespaces=ml -> shm-missing: sets its own ␛[31m  s/.gpugate.yaml:8"
	holds "$output" "infrastructure: gpu-operator"
	holds "$output" "platform, GPU taints: nvidia.com/gpu"
	holds "$output" "platform, priority classes: none"
	holds "$output" "platform, device injection: cdi"
	holds_not "$output" "excluded:"
	holds_not "$output" "set:"
	run "$GPUGATE" config s/testdata/p.yaml
	holds "$output" "excluded:"
	mkdir s/prod
	: >s/prod/p.yaml
	run "$GPUGATE" config s/prod/p.yaml
	holds "$output" "set: prod"
}

@test "a .gpugate.yml is reported as not read" {
	mkdir -p y/a
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: warn\n' >y/.gpugate.yml
	printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n' >y/a/p.yaml
	cp y/a/p.yaml y/p.yaml
	run --separate-stderr "$GPUGATE" lint y
	is "$stderr" "gpugate: y/.gpugate.yml is not read: the name is .gpugate.yaml"
	# Each one is reported once.
	for folder in b c d; do
		mkdir -p y/$folder
		cp y/p.yaml y/$folder
	done
	cp y/.gpugate.yml y/b
	cp y/.gpugate.yml y/d
	run --separate-stderr "$GPUGATE" lint y
	[ "$(grep -c 'is not read' <<<"$stderr")" = 3 ]
	run --separate-stderr "$GPUGATE" config y
	holds "$output" "mode: enforce"
	holds "$stderr" "y/.gpugate.yml is not read"
}
