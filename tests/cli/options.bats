# SPDX-License-Identifier: Apache-2.0
# Options of lint that select checks, lines and settings, baselines and
# suppressions, and options in environment variables.
bats_require_minimum_version 1.5.0
load helper

@test "--select replaces, --extend-select adds, --ignore removes" {
	pod a.yaml
	lint --select duplicate-key a.yaml
	is "$status" 0
	lint --select duplicate-key --extend-select priority-integer-set a.yaml
	is "$status" 1
	lint --select all --ignore priority-integer-set a.yaml
	holds_not "$output" priority-integer-set
	lint --select priority a.yaml
	is "$status" 1
	lint --select duplicate-key,priority-integer-set a.yaml
	is "$status" 1
}

@test "a suppression of a disabled rule is not reported as unused" {
	good a.yaml
	sed -i '1i # gpugate: ignore[shm-mount-invalid] -- mine' a.yaml
	lint a.yaml
	holds "$output" "[suppression-unused]"
	lint --ignore shm-mount-invalid a.yaml
	holds_not "$output" "[suppression-unused]"
}

@test "--select and --ignore never hide invalid-syntax" {
	printf 'a: [\n' >a.yaml
	lint --select duplicate-key --ignore all a.yaml
	is "$status" 1
	holds "$output" "[invalid-syntax]"
}

@test "every kind of option in the environment; arguments win" {
	pod a.yaml
	GPUGATE_FAIL_ON=never lint a.yaml
	is "$status" 0
	GPUGATE_FAIL_ON=never lint --fail-on error a.yaml
	is "$status" 1
	GPUGATE_SELECT=duplicate-key,invalid-syntax lint a.yaml
	is "$status" 0
	GPUGATE_SELECT=duplicate-key lint --select priority-integer-set a.yaml
	is "$status" 1
	GPUGATE_FORMAT='json:out.json concise' run "$GPUGATE" lint a.yaml
	is "$status" 1
	holds "$output" "a.yaml:7:13"
	[ -s out.json ]
	GPUGATE_ISOLATED=1 lint a.yaml
	is "$status" 1
	GPUGATE_ISOLATED=perhaps lint a.yaml
	is "$status" 2
	GPUGATE_JOBS=2 lint a.yaml
	is "$status" 1
	GPUGATE_JOBS=none lint a.yaml
	is "$status" 2
	GPUGATE_FAIL_ON= lint a.yaml
	is "$status" 1
	# options of another command
	GPUGATE_FORMAT='sarif:x full' run "$GPUGATE" rules
	is "$status" 0
	GPUGATE_FORMAT=json run "$GPUGATE" rules
	holds "$output" '"rules"'
	GPUGATE_FORMAT=sarif run "$GPUGATE" quota a.yaml
	is "$status" 0
	GPUGATE_FAIL_ON=sarif lint a.yaml
	is "$status" 2
	# options that conflict with the arguments
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules: {priority-integer-set: off}\n' >p.yaml
	GPUGATE_ISOLATED=1 lint --config p.yaml a.yaml
	is "$status" 0
	GPUGATE_CONFIG=p.yaml lint --isolated a.yaml
	is "$status" 1
	GPUGATE_CONFIG=p.yaml GPUGATE_ISOLATED=1 lint a.yaml
	is "$status" 2
	GPUGATE_UNSAFE_FIXES=1 GPUGATE_PRUNE_BASELINE=1 lint a.yaml
	is "$status" 1
	is "$stderr" ""
}

@test "--namespace, and paths: of the policy" {
	pod a.yaml
	sed -i '/namespace:/d' a.yaml
	run "$GPUGATE" lint --format json --namespace ml a.yaml
	holds "$output" '"namespace":"ml"'
	mkdir p
	cp a.yaml p/a.yaml
	cat >.gpugate.yaml <<-EOF
	apiVersion: gpugate.dev/v1
	kind: Policy
	paths: [{glob: "p/**", namespace: team-x}]
	EOF
	run "$GPUGATE" lint --format json p/a.yaml
	holds "$output" '"namespace":"team-x"'
	run "$GPUGATE" lint --format json --namespace ml p/a.yaml
	holds "$output" '"namespace":"ml"'
}

