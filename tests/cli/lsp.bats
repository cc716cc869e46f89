#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The language server as a program: messages in, messages out, exit status.

bats_require_minimum_version 1.5.0
load helper

# message JSON: prints it with its header.
message() {
	local bytes
	bytes=$(printf %s "$1" | wc -c)
	printf 'Content-Length: %d\r\n\r\n%s' "$bytes" "$1"
}

# request ID METHOD [PARAMS]
request() {
	message "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"$2\",\"params\":${3:-null}}"
}

notification() {
	message "{\"jsonrpc\":\"2.0\",\"method\":\"$1\",\"params\":${2:-null}}"
}

start() { request 1 initialize '{"capabilities":{}}'; }
stop() { request 9 shutdown; notification exit; }

# opened FILE: opens the document with the content of the file.
opened() {
	notification textDocument/didOpen "$(python3 -c 'import json, sys
print(json.dumps({"textDocument": {"uri": "file://" + sys.argv[1],
	"languageId": "yaml", "version": 1, "text": open(sys.argv[1]).read()}}))' \
		"$PWD/$1")"
}

# answers: prints the responses, one per line.
answers() {
	"$GPUGATE" lsp "$@" | python3 -c 'import json, sys
text = sys.stdin.buffer.read()
while text:
	head, text = text.split(b"\r\n\r\n", 1)
	n = int(head.split(b":")[1])
	print(json.dumps(json.loads(text[:n])))
	text = text[n:]'
	return "${PIPESTATUS[0]}"
}

@test "exit status: 0 after shutdown, 1 without" {
	{ start; stop; } >in
	run "$GPUGATE" lsp <in
	[ "$status" -eq 0 ]
	{ start; notification exit; } >in
	run "$GPUGATE" lsp <in
	[ "$status" -eq 1 ]
	run "$GPUGATE" lsp </dev/null
	[ "$status" -eq 1 ]
	{ start; request 2 shutdown; } >in
	run "$GPUGATE" lsp <in
	[ "$status" -eq 0 ]
	run "$GPUGATE" lsp x
	[ "$status" -eq 2 ]
}

@test "a request at the wrong time, or an invalid one, is a JSON-RPC error" {
	{
		request 1 textDocument/hover '{}'
		start
		start
		request 2 workspace/nonsense
		request 3 textDocument/hover \
			'{"textDocument":{"uri":"file:///a"}}'
		notification textDocument/didChange '[1,2]'
		notification textDocument/didOpen '{"textDocument":7}'
		notification '$/cancelRequest' '{"id":1}'
		message '{nonsense'
		message '[]'
		message '{"id":{},"method":"x"}'
		message '{"jsonrpc":"2.0","id":5,"result":null}'
		request 4 shutdown
		request 5 textDocument/hover '{}'
		notification exit
	} >in
	answers <in >out
	python3 - <<-'END'
		import json
		got = [json.loads(line) for line in open("out")]
		codes = [(m["id"], m.get("error", {}).get("code")) for m in got]
		assert codes == [(1, -32002), (1, None), (1, -32600),
				 (2, -32601), (3, None), (None, -32700),
				 (None, -32600), (None, -32600), (4, None),
				 (5, -32600)], codes
	END
}

@test "an invalid header ends the server with an error" {
	{ start; printf 'GET / HTTP/1.1\r\n\r\n'; stop; } >in
	run ! answers <in
	[ "$(answers <in | tail -n 1 | grep -c -- -32700)" -eq 1 ]
}

@test "diagnostics equal those of lint with the settings of the folder" {
	pod train.yaml
	{ start; opened train.yaml; stop; } >in
	answers <in >out
	grep -q '"line": 6, .*"code": "priority-integer-set"' out
	cat >.gpugate.yaml <<-END
		apiVersion: gpugate.dev/v1
		kind: Policy
		rules:
		  priority-integer-set: {action: off}
	END
	answers <in >out
	run ! grep -q priority-integer-set out
	answers --isolated <in >out
	grep -q priority-integer-set out
	answers --isolated --ignore priority-integer-set <in >out
	run ! grep -q priority-integer-set out
}

@test "an info about the cluster is shown once per document" {
	for name in a b; do
		asking_pod 2 >$name.yaml
		echo --- >>$name.yaml
		asking_pod 2 | sed 's/name: a,/name: b,/' >>$name.yaml
	done
	{ start; opened a.yaml; opened b.yaml; stop; } >in
	answers --isolated <in | grep publishDiagnostics | tail -n 2 >out
	is "$(grep -o 'gpu-node-selector-missing' out | wc -l)" 2
	is "$(grep -o '(1 more: --show-all)' out | wc -l)" 8
	answers --isolated --show-all <in | grep publishDiagnostics |
		tail -n 2 >out
	is "$(grep -o 'gpu-node-selector-missing' out | wc -l)" 4
}

@test "a document that is not saved yet, and one that lint skips" {
	pod a/train.yaml
	{ start; opened a/train.yaml; stop; } >in
	rm a/train.yaml
	answers <in | grep -q priority-integer-set
	rmdir a
	answers <in | grep -q priority-integer-set
	printf 'kind: {{ .Values.x }}\nspec: {{- if x }}\n' >t.yaml
	{ start; opened t.yaml; stop; } >in
	answers <in | grep -q '"diagnostics": \[\]'
	printf 'some: [data\n' >d.yaml
	{ start; opened d.yaml; stop; } >in
	answers <in | grep -q '"diagnostics": \[\]'
}

@test "secret values are masked, and no fix writes the mask" {
	pod train.yaml
	sed -i 's|registry.example.com/train:1|i\n    env: [{name: API_TOKEN, value: hunter2hunter2}]|' \
		train.yaml
	{ start; opened train.yaml; stop; } >in
	answers <in >out
	run ! grep -q hunter2 out
}

@test "a diagnostic links to the page of its rule if there is an address" {
	pod a.yaml
	{ start; opened a.yaml; stop; } >in
	run answers --docs-url https://docs.example.com/rules <in
	holds "$output" '"codeDescription": {"href": "https://docs.example.com/rules/priority-integer-set.md"}'
	run answers <in
	holds_not "$output" codeDescription
}

@test "only a safe fix is the preferred action" {
	printf '%s\n' 'apiVersion: batch/v1' 'kind: Job' 'metadata: {name: a}' \
		'spec:' '  backoffLimit: 100' '  template:' '    spec:' \
		'      priority: 5' '      priorityClassName: a' \
		'      restartPolicy: Never' '      containers:' \
		'      - {name: main, image: "registry.example.com/a:1",' \
		'         resources: {limits: {nvidia.com/gpu: 1}}}' >a.yaml
	{
		start
		opened a.yaml
		request 2 textDocument/codeAction "$(python3 -c 'import json, sys
print(json.dumps({"textDocument": {"uri": "file://" + sys.argv[1]},
    "range": {"start": {"line": 0, "character": 0},
              "end": {"line": 12, "character": 0}},
    "context": {"diagnostics": []}}))' "$PWD/a.yaml")"
		stop
	} >in
	answers <in >out
	python3 - out <<-'END'
		import json, sys
		actions = next(json.loads(line) for line in open(sys.argv[1])
		               if '"id": 2' in line)["result"]
		preferred = [a["title"] for a in actions if a.get("isPreferred")]
		others = [a["title"] for a in actions if not a.get("isPreferred")]
		assert preferred, others
		assert not any("(unsafe)" in t or t.startswith("Ignore ")
		               for t in preferred), preferred
		assert any("(unsafe)" in t for t in others), others
		assert any(t.startswith("Ignore ") for t in others), others
	END
}
