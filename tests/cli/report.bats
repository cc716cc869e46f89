# SPDX-License-Identifier: Apache-2.0
# HTML reports, and links to the rules' pages.
bats_require_minimum_version 1.5.0
load helper

# page ARGUMENTS: puts the text of the report in $output.
page() {
	run --separate-stderr "$GPUGATE" lint --isolated --format html "$@"
}

shm() {
	cat >"$1" <<-'END'
		apiVersion: batch/v1
		kind: Job
		metadata: {name: llm, namespace: ml}
		spec:
		  template:
		    spec:
		      restartPolicy: Never
		      containers:
		      - name: trainer
		        image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
		        command: [torchrun, --nproc_per_node=8, train.py]
		        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}
	END
}

@test "html: excerpt, fix as a diff, verdict, summary" {
	shm a.yaml
	page --select shm-missing a.yaml
	is "$status" 0
	holds "$output" '<p class="verdict good">passed</p>'
	holds "$output" '<h4><span class="pill">warning</span> container <code>trainer</code>'
	holds "$output" '<i>9 |</i>       - name: trainer'
	holds "$output" '<b>^^^^^^^</b>'
	holds "$output" '<ins>+         - name: gpugate-shm'
	holds "$output" '<li>Checked 1 object in 1 file — 0 errors, 1 warning; 8 GPUs requested'
	page --select shm-missing --fail-on warning a.yaml
	is "$status" 1
	holds "$output" '<p class="verdict bad">1 warning: the check fails</p>'
}

@test "html: errors are called errors" {
	shm a.yaml
	sed -i 's/gpu: 8/gpu: 1.5/' a.yaml
	page --select gpu-fractional-quantity a.yaml
	is "$status" 1
	holds "$output" '<p class="verdict bad">1 error: the check fails</p>'
}

@test "html: no findings; suppressed ones with their reasons" {
	good a.yaml
	page a.yaml
	is "$status" 0
	holds "$output" '<p class="card">None.</p>'
	pod b.yaml
	sed -i 's/^  priority: 5/& # gpugate: ignore[priority-integer-set] -- <b>old<\/b>/' b.yaml
	page b.yaml
	is "$status" 0
	holds "$output" '<td class="path">b.yaml:7</td><td>comment</td><td>&lt;b&gt;old&lt;/b&gt;</td>'
}

@test "html: text of the manifest is not markup" {
	pod a.yaml '"<script>alert(1)</script>&quot;"'
	page a.yaml
	is "$status" 1
	is "$(grep -c '<script>' <<<"$output")" 1
	holds "$output" '&lt;script&gt;alert(1)&lt;/script&gt;&amp;quot;'
}

@test "html: the same for any number of threads" {
	for i in $(seq 40); do
		pod "$i.yaml"
		shm "j$i.yaml"
	done
	"$GPUGATE" lint --format html:1.html -j 1 . || true
	"$GPUGATE" lint --format html:4.html -j 4 . || true
	cmp 1.html 4.html
}

@test "links to rule pages: none without an address" {
	pod a.yaml
	for format in full json sarif html; do
		run "$GPUGATE" lint --color always --format $format a.yaml
		holds_not "$output" https://docs
		holds_not "$output" $'\e]8'
		run "$GPUGATE" lint --color always --docs-url '' --format $format a.yaml
		holds_not "$output" helpUri
		holds_not "$output" informationUri
	done
}

@test "links to rule pages: json, sarif, html, a terminal" {
	local page=https://docs.example.com/rules/priority-integer-set.md
	pod a.yaml
	export GPUGATE_DOCS_URL=https://docs.example.com/rules/
	run "$GPUGATE" lint --format json a.yaml
	holds "$output" "\"docs\":\"$page\""
	run "$GPUGATE" lint --format sarif a.yaml
	holds "$output" "\"helpUri\":\"$page\""
	holds "$output" '"informationUri":"https://docs.example.com/rules/README.md"'
	page a.yaml
	holds "$output" "<a href=\"$page\">priority-integer-set</a>"
	run "$GPUGATE" lint --color always a.yaml
	holds "$output" $'\e]8;;'"$page"$'\e\\gpugate explain priority-integer-set\e]8;;\e\\'
	run "$GPUGATE" lint --color never a.yaml
	holds_not "$output" "$page"
	holds "$output" 'docs: gpugate explain priority-integer-set'
}