@test "the nearest .gpugate.yaml of each file; --isolated, --config" {
	pod a.yaml
	pod s/b.yaml
	pod s/t/c.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules: {priority-integer-set: {severity: info}}\n' >s/.gpugate.yaml
	lint
	is "$status" 1
	holds "$output" "a.yaml:7:13: error"
	holds "$output" "s/b.yaml:7:13: info"
	holds "$output" "s/t/c.yaml:7:13: info"
	lint s/t/c.yaml
	is "$status" 0
	holds "$output" "s/t/c.yaml:7:13: info"
	cd s/t
	lint c.yaml
	holds "$output" "c.yaml:7:13: info"
	lint --isolated c.yaml
	holds "$output" "c.yaml:7:13: error"
	cd ../..
	lint --config s/.gpugate.yaml a.yaml
	holds "$output" "a.yaml:7:13: info"
	lint --config nothing.yaml a.yaml
	is "$status" 2
}

@test "a broken policy: every problem with its position, exit 2" {
	pod a.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrulez: {}\nrules: {nonsense: {severity: loud}}\n' >.gpugate.yaml
	lint a.yaml
	is "$status" 2
	holds "$stderr" ".gpugate.yaml:3:1: error: "
	holds "$stderr" ".gpugate.yaml:4:"
	is "$output" ""
	lint --isolated a.yaml
	is "$status" 1
}

@test "--policy is a floor that neither files nor options can loosen" {
	pod a.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\n' >floor.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules: {priority-integer-set: {severity: info}}\n' >.gpugate.yaml
	lint --policy floor.yaml a.yaml
	is "$status" 1
	holds "$output" "a.yaml:7:13: error"
	lint --policy floor.yaml --ignore priority-integer-set a.yaml
	is "$status" 1
}

@test "--preset accepts only names of presets" {
	good a.yaml
	for preset in recommended strict all; do
		lint --preset $preset a.yaml
		is "$status" 0
	done
	lint --preset lax a.yaml
	is "$status" 2
}

@test "comments suppress findings; --no-ignore shows them" {
	pod a.yaml
	sed -i 's/priority: 5/& # gpugate: ignore[priority-integer-set] -- test/' a.yaml
	lint a.yaml
	is "$status" 0
	lint --no-ignore a.yaml
	is "$status" 1
}

@test "annotations suppress findings of set rules, even with escaped keys" {
	for name in a b c d; do
		cat >$name.yaml <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata:
		  namespace: ns
		  name: p
		  annotations:
		    note: "a\nb"
		spec:
		  containers:
		  - {name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}
		EOF
	done
	sed -i 's,note: .*,"\\x67pugate.dev/ignore": object-duplicate,' b.yaml
	sed -i 's,note: .*,? "gpu\\\n      gate.dev/ignore"\n    : object-duplicate,' \
		c.yaml
	lint --select object-duplicate .
	holds_not "$output" "a.yaml:"
	holds_not "$output" "b.yaml:"
	holds_not "$output" "c.yaml:"
	holds "$output" "d.yaml:5:9"
}

@test "--add-ignore: other bytes are kept, comments are indented and written once" {
	pod a.yaml
	cp a.yaml before.yaml
	lint --add-ignore 'known to the team' a.yaml
	is "$status" 0
	sed -n 7p a.yaml | grep -qx '  # gpugate: ignore\[priority-integer-set\] -- known to the team'
	sed -i 7d a.yaml
	cmp a.yaml before.yaml
	lint --add-ignore again a.yaml
	cp a.yaml once.yaml
	lint --add-ignore again a.yaml
	is "$status" 0
	cmp a.yaml once.yaml
}

