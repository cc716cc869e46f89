# SPDX-License-Identifier: Apache-2.0
# Inputs that can be read only once, or that change.
bats_require_minimum_version 1.5.0
load helper

# quota FILE: writes a manifest with one finding with a safe fix, on line 4.
quota() {
	cat >"$1" <<-EOF
	apiVersion: v1
	kind: ResourceQuota
	metadata: {name: q, namespace: research}
	spec: {hard: {nvidia.com/gpu: "8"}}
	EOF
}

@test "a pipe: its lines and fixes are shown" {
	quota a.yaml
	for format in full json rdjson sarif; do
		"$GPUGATE" lint --format $format --stdin-filename PIPE - \
			<a.yaml >wanted || true
		mkfifo PIPE
		cat a.yaml >PIPE &
		run --separate-stderr timeout 120 \
			"$GPUGATE" lint --format $format PIPE
		rm PIPE
		is "$status" 1
		is "$stderr" ""
		echo "$output" | sed 's/ in [0-9.]* s//' | diff - wanted >&2
	done
	run bash -c '"$0" lint <(cat a.yaml) <(cat a.yaml)' "$GPUGATE"
	is "$(echo "$output" | grep -c '^4 | spec: {hard')" 2
}

@test "a pipe is not written: --fix, --add-ignore; --diff" {
	quota a.yaml
	run --separate-stderr bash -c '"$0" lint --fix <(cat a.yaml)' "$GPUGATE"
	is "$status" 2
	holds "$stderr" "not fixed: it is not a regular file, use --diff"
	run --separate-stderr bash -c \
		'"$0" lint --add-ignore why <(cat a.yaml)' "$GPUGATE"
	is "$status" 2
	holds "$stderr" "not all findings have a comment: it is not a regular file"
	run --separate-stderr bash -c '"$0" lint --diff <(cat a.yaml)' "$GPUGATE"
	is "$status" 1
	holds "$output" "-spec: {hard: {nvidia.com/gpu:"
}

# wait_for_reader PID: waits until the program sleeps while it opens a pipe
# without a reader.
wait_for_reader() {
	for _ in $(seq 200); do
		grep -q '^State:.S' "/proc/$1/status" && return
		sleep 0.05
	done
	return 1
}

@test "a file that is shortened or removed during the run" {
	mkfifo report
	for change in ': >a.yaml' 'rm a.yaml' 'echo >>a.yaml'; do
		for format in full rdjson sarif; do
			quota a.yaml
			"$GPUGATE" lint -q -j 1 --format $format:report a.yaml \
				2>log &
			pid=$!
			wait_for_reader $pid
			eval "$change"
			timeout 120 cat report >out
			rc=0
			wait $pid || rc=$?
			is "$rc" 1
			is "$(cat log)" "gpugate: a.yaml: its lines cannot be shown,\
 because it was removed or changed during the run, or could not be read again"
			holds "$(cat out)" "nvidia.com/gpu"
			holds_not "$(cat out)" "requests.nvidia.com/gpu: \\\"8"
		done
	done
}

# meanwhile CHANGE ARGUMENTS: lints, and makes the change after the files were
# read, before the program writes one.
meanwhile() {
	local change=$1
	shift
	"$GPUGATE" lint -j 1 --format full:report "$@" 2>log &
	pid=$!
	wait_for_reader $pid
	eval "$change"
	timeout 120 cat report >/dev/null
	rc=0
	wait $pid || rc=$?
}

@test "--add-ignore and --prune-baseline keep concurrent changes" {
	mkfifo report
	for change in 'sed -i s/"8"/"9"/ a.yaml' 'cp a.yaml b; mv b a.yaml' \
		'touch -d "+1 sec" a.yaml' 'exec 9>>a.yaml'; do
		quota a.yaml
		meanwhile "$change; cp a.yaml edited" --add-ignore why a.yaml
		exec 9>&-
		is "$change: $rc" "$change: 2"
		grep -q "^gpugate: a.yaml: \(it was changed after it was read\|another program has it open for writing\)$" log
		cmp a.yaml edited
		rm edited
	done
	quota a.yaml
	"$GPUGATE" lint -qq --write-baseline base.json a.yaml || true
	good a.yaml
	meanwhile 'echo >>base.json; cp base.json edited' \
		--baseline base.json --prune-baseline a.yaml
	is "$rc" 2
	grep -q "^gpugate: base.json: it was changed after it was read$" log
	cmp base.json edited
	lint --baseline base.json --prune-baseline a.yaml
	is "$status" 0
	holds "$(cat base.json)" '"findings":['
	is "$(echo a.yaml* base.json*)" "a.yaml base.json"
}

@test "file names in messages start neither a line nor a command" {
	pod "$(printf 'x\n::error ::y.yaml')"
	pod a.yaml
	printf 'kind: Policy\napiVersion: gpugate.dev/v1\n"a\\e[31mb\\n::error ::c": 1\n' \
		>.gpugate.yaml
	rm -f "$(printf '\e[31m.yaml')"
	lint --isolated . "$(printf '\e[31m.yaml')"
	is "$status" 2
	holds "$stderr" "gpugate: ␛[31m.yaml: No such file"
	lint --isolated -vv .
	holds "$stderr" "gpugate: x␊::error ::y.yaml"
	holds_not "$stderr" "$(printf '\n::error')"
	lint .
	is "$status" 2
	holds_not "$stderr" "$(printf '\n::error')"
	holds_not "$stderr" "$(printf '\e')"
	lint ""
	is "$status" 2
	holds "$stderr" "(empty path): No such file"
	# The name of a file at the start of a report line is not a command
	# either.
	rm .gpugate.yaml
	pod ::error.yaml
	pod '##[error]x.yaml'
	lint '::error.yaml' '##[error]x.yaml'
	is "$(paths)" "./##[error]x.yaml ./::error.yaml"
	printf '    resources: {limits: {nvidia.com/gpu: 1}}\n' >>::error.yaml
	sed -i 's/research/"::error ::x"/' ::error.yaml
	run "$GPUGATE" quota ::error.yaml
	holds "$output" ".::error ::x  nvidia.com/gpu"
	run "$GPUGATE" lint --format concise --stdin-filename "" - <a.yaml
	is "${output%%:*}" "-"
}

