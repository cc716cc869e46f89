# SPDX-License-Identifier: Apache-2.0
# Selection and order of the linted files.
bats_require_minimum_version 1.5.0
load helper

@test "yaml, yml and json in folders; any name when named" {
	pod a.yaml
	pod b.yml
	echo '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"j"},"spec":{"priority":5}}' >c.json
	pod d.txt
	pod e
	lint
	is "$(paths)" "a.yaml b.yml c.json"
	lint d.txt e
	is "$(paths)" "d.txt e"
}

@test "byte order of whole paths; paths are tidied; each file once" {
	pod a/x.yaml
	pod a-b.yaml
	pod a.yaml
	pod a0.yaml
	pod B.yaml
	lint .
	is "$(paths)" "B.yaml a-b.yaml a.yaml a/x.yaml a0.yaml"
	lint ./a0.yaml .//a/x.yaml a ./ B.yaml
	is "$(paths)" "B.yaml a-b.yaml a.yaml a/x.yaml a0.yaml"
	lint "$PWD/a"
	is "$(paths)" "$PWD/a/x.yaml"
	cd a
	lint ../a0.yaml .
	is "$(paths)" "../a0.yaml x.yaml"
}

@test "names with blanks, quotes, newlines" {
	pod 'a b/c "d".yaml'
	pod "$(printf 'x\ny.yaml')"
	lint .
	is "$status" 1
	holds "$output" 'a b/c "d".yaml:7:13'
}

@test ".git is never entered" {
	pod .git/a.yaml
	pod .github/b.yaml
	lint
	is "$(paths)" ".github/b.yaml"
}

@test "--exclude: names anywhere, paths, folders, several" {
	pod a.yaml
	pod t/b.yaml
	pod s/t/c.yaml
	pod s/d.yaml
	lint --exclude t
	is "$(paths)" "a.yaml s/d.yaml"
	lint --exclude 's/**'
	is "$(paths)" "a.yaml t/b.yaml"
	lint --exclude s/
	is "$(paths)" "a.yaml t/b.yaml"
	lint --exclude '{a,d}.yaml' --exclude=t
	is "$(paths)" ""
	lint --exclude s s/d.yaml
	is "$(paths)" "s/d.yaml"
	lint --exclude s --force-exclude s/d.yaml a.yaml
	is "$(paths)" "a.yaml"
	GPUGATE_EXCLUDE='s t' lint
	is "$(paths)" "a.yaml"
	lint --exclude '[a'
	[ "$status" -ne 1 ] || is "$(paths)" "a.yaml s/d.yaml s/t/c.yaml t/b.yaml"
}

@test "exclude: of the policy" {
	pod a.yaml
	pod t/b.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nexclude: ["t/**"]\n' >.gpugate.yaml
	lint
	is "$(paths)" "a.yaml"
	lint t/b.yaml
	is "$(paths)" "t/b.yaml"
	lint --force-exclude t/b.yaml
	is "$(paths)" ""
	cd t
	lint
	is "$(paths)" ""
}

@test ".gitignore: the same files as git, one count in the summary" {
	git init -q .
	mkdir -p .git/info
	for f in a b x.gen keep.gen s/a s/x.gen s/deep/t/a build/a build/s/b \
		s/build/c only/a only/b 'sp ace' q/doc/a q/x/doc/b \
		n/one n/two/three neg/a neg/b lit/star br/f1 br/fx esc/#h; do
		pod "$f.yaml"
	done
	cat >.gitignore <<-'EOF'
	# a comment
	*.gen.yaml
	!keep.gen.yaml
	/build/
	/b.yaml
	sp\ ace.yaml
	q/**/doc/
	n/**
	!n/one.yaml
	br/f[0-9].yaml
	neg/*
	!neg/b.yaml
	\#h.yaml
	EOF
	printf 'deep/**/a.yaml\n/a.yaml\n!x.gen.yaml\n' >s/.gitignore
	printf 'only/*\n' >.git/info/exclude
	printf '!a.yaml\n' >only/.gitignore
	lint --no-ignore-vcs .
	echo "$output" | sed 's/:7:13.*//' >all.txt
	lint .
	echo "$output" | sed 's/:7:13.*//' >kept.txt
	git check-ignore --no-index --stdin <all.txt >ignored.txt || true
	grep -vxFf ignored.txt all.txt >wanted.txt
	diff kept.txt wanted.txt >&2
	[ -s ignored.txt ]
	run "$GPUGATE" lint .
	holds "$output" "$(wc -l <ignored.txt)"
	# in a folder below the root, the patterns above it apply as well
	cd s
	lint .
	is "$(paths)" "build/c.yaml x.gen.yaml"
	# named files are linted
	lint a.yaml ../build
	is "$(paths)" "../build/a.yaml ../build/s/b.yaml a.yaml"
}