@test "--add-ignore keeps CRLF and the byte order mark" {
	pod a.yaml
	printf '\357\273\277' >b.yaml
	sed 's/$/\r/' a.yaml >>b.yaml
	lint --add-ignore x b.yaml
	is "$status" 0
	is "$(grep -c "$(printf '\r')\$" b.yaml)" 11
	is "$(head -c 3 b.yaml | od -An -tx1 | tr -d ' ')" efbbbf
	lint b.yaml
	is "$status" 0
}

@test "--add-ignore rejects JSON and requires a reason" {
	cat >a.json <<-EOF
	{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
	 "spec": {"priority": 5, "containers": []}}
	EOF
	cp a.json before.json
	lint --add-ignore x a.json
	is "$status" 1
	holds "$stderr" "JSON has no comments"
	cmp a.json before.json
	lint --add-ignore ' ' a.json
	is "$status" 2
}

@test "--add-ignore rejects a line inside a scalar" {
	cat >a.yaml <<-EOF
	apiVersion: v1
	kind: Pod
	metadata: {name: a, annotations: {t: "# gpugate"}}
	spec: {schedulerName: "one
	    two", priority: 5, containers: []}
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: b}
	spec: {containers: [],
	    priority: 5}
	EOF
	cp a.yaml before.yaml
	lint --select priority-integer-set --add-ignore x a.yaml
	is "$status" 1
	holds "$stderr" "a comment there would change a value"
	is "$(paths)" "a.yaml"
	holds "$output" "a.yaml:5:"
	is "$(diff before.yaml a.yaml)" "10a11
>     # gpugate: ignore[priority-integer-set] -- x"
}

@test "--add-ignore extends an existing comment" {
	pod a.yaml
	sed -i '7i\  # gpugate: ignore[shm-missing] -- first' a.yaml
	lint --add-ignore second a.yaml
	sed -n 7p a.yaml | grep -qx '  # gpugate: ignore\[shm-missing,priority-integer-set\] -- first'
}

@test "--since: only what changed, and new files" {
	git init -q .
	git config user.email a@example.com
	git config user.name a
	pod a.yaml
	pod b.yaml
	pod s/c.yaml
	git add .
	git commit -q -m one
	lint --since HEAD
	is "$status" 0
	is "$(paths)" ""
	echo '# changed' >>b.yaml
	pod s/new.yaml
	lint --since HEAD
	is "$(paths)" "b.yaml s/new.yaml"
	cd s
	lint --since HEAD
	is "$(paths)" "new.yaml"
	pod ../t/other.yaml
	lint --since HEAD ../t
	is "$(paths)" "../t/other.yaml"
	rm ../t/other.yaml
	cd ..
	lint --since nonsense
	is "$status" 2
	holds "$stderr" "gpugate: --since: git: fatal: "
	lint --since --output=x
	is "$status" 2
	git commit -q -a -m two
	lint --since HEAD~1 .
	is "$(paths)" "b.yaml s/new.yaml"
}

@test "--since without git or repository fails" {
	pod a.yaml
	GIT_CEILING_DIRECTORIES=/ GIT_DIR=/nonexistent lint --since HEAD a.yaml
	is "$status" 2
	run --separate-stderr bash -c \
		'PATH=/nonexistent "$0" lint --since HEAD a.yaml' "$GPUGATE"
	is "$status" 2
	holds "$stderr" "git"
}

@test "--partial is accepted" {
	pod a.yaml
	lint --partial a.yaml
	is "$status" 1
}

@test "-j: the same report for any number of threads" {
	for i in $(seq 100); do
		pod "d$((i % 7))/f$i.yaml" "p$i"
		printf 'a: {b: 1, b: 2}\n' >"d$((i % 7))/g$i.yaml"
	done
	run "$GPUGATE" lint --format json -j 1
	is "$status" 1
	echo "$output" >one.txt
	for n in 2 3 8 64; do
		run "$GPUGATE" lint --format json -j $n
		echo "$output" | diff one.txt - >&2
	done
	run "$GPUGATE" lint --format json -j4
	echo "$output" | diff one.txt - >&2
}