@test "text that is not template markup does not make a template" {
	printf 'kind: 1\0\n{{- if .Values.x }}\n' >nul.yaml
	printf 'kind: "{{b}}"\n---\nc: [\n' >other.yaml
	printf 'kind: [\n---\nb: "{{c}}"\n' >before.yaml
	printf 'kind: 1\n---\nb: [{{c}}, 2\n' >template.yaml
	lint .
	is "$status" 1
	is "$(paths)" "before.yaml nul.yaml other.yaml"
	holds "$output" "nul.yaml:1:8: error: NUL byte"
	holds "$output" "other.yaml:4:1: error: expected a value"
}

@test "--add-ignore skips files that are not writable" {
	pod a.yaml
	cp a.yaml before
	give_away a.yaml 444
	lint_unprivileged --add-ignore why a.yaml
	is "$status" 2
	holds "$stderr" "a.yaml: Permission denied"
	holds "$stderr" "added 0 ignore comments to 0 files"
	cmp a.yaml before
}

@test "a baseline is replaced completely; links and pipes are kept" {
	pod a.yaml
	echo old >real.json
	chmod 640 real.json
	ln -s real.json link.json
	lint --write-baseline link.json a.yaml
	[ -L link.json ]
	is "$(stat -c %a real.json)" 640
	grep -q priority-integer-set real.json
	lint --write-baseline none/b.json a.yaml
	is "$status" 2
	holds "$stderr" "gpugate: none/b.json: No such file or directory"
	mkfifo pipe
	cat pipe >got &
	lint --write-baseline pipe a.yaml
	[ -p pipe ]
	wait $!
	cmp got real.json
	is "$(find . -name '.*.json*')" ""
}

@test "a baseline keeps findings of rules that did not run" {
	pod a.yaml
	quota q.yaml
	pod s/b.yaml other
	lint --write-baseline base.json .
	holds "$stderr" "base.json: 3 findings"
	cp base.json before.json
	lint --baseline base.json --prune-baseline --select shm-missing .
	is "$status" 0
	holds "$stderr" "removed 0 entries"
	lint --baseline base.json --ignore quota .
	is "$stderr" ""
	# Paths in a baseline are relative to its folder.
	cd s
	lint --baseline ../base.json --prune-baseline .
	holds "$stderr" "removed 0 entries"
	cd ..
	cmp base.json before.json
	good q.yaml
	lint --baseline base.json --prune-baseline --ignore quota .
	holds "$stderr" "removed 0 entries"
	lint --baseline base.json --prune-baseline .
	holds "$stderr" "removed 1 entry"
}

@test "newly suppressed findings are not fixable" {
	quota a.yaml
	run "$GPUGATE" lint a.yaml
	holds "$output" "fixable with --"
	run "$GPUGATE" lint --write-baseline base.json a.yaml
	holds "$output" "1 suppressed"
	holds_not "$output" fixable
	run "$GPUGATE" lint --add-ignore why a.yaml
	holds "$output" "1 suppressed"
	holds_not "$output" fixable
}

@test "closed standard streams are not replaced by another file" {
	quota a.yaml
	"$GPUGATE" lint --format json:wanted a.yaml || true
	run --separate-stderr bash -c '"$0" lint --format concise \
		--format json:out a.yaml >&-' "$GPUGATE"
	is "$status" 2
	is "$stderr" "gpugate: standard output: Bad file descriptor"
	cmp out wanted
	run bash -c '"$0" lint --format json:out --write-baseline base.json \
		--fail-on never a.yaml 2>&-' "$GPUGATE"
	is "$status" 0
	python3 -m json.tool out >/dev/null
	python3 -m json.tool base.json >/dev/null
	run --separate-stderr bash -c '"$0" lint - <&-' "$GPUGATE"
	is "$status" 2
	is "$stderr" "gpugate: -: Bad file descriptor"
}

# The bar appears only after a second, so the input grows until linting takes
# longer, which depends on the machine and the build.
@test "a progress bar only on a terminal that can erase it" {
	command -v script >/dev/null || skip "no script(1)"
	script -qec true /dev/null </dev/null || skip "no pseudo-terminal"
	for size in 6000 18000 60000 180000 600000; do
		yes 'kind: &a {b: [1, 2, 3], c: "d", e: f, g: [h, i, j, k, l]}
---' | head -n $size >0.yaml
		for n in $(seq 9); do ln -f 0.yaml $n.yaml; done
		on_terminal xterm
		! grep -q '/10 files' xterm || break
	done
	grep -q '= *] [0-9]*/10 files' xterm
	grep -q "$(printf '\r\033\[K')" xterm
	on_terminal dumb
	! grep -q '/10 files' dumb
}

on_terminal() { # TERM
	TERM=$1 timeout 300 script -qec \
		"stty cols 80; $GPUGATE lint --isolated -j1" /dev/null \
		</dev/null >"$1"
}
