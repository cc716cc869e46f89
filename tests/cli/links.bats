# SPDX-License-Identifier: Apache-2.0
# One file under several paths, and links that lead out of the walked folder.
bats_require_minimum_version 1.5.0
load helper

# quota FILE: writes a manifest with one finding with a safe fix.
quota() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-EOF
	apiVersion: v1
	kind: ResourceQuota
	metadata: {name: q, namespace: research}
	spec: {hard: {nvidia.com/gpu: "8"}}
	EOF
}

# judged ARGUMENTS: prints the paths of the findings, one per file.
judged() {
	lint "$@"
	is "$stderr" ""
	echo "$output" | sed -n 's/:4:[0-9]*: error: .*//p' | tr '\n' ' ' |
		sed 's/ $//'
}

@test "a link next to its target: one file, checked once, under its own name" {
	quota z.yaml
	ln -s z.yaml a.yaml
	mkdir d
	ln -s ../z.yaml d/b.yaml
	ln -s a.yaml c.yaml
	is "$(judged .)" z.yaml
	is "$(judged)" z.yaml
	is "$(judged -j 4 d . z.yaml)" z.yaml
	is "$(judged d/b.yaml a.yaml z.yaml)" z.yaml
	# If the file itself is excluded, it is linted under its first link.
	is "$(judged --exclude z.yaml .)" a.yaml
	is "$(judged d/b.yaml c.yaml)" c.yaml
	is "$(judged a.yaml)" a.yaml
	is "$(judged d)" d/b.yaml
}

@test "GPUs under two names are counted once" {
	asking_pod 4 | sed 's/name: a/generateName: a-/' >real.yaml
	ln -s real.yaml link.yaml
	run --separate-stderr "$GPUGATE" quota .
	holds "$output" "nvidia.com/gpu  4;"
	cp real.yaml copy.yaml
	run --separate-stderr "$GPUGATE" quota .
	holds "$output" "nvidia.com/gpu  8;"
}

@test "a file that is named twice, and walked" {
	quota d/a.yaml
	here=$PWD
	ln -s d other
	ln -s . d/loop
	is "$(judged d/a.yaml d/a.yaml ./d//a.yaml)" d/a.yaml
	is "$(judged d/a.yaml d)" d/a.yaml
	is "$(judged "$here/d/a.yaml" d/a.yaml)" "$here/d/a.yaml"
	is "$(judged "$here/d" d)" "$here/d/a.yaml"
	is "$(judged d other)" d/a.yaml
	is "$(judged d other/a.yaml)" d/a.yaml
	is "$(judged other/a.yaml)" other/a.yaml
	is "$(judged d/loop/loop)" d/loop/loop/a.yaml
	is "$(judged . d/loop/a.yaml other/loop)" d/a.yaml
	is "$(judged d)" d/a.yaml
	cd d
	is "$(judged ../d/a.yaml a.yaml ..)" ../d/a.yaml
}

@test "each hard link is a separate file" {
	quota d/a.yaml
	ln d/a.yaml d/b.yaml
	ln d/a.yaml outside.yaml
	cp d/a.yaml before
	is "$(judged d)" "d/a.yaml d/b.yaml"
	lint --fix --ignore object-duplicate d
	is "$status" 0
	holds "$stderr" "applied fixes in 2 files"
	cmp d/a.yaml d/b.yaml
	run ! cmp d/a.yaml before
	cmp outside.yaml before
}

@test "--fix and --add-ignore do not write through a link that leads out" {
	quota out/o.yaml
	cp out/o.yaml before
	quota tree/a.yaml
	ln -s ../out/o.yaml tree/o.yaml
	mkdir tree/deep
	ln -s ../o.yaml tree/deep/o2.yaml
	for option in --fix "--add-ignore=why"; do
		for target in tree ./tree "$PWD/tree"; do
			quota tree/a.yaml
			lint $option $target
			is "$status" 2
			holds "$stderr" "tree/deep/o2.yaml: "
			holds "$stderr" "it is a symbolic link out of the named folder"
			cmp out/o.yaml before
			run ! cmp -s tree/a.yaml before
		done
	done
	(cd tree && run --separate-stderr "$GPUGATE" lint --fix --format concise &&
		is "$status" 2)
	cmp out/o.yaml before
	[ -L tree/o.yaml ]
	[ -L tree/deep/o2.yaml ]
	is "$(ls out)" o.yaml
}

@test "--fix writes through a link that stays inside or is named" {
	quota tree/real.txt
	ln -s real.txt tree/a.yaml
	cp tree/real.txt before
	chmod 640 tree/real.txt
	lint --fix tree
	is "$status" 0
	[ -L tree/a.yaml ]
	grep -q requests.nvidia tree/real.txt
	is "$(stat -c %a tree/real.txt)" 640
	# A named folder that is a link is walked.
	ln -s tree named
	cp before tree/real.txt
	lint --fix named
	is "$status" 0
	grep -q requests.nvidia tree/real.txt
	# A named link to a file fixes the target.
	quota out/o.yaml
	ln -s ../out/o.yaml tree/o.yaml
	lint --fix tree/o.yaml
	is "$status" 0
	[ -L tree/o.yaml ]
	grep -q requests.nvidia out/o.yaml
	quota out/o.yaml
	lint --fix tree tree/o.yaml
	is "$status" 0
	grep -q requests.nvidia out/o.yaml
}

@test "a patch with two names is a patch under both" {
	mkdir base over
	asking_pod 1 >base/p.yaml
	lint --select gpu-pod-besteffort --fail-on info .
	is "$status" 1
	ln -s ../base/p.yaml over/p.yaml
	printf 'patches: [{path: p.yaml}]\n' >over/kustomization.yaml
	lint --select gpu-pod-besteffort --fail-on info .
	is "$output" ""
	is "$status" 0
}