@test "--statistics, -q, -qq, -v" {
	pod a.yaml
	run --separate-stderr "$GPUGATE" lint --statistics a.yaml
	is "$status" 1
	holds "$output" "priority-integer-set"
	run --separate-stderr "$GPUGATE" lint -q a.yaml
	is "$status" 1
	holds_not "$output" "Checked"
	run --separate-stderr "$GPUGATE" lint -qq a.yaml
	is "$status" 1
	is "$output$stderr" ""
	run --separate-stderr "$GPUGATE" lint -qq --diff a.yaml
	is "$status" 1
	is "$output$stderr" ""
	run --separate-stderr "$GPUGATE" lint -vv a.yaml
	is "$status" 1
	holds "$stderr" "a.yaml"
}

@test "baselines: write, use, report stale entries, prune" {
	pod a.yaml
	pod s/b.yaml other
	lint --write-baseline base.json .
	is "$status" 0
	holds "$stderr" "base.json: 2 findings"
	cp base.json before.json
	lint --baseline base.json .
	is "$status" 0
	is "$output$stderr" ""
	# A finding on a moved line stays known.
	sed -i '1i# a new first line' a.yaml
	pod new.yaml third
	lint -j 1 --baseline base.json .
	is "$status" 1
	is "$(paths)" "new.yaml"
	# An entry is stale only if its file was linted.
	good a.yaml
	lint --baseline base.json s
	is "$stderr" ""
	lint --baseline base.json a.yaml s
	is "$status" 0
	holds "$stderr" "1 entry matches no finding any more; --prune-baseline removes it"
	cmp base.json before.json
	lint --baseline base.json --prune-baseline a.yaml s
	is "$status" 0
	holds "$stderr" "removed 1 entry"
	lint --baseline base.json a.yaml s
	is "$output$stderr" ""
	rm s/b.yaml
	lint --baseline base.json --prune-baseline a.yaml
	holds "$stderr" "removed 1 entry"
}

@test "a baseline identifies a syntax error by its file and message" {
	printf 'a: [\n' >a.yaml
	lint --write-baseline base.json a.yaml
	lint --baseline base.json a.yaml
	is "$status" 0
	# In another file the finding is new, and so is another finding in this
	# file.
	printf 'a: [\n' >b.yaml
	lint --baseline base.json a.yaml b.yaml
	is "$status" 1
	is "$(paths)" b.yaml
	printf 'a: "x\n' >a.yaml
	lint --baseline base.json a.yaml
	is "$status" 1
}

@test "findings in a baseline are not fixed" {
	pod a.yaml
	cp a.yaml before.yaml
	lint --select priority-integer-set --write-baseline base.json a.yaml
	lint --select priority-integer-set --baseline base.json --fix a.yaml
	cmp a.yaml before.yaml
	lint --select priority-integer-set --fix a.yaml
	! cmp -s a.yaml before.yaml
}

@test "a baseline of version 1 is read and written as version 2" {
	cat >a.yaml <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  containers:
		  - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}
	END
	# A baseline of 1.0: the path is that of spec, because tolerations are
	# missing.
	printf '{"version":1,"findings":[\n{"fingerprint":"%s","rule":"gpu-toleration-missing","file":"a.yaml"}]}\n' \
		11a67892449c7fb3 >base.json
	lint --select gpu-toleration-missing --fail-on info --baseline base.json a.yaml
	is "$status" 0
	lint --select gpu-toleration-missing --write-baseline new.json a.yaml
	holds "$(cat new.json)" '"version":2'
	! grep -q 11a67892449c7fb3 new.json
}

@test "a baseline that is missing, broken, or cannot be written" {
	pod a.yaml
	lint --baseline nothing.json a.yaml
	is "$status" 2
	holds "$stderr" nothing.json
	echo '{"version": 1, ' >b.json
	lint --baseline b.json a.yaml
	is "$status" 2
	is "$stderr" "gpugate: b.json:2:1: string or '}' expected near end of file"
	lint --write-baseline no/such/b.json a.yaml
	is "$status" 2
	holds "$stderr" "no/such/b.json"
}

