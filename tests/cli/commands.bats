# SPDX-License-Identifier: Apache-2.0
# The commands beside lint.
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
    assert r["name"] and r["category"] and r["summary"] and r["remedy"], r
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
		holds "$output" "Remedy"
	done
	run "$GPUGATE" explain priority-integer-set
	holds "$output" "Flagged:"
	holds "$output" "Not flagged:"
	run "$GPUGATE" explain node-selector-unmatched
	holds "$output" "Needs       the state of the cluster: --cluster with a file of"
	run --separate-stderr "$GPUGATE" explain priority-integer-sets
	is "$status" 2
	holds "$stderr" 'did you mean `priority-integer-set`?'
	run --separate-stderr "$GPUGATE" explain
	is "$status" 2
}

@test "config: settings and where they come from" {
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

@test "init writes a policy that is valid, once" {
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
	run "$GPUGATE" completion tcsh
	is "$status" 2
	run "$GPUGATE" completion
	is "$status" 2
}

@test "completion: bash completes commands, options, values" {
	eval "$("$GPUGATE" completion bash)"
	complete_words() {
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		COMPREPLY=()
		_gpugate
		echo "${COMPREPLY[*]}"
	}
	is "$(complete_words gpugate li)" lint
	holds "$(complete_words gpugate lint --fa)" --fail-on
	is "$(complete_words gpugate lint --fail-on w)" warning
	holds "$(complete_words gpugate lint --select priority-int)" \
		priority-integer-set
	holds "$(complete_words gpugate explain priority-int)" \
		priority-integer-set
	touch file.yaml
	is "$(complete_words gpugate lint fil)" file.yaml
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