@test "--docs-url requires a web address" {
	good a.yaml
	for url in 'javascript:alert(1)' docs.example.com 'https://' ftp://a; do
		run --separate-stderr "$GPUGATE" lint --docs-url "$url" a.yaml
		is "$status" 2
		holds "$stderr" 'is not an address that begins with https://'
	done
	for url in 'https://a b' $'https://a\e]8' 'https://a"b'; do
		run --separate-stderr "$GPUGATE" lint --docs-url "$url" a.yaml
		is "$status" 2
		holds "$stderr" 'contains a character that an address may not'
	done
}

# reports EXPRESSION: evaluates it on the objects in $output, as t.
reports() {
	echo "$output" | python3 -c "import json, sys
t = json.load(sys.stdin)['items']
print($1)"
}

@test "openreports: a Report per namespace, a ClusterReport for the rest" {
	shm a.yaml
	pod b.yaml
	pod c.yaml
	sed -i '/namespace:/d' c.yaml
	run --separate-stderr "$GPUGATE" lint --isolated --format openreports \
		--select shm-missing,priority-integer-set .
	is "$status" 1
	is "$(reports '[(r["kind"], r["metadata"].get("namespace")) for r in t]')" \
		"[('ClusterReport', None), ('Report', 'ml'), ('Report', 'research')]"
	is "$(reports '[(r["summary"]["fail"], r["summary"]["warn"]) for r in t]')" \
		'[(1, 0), (0, 1), (1, 0)]'
	is "$(reports 't[1]["results"][0]["resources"][0]')" \
		"{'apiVersion': 'batch/v1', 'kind': 'Job', 'namespace': 'ml', 'name': 'llm'}"
	run --separate-stderr "$GPUGATE" lint --isolated --format openreports \
		--fail-on warning --select shm-missing a.yaml
	is "$(reports 't[0]["results"][0]["result"], t[0]["results"][0]["properties"]["fix"]')" \
		'fail mount an emptyDir of 32Gi of memory at /dev/shm'
}

@test "openreports: suppressed findings are skipped; no findings are an empty list" {
	pod a.yaml
	sed -i 's/^  priority: 5/& # gpugate: ignore[priority-integer-set] -- old/' a.yaml
	run --separate-stderr "$GPUGATE" lint --isolated --format openreports a.yaml
	is "$status" 0
	is "$(reports 't[0]["summary"]["skip"], t[0]["results"][0]["properties"]["reason"]')" \
		'1 old'
	good a.yaml
	run --separate-stderr "$GPUGATE" lint --isolated --format openreports a.yaml
	is "$(reports t)" '[]'
}

@test "openreports: no object is larger than an API server accepts" {
	{
		for i in $(seq 2500); do
			printf -- '---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, namespace: ml}\nspec: {priority: 5, containers: [{name: main, image: "a:1"}]}\n' "$i"
		done
	} >a.yaml
	run --separate-stderr "$GPUGATE" lint --isolated --format openreports \
		--select priority-integer-set a.yaml
	is "$(reports '[r["metadata"]["name"] for r in t], sum(r["summary"]["fail"] for r in t), max(len(json.dumps(r)) for r in t) < 1000000')" \
		"['gpugate', 'gpugate-2'] 2500 True"
}

@test "report: GitHub's problem matcher takes the errors and warnings of concise, and no more" {
	root=$BATS_TEST_DIRNAME/../..
	"$GPUGATE" lint --isolated --fail-on never --format concise \
		"$root/deploy/examples/bad" >concise
	"$GPUGATE" lint --isolated --fail-on never --format json \
		"$root/deploy/examples/bad" >json
	run python3 - "$root/deploy/ci/problem-matcher.json" <<-'END'
		import json, re, sys
		at = json.load(open(sys.argv[1]))["problemMatcher"][0]["pattern"][0]
		fields = ("file", "line", "column", "severity", "message", "code")
		found = [tuple(m[at[f]] for f in fields) for line in open("concise")
		         if (m := re.match(at["regexp"], line.rstrip("\n"), re.A))]
		want = [(f["file"], str(f["line"]), str(f["column"]), f["severity"],
		         f["message"], f["rule"])
		        for f in json.load(open("json"))["findings"]
		        if f["severity"] != "info"]
		assert want and sorted(found) == sorted(want), (found, want)
	END
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
}