@test "names of other linters' rules suggest those of gpugate" {
	pod train.yaml
	for words in 'check=`lint`' 'scan=`lint`' \
		'validate=`lint`' 'fix=`lint --fix`'; do
		run --separate-stderr "$GPUGATE" "${words%%=*}" .
		[ "$status" -eq 2 ]
		[[ $stderr == *"${words#*=}"* ]]
	done
	for words in 'exit-zero=--fail-on never' 'output-format=--format FMT' \
		'max-warnings=--fail-on warning' 'disable=--ignore RULES' \
		'json=--format json' 'strict=--preset strict' \
		'file=the file' 'recursive=the folder' 'skip=--ignore' \
		'no-color=--color never' 'changed=--since REV'; do
		run --separate-stderr "$GPUGATE" lint "--${words%%=*}" .
		[ "$status" -eq 2 ]
		[[ $stderr == *"unknown option \`--${words%%=*}\`: use ${words#*=}"* ]]
	done
	for words in 'o=--format FMT:FILE' 'f=--format FMT; files' \
		'R=the folder' 'e=--ignore RULES'; do
		run --separate-stderr "$GPUGATE" lint "-${words%%=*}" x
		[ "$status" -eq 2 ]
		[[ $stderr == *"unknown option \`-${words%%=*}\`: use ${words#*=}"* ]]
	done
	# No suggestion if the command has no such option.
	run --separate-stderr "$GPUGATE" init --output-format json
	holds_not "$stderr" "--format"
	run --separate-stderr "$GPUGATE" quota --json
	holds "$stderr" "use --format json"
	[ "$("$GPUGATE" -V)" = "$("$GPUGATE" version)" ]
}

@test "a pipe without a reader is reported" {
	pod train.yaml
	mkdir empty
	mkfifo pipe
	exec 8<>pipe
	cat train.yaml >&8
	cd empty
	"$GPUGATE" lint <../train.yaml 2>err
	run ! grep 'standard input' err
	"$GPUGATE" lint <&8 2>err
	grep -q 'standard input was not read; to lint it, run `gpugate lint -`$' err
	run bash -c '{ sleep 0.02; cat ../train.yaml; } | "$0" lint' "$GPUGATE"
	holds "$output" "to lint it, run \`gpugate lint -\`"
	run bash -c '{ sleep 0.02; cat ../train.yaml; } | "$0"' "$GPUGATE"
	is "$status" 2
	holds "$output" "to lint standard input, run \`gpugate lint -\`"
	"$GPUGATE" lint -q <&8 2>err
	run ! grep 'standard input' err
	run "$GPUGATE" <&8
	exec 8>&-
	[ "$status" -eq 2 ]
	[[ $output == *'to lint standard input, run `gpugate lint -`'* ]]
}

# gpu_deployment NAME NAMESPACE: writes a Deployment with 8 GPUs, without a
# /dev/shm.
gpu_deployment() {
	cat <<-END
		---
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: $1, namespace: $2, labels: {app: $1}}
		spec:
		  selector: {matchLabels: {app: $1}}
		  template:
		    metadata: {labels: {app: $1}}
		    spec:
		      containers:
		      - name: main
		        image: nvcr.io/nvidia/pytorch:24.05-py3
		        command: [torchrun, --nproc-per-node=8, train.py]
		        resources: {limits: {nvidia.com/gpu: 8}}
	END
}