@test ".gitignore outside a repository has no effect" {
	pod a.yaml
	echo 'a.yaml' >.gitignore
	GIT_CEILING_DIRECTORIES=$PWD lint
	is "$(paths)" "a.yaml"
}

@test "a repository inside a repository has its own .gitignore" {
	git init -q .
	pod sub/a.yaml
	pod sub/b.yaml
	pod a.yaml
	echo a.yaml >.gitignore
	git init -q sub
	echo b.yaml >sub/.gitignore
	lint
	is "$(paths)" "sub/a.yaml"
}

@test "kustomize patches and components are partial objects" {
	mkdir -p base patches comp
	for f in base/full patches/listed patches/other comp/part; do
		printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}\n' >$f.yaml
	done
	cat >kustomization.yaml <<-EOF
	kind: Kustomization
	resources: [base/full.yaml]
	patches: [{path: ./patches/listed.yaml}]
	components: [comp]
	EOF
	run "$GPUGATE" lint --format json .
	holds "$output" '"fragments":2'
	run "$GPUGATE" lint --format json patches/listed.yaml
	holds "$output" '"fragments":1'
	run "$GPUGATE" lint --format json patches
	holds "$output" '"fragments":1'
	run "$GPUGATE" lint --format json base/full.yaml
	holds "$output" '"fragments":0'
	cd patches
	run "$GPUGATE" lint --format json listed.yaml other.yaml
	holds "$output" '"fragments":1'
	run "$GPUGATE" lint --format json "$PWD/listed.yaml"
	holds "$output" '"fragments":1'
}

@test "very deep folders" {
	d=.
	for i in $(seq 200); do
		d=$d/d
	done
	mkdir -p $d
	pod $d/a.yaml
	lint
	is "$status" 1
	is "$stderr" ""
}

@test "a path that is too long to be opened is an error" {
	for i in $(seq 24); do
		name=$(printf '%0200d' "$i")
		mkdir "$name" && cd "$name"
	done
	pod a.yaml
	cd "$BATS_TEST_TMPDIR"
	pod b.yaml
	run --separate-stderr "$GPUGATE" lint --isolated --format json .
	is "$status" 2
	holds "$stderr" 'File name too long'
	holds "$output" '"files":1,'
}

@test "many folders: the same list and messages for any number of threads" {
	for i in $(seq 40); do
		mkdir -p "d$i/x/y" "d$i.d/ignored/z"
		pod "d$i/a.yaml"
		pod "d$i/x/y/b.yaml"
		pod "d$i.yaml"
		pod "d$i.d/ignored/z/c.yaml"
		printf 'exclude: [b.yaml]\n' >"d$i/.gpugate.yaml"
	done
	printf 'no such key: 1\n' >>d7/.gpugate.yaml
	printf 'kind: Kustomization\npatches: [{path: ../d9/a.yaml}]\n' \
		>d8/kustomization.yaml
	git init -q .
	echo 'ignored/' >.gitignore
	for j in 1 2 7; do
		"$GPUGATE" lint -j "$j" --isolated --format json >"$j.out" \
			2>"$j.err" || true
		"$GPUGATE" lint -j "$j" --format json >>"$j.out" \
			2>>"$j.err" || true
	done
	holds "$(cat 1.out)" '"ignored":40'
	holds "$(cat 1.out)" '"files":121'
	holds "$(cat 1.err)" 'no such key'
	cmp 1.out 2.out
	cmp 1.out 7.out
	cmp 1.err 2.err
	cmp 1.err 7.err
}
