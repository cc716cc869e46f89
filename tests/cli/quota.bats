# SPDX-License-Identifier: Apache-2.0
# gpugate quota: sums, the bars, and the effect of a change.

bats_require_minimum_version 1.5.0
load helper

job() {
	cat >"$1" <<-END
		apiVersion: kubeflow.org/v1
		kind: PyTorchJob
		metadata: {name: $2, namespace: ml}
		spec:
		  pytorchReplicaSpecs:
		    Worker:
		      replicas: $3
		      template:
		        spec:
		          containers:
		          - {name: pytorch, image: "t:1", resources: {limits: {nvidia.com/gpu: 4}}}
	END
}

web() {
	cat >"$1" <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: web, namespace: ml}
		spec:
		  replicas: $2
		  selector: {matchLabels: {a: b}}
		  template:
		    metadata: {labels: {a: b}}
		    spec:
		      containers:
		      - {name: c, image: "s:1", resources: {limits: {nvidia.com/gpu: 1}}}
	END
}

quota() {
	printf 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gpu, namespace: ml}\nspec: {hard: {requests.nvidia.com/gpu: %s}}\n' "$1" >quota.yaml
}

# Writes a state in which 12 of 16 GPUs are used, 8 of them by the job `run`.
state() {
	cat >cluster.json <<-'END'
		{"apiVersion":"gpugate.dev/v1","kind":"ClusterSnapshot","version":1,"takenAt":"2026-01-31T08:00:00Z","items":[
		{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"gpu","namespace":"ml"},"spec":{"hard":{"requests.nvidia.com/gpu":"16"}},"status":{"used":{"requests.nvidia.com/gpu":"12"}}}],
		"usage":[{"owner":{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","namespace":"ml","name":"run"},"resources":{"nvidia.com/gpu":"8"},"pods":2}]}
	END
}

quotas() {
	run --separate-stderr "$GPUGATE" quota "$@"
}

# value EXPRESSION: evaluates it on the JSON in $output, as t.
value() {
	echo "$output" | python3 -c "import json, sys
t = json.load(sys.stdin)
print($1)"
}

@test "without a cluster: hard alone" {
	quota 8
	job a.yaml llm 3
	quotas --format json
	is "$status" 0
	is "$(value 't["rows"][0]["after"], t["rows"][0]["excess"], "used" in t["rows"][0]')" "12 4 False"
	is "$(value 't["rows"][0]["workloads"][0]["file"]')" a.yaml
}

@test "with a cluster: used, without the running copy" {
	state
	job a.yaml llm 1
	job b.yaml run 3
	web c.yaml 2
	quotas --cluster cluster.json --format json .
	is "$status" 0
	is "$(value '[t["rows"][0][k] for k in ("used", "adds", "after", "afterPeak", "excess", "excessPeak")]')" \
		"['12', '10', '22', '23', '6', '7']"
	is "$(value '[w["running"] for w in t["rows"][0]["workloads"]]')" "['0', '8', '0']"
}

@test "quota shows the used, requested and excess amounts" {
	state
	job a.yaml llm 2
	LC_ALL=C quotas --cluster cluster.json
	is "$status" 0
	is "$(echo "$output" | head -3)" 'ml  nvidia.com/gpu  quota gpu
  [##################++++++!!!!!!]  12 used + 8 = 20 of 16, 4 too many
       8  PyTorchJob llm  a.yaml:3'
	job a.yaml llm 1
	LC_ALL=C quotas --cluster cluster.json
	holds "$output" "[######################++++++++]  12 used + 4 = 16 of 16, 0 left"
	LC_ALL=en_US.UTF-8 quotas --cluster cluster.json
	holds "$output" "█▓"
	quotas --cluster cluster.json --color always
	holds "$output" "$(printf '\033[36m')"
	quotas --cluster cluster.json
	holds_not "$output" "$(printf '\033')"
}

@test "a quota in a file replaces the same one in the cluster" {
	state
	quota 32
	job a.yaml llm 2
	quotas --cluster cluster.json --format json
	is "$(value '[(r["hard"], r["used"], r["excess"]) for r in t["rows"]]')" "[('32', '12', '0')]"
}

@test "a snapshot next to the manifests is not a manifest" {
	state
	run --separate-stderr "$GPUGATE" lint --format json .
	is "$(value 't["summary"]["objects"]')" 0
}

@test "no quota applies" {
	job a.yaml llm 2
	quotas
	is "$status" 0
	is "$(echo "$output" | head -2)" 'ml  nvidia.com/gpu  8; no quota applies
       8  PyTorchJob llm  a.yaml:3'
}

@test "quota reports if no workload requests an accelerator" {
	good a.yaml
	quotas
	is "$status" 0
	is "$output" "no workload requests an accelerator"
	quotas --format json
	is "$(value 't["rows"]')" "[]"
	quotas --format markdown
	holds "$output" "No workload requests an accelerator."
}

@test "suspended jobs add nothing" {
	quota 8
	job a.yaml llm 1
	sed -i 's/^spec:/spec:\n  runPolicy: {suspend: true}/' a.yaml
	quotas --format json
	is "$(value '[(w["steady"], w["suspended"]) for w in t["rows"][0]["workloads"]]')" "[('0', True)]"
}

@test "names from the manifest cannot contain markup or move the cursor" {
	job a.yaml '"l|lm`\e[31m"' 1
	quotas --format markdown
	holds "$output" 'nvidia.com/gpu'
	holds_not "$output" "$(printf '\033')"
	quotas
	holds_not "$output" "$(printf '\033')"
}

@test "unreadable files are reported, exit 2" {
	job a.yaml llm 1
	printf 'kind: [\n' >b.yaml
	quotas
	is "$status" 2
	holds "$stderr" "some documents could not be read"
	holds "$output" "PyTorchJob llm"
	quotas missing.yaml
	is "$status" 2
}

commit() {
	git add -A
	git -c user.name=t -c user.email=t@example.com commit -qm change
}

@test "--since: changes and their places" {
	git init -q .
	quota 16
	job a.yaml llm 2
	job gone.yaml old 1
	web same.yaml 2
	commit
	job a.yaml llm 3
	rm gone.yaml
	job new.yaml fresh 1
	quotas --since HEAD --format json
	is "$status" 0
	is "$(value '[(w["object"]["name"], w["before"], w["steady"], w["added"], w["removed"]) for w in t["rows"][0]["workloads"]]')" \
		"[('llm', '8', '12', False, False), ('old', '4', '0', False, True), ('fresh', '0', '4', True, False), ('web', '2', '2', False, False)]"
	is "$(value 't["rows"][0]["before"], t["rows"][0]["after"]')" "14 18"
	quotas --since HEAD --format markdown
	holds "$output" '| `ml` | `nvidia.com/gpu` | 14 | 18 |  | 16 (`gpu`) | ❌ 2 too many |'
	holds "$output" '- **+4** `nvidia.com/gpu` `PyTorchJob` `llm` `a.yaml`:3'
	holds "$output" '- **-4** `nvidia.com/gpu` `PyTorchJob` `old` (removed) `gone.yaml`:3'
	holds "$output" '- **+4** `nvidia.com/gpu` `PyTorchJob` `fresh` (new) `new.yaml`:3'
	holds_not "$output" "same.yaml"
}

@test "--since: a moved file changes nothing" {
	git init -q .
	mkdir old new
	job old/a.yaml llm 2
	commit
	mv old/a.yaml new/a.yaml
	quotas --since HEAD --format markdown
	holds "$output" "No requests change."
	(cd new && "$GPUGATE" quota --since HEAD --format markdown) >out
	holds "$(cat out)" "(new)"
}

@test "--since: no such revision, no repository" {
	job a.yaml llm 1
	quotas --since HEAD
	is "$status" 2
	git init -q .
	quotas --since nowhere
	is "$status" 2
	holds "$stderr" "--since: git:"
	quotas --since -x
	is "$status" 2
	holds "$stderr" "is not a revision"
}

# aged DAYS: writes the state, taken that many days ago, under a maxAge of a
# day.
aged() {
	state
	sed -i "s/\"takenAt\":\"[^\"]*\"/\"takenAt\":\"$(date -u -d "-$1 day" +%FT%TZ)\"/" cluster.json
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmaxAge: 24h\n' >.gpugate.yaml
}

@test "a snapshot that is too old: unknown instead of no quota" {
	aged 82
	job a.yaml llm 1
	quotas --cluster cluster.json
	is "$status" 0
	is "$(echo "$output" | head -1)" \
		"ml  nvidia.com/gpu  4; quota not checked: the snapshot is 82 days old"
	quotas --cluster cluster.json --format json
	is "$(value 't["rows"][0]["unknown"]')" "the snapshot is 82 days old"
	quotas --cluster cluster.json --format markdown
	holds "$output" "| not known: the snapshot is 82 days old |"
	quota 8
	quotas --cluster cluster.json
	holds "$output" "4 of 8, 4 left; the used amount is unknown: the snapshot is 82 days old"
	aged 0
	quotas --cluster cluster.json
	holds_not "$output" "not known"
	sed -i 's/"takenAt":"20/"takenAt":"21/' cluster.json
	rm quota.yaml
	quotas --cluster cluster.json
	holds "$output" "not checked: the time of the snapshot is in the future"
}

@test "a snapshot without quotas, an unreadable one, no namespace: unknown" {
	job a.yaml llm 1
	printf '{"apiVersion":"gpugate.dev/v1","kind":"ClusterSnapshot","version":1,"takenAt":"2026-01-31T08:00:00Z","unreadable":[{"apiVersion":"v1","kind":"ResourceQuota","reason":"a | b"}]}' >cluster.json
	quotas --cluster cluster.json
	holds "$output" "not checked: the snapshot has no resourcequotas: a | b"
	quotas --cluster cluster.json --format markdown
	holds "$output" 'not known: the snapshot has no resourcequotas: a \| b |'
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\npaths: [{glob: "**", cluster: none.json}]\n' >.gpugate.yaml
	quotas
	is "$status" 2
	holds "$output" "not checked: the snapshot could not be read"
	rm .gpugate.yaml
	sed -i 's/, namespace: ml//' a.yaml
	quotas
	holds "$output" "4; quota not checked: the manifest sets no namespace"
}

@test "--since: the snapshot of the revision is also too old" {
	git init -q .
	aged 82
	job a.yaml llm 1
	commit
	rm a.yaml
	quotas --since HEAD --cluster cluster.json
	holds "$output" "not checked: the snapshot is 82 days old"
}

@test "a quota without requests shows the free amount" {
	quota 8
	quotas --format json
	is "$status" 0
	is "$(value '[(r["namespace"], r["hard"], r["after"], r["workloads"]) for r in t["rows"]]')" \
		"[('ml', '8', '0', [])]"
	LC_ALL=C quotas
	is "$(echo "$output" | head -2)" 'ml  nvidia.com/gpu  quota gpu
  [..............................]  0 of 8, 8 left'
}

@test "-n: one namespace, with all its quotas; -A: all of the cluster" {
	state
	job a.yaml llm 1
	sed -i 's/namespace: ml/namespace: other/' a.yaml
	quotas --cluster cluster.json --format json
	is "$(value '[r["namespace"] for r in t["rows"]]')" "['other']"
	quotas --cluster cluster.json --format json -n ml
	is "$(value '[(r["namespace"], r["hard"], r["used"], r["adds"]) for r in t["rows"]]')" \
		"[('ml', '16', '12', '0')]"
	quotas --cluster cluster.json --format json -A
	is "$(value '[r["namespace"] for r in t["rows"]]')" "['ml', 'other']"
	quotas --cluster cluster.json -A -n ml
	is "$status" 2
}

@test "other namespaces in an old snapshot are unknown" {
	state
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmaxAge: 1h\n' >.gpugate.yaml
	quotas --cluster cluster.json --format json -A
	is "$(value 't["rows"]')" "[]"
	holds "$stderr" "the quotas of the cluster are not known: the snapshot is"
}

@test "--fail-on: a quota that is exceeded, or exceeded at the peak" {
	quota 8
	web a.yaml 8
	quotas
	is "$status" 0
	quotas --fail-on error
	is "$status" 0
	quotas --fail-on warning
	is "$status" 1
	web a.yaml 9
	quotas --fail-on error
	is "$status" 1
	GPUGATE_FAIL_ON=error quotas
	is "$status" 1
}

# svg EXPRESSION: evaluates it on the map of the page in $output, as t; texts(t)
# are its texts.
svg() {
	sed -n '/^<svg xmlns/,/^<\/svg>/p' <<<"$output" | python3 -c "import sys, xml.etree.ElementTree as xml
def texts(t):
	return [(e.text or '') + ''.join(c.tail for c in e)
		for e in t.iter('{http://www.w3.org/2000/svg}text')]
def titles(t):
	return [e.text for e in t.iter('{http://www.w3.org/2000/svg}title')]
t = xml.fromstring(sys.stdin.read())
print($1)"
}

@test "map: used, added and limit of each namespace and resource" {
	state
	job a.yaml llm 1
	job b.yaml run 3
	web c.yaml 2
	quotas --cluster cluster.json --format html .
	is "$status" 0
	is "$(svg 'texts(t)[:4]')" "['nvidia.com/gpu', 'ml', '22 of 16', '12 used + 10']"
	is "$(svg 'titles(t)[-1]')" 'ml nvidia.com/gpu, quota gpu: 12 used + 10 of 16, 6 too many'
	is "$(svg 't.find("{http://www.w3.org/2000/svg}desc").text')" \
		'1 namespace and 1 resource. Exceeded: 1. Exceeded at the peak: 0. Enough: 0. Without a quota: 0. Not known: 0.'
	is "$(svg 't.get("role"), t.get("aria-labelledby")')" 'img quota-title quota-text'
}

@test "map: unknown amounts are hatched, unlimited ones are labeled" {
	quota 8
	job a.yaml llm 2
	sed 's/namespace: ml/namespace: free/' a.yaml >b.yaml
	sed 's/, namespace: ml//' a.yaml >c.yaml
	quotas --format html .
	is "$(svg 'texts(t)[1:7]')" "['(unknown)', '8, not known', 'free', '8, no quota', 'ml', '8 of 8']"
	is "$(grep -c 'fill="url(#unknown)"' <<<"$output")" 2 # and the legend
}

@test "map: the tighter of two quotas; no requests" {
	quota 8
	printf -- '---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: tight, namespace: ml}\nspec: {hard: {requests.nvidia.com/gpu: 3}}\n' >>quota.yaml
	job a.yaml llm 1
	quotas --format html .
	is "$(svg 'titles(t)[-1]')" 'ml nvidia.com/gpu, quota tight: 4 in these manifests of 3, 1 too many'
	rm -- *.yaml
	good a.yaml
	quotas --format html .
	is "$(svg 'texts(t)[0]')" 'no workload requests an accelerator'
}

@test "html: the map, the table, the verdict" {
	state
	job a.yaml llm 2
	quotas --cluster cluster.json --format html .
	is "$status" 0
	holds "$output" '<p class="verdict bad">1 quota exceeded</p>'
	holds "$output" '<td><span class="pill error">4 too many</span>'
	holds "$output" '<li>8: PyTorchJob llm <span class="path soft">a.yaml:3</span></li>'
	holds "$output" '<svg '
	echo "$output" >page.html
	python3 -c 'import sys
sys.path.insert(0, sys.argv[1])
import html_page
html_page.read(open("page.html").read())' "$BATS_TEST_DIRNAME/../check"
}

@test "the HTML report shows the quotas if there are any" {
	job a.yaml llm 2
	run "$GPUGATE" lint --isolated --format html .
	holds_not "$output" 'GPU quota'
	quota 4
	run "$GPUGATE" lint --isolated --format html .
	holds "$output" '<h2>GPU quota</h2>'
	holds "$output" '<span class="pill error">4 too many</span>'
	state
	rm quota.yaml
	run "$GPUGATE" lint --isolated --cluster cluster.json --format html .
	holds "$output" '<span class="pill error">4 too many</span>'
}

@test "claims count by device class, a shared one once" {
	cat >claims.yaml <<-'END'
		apiVersion: resource.k8s.io/v1
		kind: ResourceClaimTemplate
		metadata: {name: four, namespace: ml}
		spec:
		  spec:
		    devices:
		      requests:
		      - {name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 4}}
		---
		apiVersion: resource.k8s.io/v1
		kind: ResourceClaim
		metadata: {name: shared, namespace: ml}
		spec:
		  devices:
		    requests:
		    - {name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}
		---
		apiVersion: apps/v1
		kind: StatefulSet
		metadata: {name: serve, namespace: ml}
		spec:
		  replicas: 3
		  selector: {matchLabels: {a: b}}
		  template:
		    metadata: {labels: {a: b}}
		    spec:
		      resourceClaims:
		      - {name: own, resourceClaimTemplateName: four}
		      - {name: all, resourceClaimName: shared}
		      containers:
		      - {name: c, image: "s:1", resources: {claims: [{name: own}, {name: all}]}}
	END
	quotas --format json claims.yaml
	is "$(value '[(r["resource"], "quota" in r, r["adds"]) for r in t["rows"]]')" "[('gpu.nvidia.com.deviceclass.resource.k8s.io/devices', False, '12')]"
	cat >quota.yaml <<-'END'
		apiVersion: v1
		kind: ResourceQuota
		metadata: {name: gpu, namespace: ml}
		spec: {hard: {gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 12}}
	END
	quotas --format json .
	is "$(value '[(r["quota"], r["hard"], r["adds"], r["excess"]) for r in t["rows"]]')" "[('gpu', '12', '13', '1')]"
	is "$(value '[w["steady"] for w in t["rows"][0]["workloads"]]')" "['1', '12']"
}