@test "overrides: for workload rules and set rules, by labels and namespaces" {
	{
		echo '{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: ml}, spec: {hard: {requests.nvidia.com/gpu: 4}}}'
		gpu_deployment a ml
		gpu_deployment b ml
		gpu_deployment c dev
		for ns in ml dev; do
			echo '---'
			echo "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: $ns}, spec: {maxUnavailable: 0, selector: {matchExpressions: [{key: app, operator: Exists}]}}}"
		done
	} >a.yaml
	cat >.gpugate.yaml <<-END
		apiVersion: gpugate.dev/v1
		kind: Policy
		rules: {all: off, quota-never-fits: error, pdb-blocks-gpu-drain: error}
		overrides:
		- {labels: {app: a}, rules: {quota-never-fits: info}}
		- {namespaces: [dev], rules: {pdb-blocks-gpu-drain: off}}
	END
	lint a.yaml
	is "$(grep -c 'info: Deployment `a` needs 8.*quota-never-fits' <<<"$output")" 1
	is "$(grep -c 'error: Deployment `b` needs 8.*quota-never-fits' <<<"$output")" 1
	is "$(grep -c 'error: .*pdb-blocks-gpu-drain' <<<"$output")" 1
	sed -i 's/drain: off/drain: info/' .gpugate.yaml
	lint a.yaml
	is "$(grep -c 'error: .*pdb-blocks-gpu-drain' <<<"$output")" 1
	is "$(grep -c 'info: .*pdb-blocks-gpu-drain' <<<"$output")" 1
}

@test "overrides: labels of namespaces come from the snapshot" {
	gpu_deployment a dev >a.yaml
	cat >.gpugate.yaml <<-END
		apiVersion: gpugate.dev/v1
		kind: Policy
		overrides:
		- {namespaceLabels: {tier: dev}, rules: {shm-missing: off}}
	END
	lint a.yaml
	holds "$output" "[shm-missing]"
	is "$stderr" "gpugate: .gpugate.yaml: overrides with namespaceLabels never match: labels of namespaces are known only with --cluster"
	printf '{"apiVersion":"gpugate.dev/v1","kind":"ClusterSnapshot","version":1,"takenAt":"2026-01-31T08:00:00Z","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"dev","labels":{"tier":"dev"}}}]}' >state.json
	lint --cluster state.json a.yaml
	holds_not "$output" "[shm-missing]"
	holds_not "$stderr" namespaceLabels
	# The result does not change if the policy is a floor, without another
	# policy or with a local one.
	mv .gpugate.yaml floor.yaml
	lint --policy floor.yaml --cluster state.json a.yaml
	holds_not "$output" "[shm-missing]"
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules: {shm-missing: off}\n' >.gpugate.yaml
	lint --policy floor.yaml --cluster state.json a.yaml
	holds_not "$output" "[shm-missing]"
	sed -i s/tier/other/ state.json
	lint --policy floor.yaml --cluster state.json a.yaml
	holds "$output" "[shm-missing]"
}

@test "--policy: without a local file, it decides" {
	gpu_deployment a dev >a.yaml
	cat >floor.yaml <<-END
		apiVersion: gpugate.dev/v1
		kind: Policy
		rules: {shm-missing: off, bare-gpu-pod: off}
	END
	lint --policy floor.yaml a.yaml
	holds_not "$output" "[shm-missing]"
	lint --policy floor.yaml --extend-select shm-missing a.yaml
	holds "$output" "[shm-missing]"
	lint --policy floor.yaml --preset recommended a.yaml
	holds "$output" "[shm-missing]"
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\n' >.gpugate.yaml
	lint --policy floor.yaml a.yaml
	holds "$output" "[shm-missing]"
}

@test "help of a command shows only the options that it has" {
	for command in $("$GPUGATE" help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
		"$GPUGATE" help "$command" | tr -s ' \n' ' ' >"$command.txt"
		grep -q -- ' --cluster FILE' "$command.txt" ||
			run ! grep -F -e 'a --cluster file' "$command.txt"
		[ "$command" = lint ] || {
			run ! grep -F -e 'lint without paths' -e 'also lint files' \
				-e 'terminal with color' "$command.txt"
		}
	done
	# Standard input is the program's input.
	for command in krm post-render cmp lsp; do
		run ! grep -F -e '- for standard input' -e 'of a cluster, the' \
			-e 'only set the exit status' "$command.txt"
		run "$GPUGATE" "$command" --cluster - </dev/null
		is "$status" 2
		holds "$output" 'standard input holds'
	done
	run ! grep -F 'every file' snapshot.txt
	run ! grep -F 'Print findings only' quota.txt
}
