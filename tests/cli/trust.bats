# SPDX-License-Identifier: Apache-2.0
# Tests that a repository cannot make gpugate read files outside of it, and that
# endless files are errors.
bats_require_minimum_version 1.5.0
load helper

# policy FILE CLUSTER: writes a policy that names this cluster snapshot.
policy() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-END
	apiVersion: gpugate.dev/v1
	kind: Policy
	paths:
	- glob: "**"
	  cluster: $2
	END
}

# Writes a snapshot with a time in the future, because the warning about it
# shows that the file was read.
state() { # FILE
	echo '{"apiVersion":"gpugate.dev/v1","kind":"ClusterSnapshot","version":1,
		"takenAt":"2999-01-01T00:00:00Z","items":[]}' >"$1"
}

was_read() { # STATE
	is "$status" 1
	holds "$stderr" "gpugate: warning: the time of cluster snapshot $1"
	is "$(echo "$stderr" | wc -l)" 1
}

# Runs gpugate with limits of time and memory: if it read an endless file,
# they would end it with another status than 2. Sanitizers need more memory.
bounded() {
	run --separate-stderr timeout 60 bash -c \
		'ldd "$0" 2>/dev/null | grep -q san || ulimit -v 4000000
		exec "$0" "$@"' "$GPUGATE" "$@"
}

@test "a discovered policy names no file outside its repository" {
	state state.json
	mkdir -p repo/.git repo/a
	pod repo/a/x.yaml
	ln -s ../state.json repo/link.json
	ln -s .. repo/up
	for path in "$PWD/state.json" /dev/zero ../../state.json ../link.json \
		../up/state.json ../../repo/../state.json /etc/passwd; do
		policy repo/a/.gpugate.yaml "$path"
		for target in repo repo/a repo/a/x.yaml; do
			bounded lint --format concise $target
			is "$path: $status" "$path: 2"
			holds "$stderr" "repo/a/.gpugate.yaml:5:12: error:"
			holds "$stderr" "only files of its own repository"
		done
		for command in config krm post-render; do
			run --separate-stderr timeout 60 bash -c \
				'cd repo/a; "$0" $1 </dev/null' "$GPUGATE" $command
			is "$command $path: $status" "$command $path: 2"
			holds "$stderr" ".gpugate.yaml:5:12: error:"
		done
	done
}

@test "a discovered policy is not a link out of its repository" {
	mkdir -p repo/.git repo/a repo/shared
	pod repo/a/x.yaml
	echo 'of-the-runner: [' >outside.yaml
	ln -s ../../outside.yaml repo/a/.gpugate.yaml
	for target in repo repo/a repo/a/x.yaml; do
		bounded lint --format concise $target
		is "$target: $status" "$target: 2"
		holds "$stderr" "repo/a/.gpugate.yaml: a link that leads out of its repository"
		is "$(grep -c of-the-runner <<<"$output$stderr")" 0
	done
	run --separate-stderr timeout 60 bash -c 'cd repo/a; "$0" config' "$GPUGATE"
	is "$status" 2
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' >repo/shared/p.yaml
	ln -sf ../shared/p.yaml repo/a/.gpugate.yaml
	bounded lint --format concise repo
	is "$stderr" ""
}

@test "a discovered policy may name files of its repository" {
	mkdir -p repo/.git
	pod repo/a/x.yaml
	state repo/state.json
	ln -s state.json repo/link.json
	for path in ../state.json ../link.json ./../a/../state.json; do
		policy repo/a/.gpugate.yaml "$path"
		lint repo
		was_read "$PWD/repo/${path##*/}"
	done
	policy repo/.gpugate.yaml none.json
	rm repo/a/.gpugate.yaml
	lint repo
	is "$status" 2
	holds "$stderr" "repo/none.json: No such file"
	# a link to the repository leads to the same repository
	ln -s repo other
	policy repo/.gpugate.yaml state.json
	lint other
	was_read "$PWD/other/state.json"
	# without a repository, a policy may name only files in its folder
	rmdir repo/.git
	lint repo
	was_read "$PWD/repo/state.json"
	policy repo/a/.gpugate.yaml ../state.json
	lint repo
	is "$status" 2
	holds "$stderr" "repo/a/.gpugate.yaml:5:12: error: \`cluster\`: a path out of the repository"
}

@test "a policy named on the command line may name any file, but no pipe" {
	pod x.yaml
	mkdir p
	state state.json
	for path in ../state.json "$PWD/state.json"; do
		policy p/policy.yaml "$path"
		lint --config p/policy.yaml x.yaml
		was_read "$PWD/state.json"
	done
	mkfifo p/pipe
	for path in pipe /dev/zero; do
		policy p/policy.yaml "$path"
		bounded lint --config p/policy.yaml x.yaml
		is "$path: $status" "$path: 2"
		holds "$stderr" "not a regular file"
	done
}

@test "a cluster state, a policy, a baseline: pipes of the command line" {
	pod x.yaml
	state state.json
	echo 'a: [' >broken
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nextends: strict\n' >p
	"$GPUGATE" lint -qq --write-baseline base.json x.yaml || true
	run --separate-stderr bash -c '"$0" lint --format concise \
		--cluster <(cat state.json) x.yaml' "$GPUGATE"
	was_read /dev/fd/
	run --separate-stderr bash -c '"$0" lint --format concise \
		--config <(cat p) --policy <(cat p) x.yaml' "$GPUGATE"
	is "$status" 1
	is "$stderr" ""
	run --separate-stderr bash -c '"$0" lint --format concise \
		--baseline <(cat base.json) x.yaml' "$GPUGATE"
	is "$status" 0
	run --separate-stderr bash -c '"$0" lint --format concise \
		--cluster /dev/stdin x.yaml <state.json' "$GPUGATE"
	was_read /dev/stdin
}

@test "a pipe without a writer is an error; a late writer is read" {
	pod x.yaml
	mkfifo pipe
	state state.json
	for option in --cluster --baseline --config --policy; do
		bounded lint $option pipe x.yaml
		is "$option: $status" "$option: 2"
		holds "$stderr" "a pipe that nothing writes to"
	done
	bounded lint pipe x.yaml
	is "$status" 2
	holds "$stderr" "pipe: a pipe that nothing writes to"
	(sleep 1; exec >pipe; sleep 1; cat state.json) &
	bounded lint --format concise --cluster pipe x.yaml
	was_read pipe
	# the writer has ended: its pipe is an empty file
	run --separate-stderr bash -c ': | "$0" lint /dev/stdin' "$GPUGATE"
	is "$status" 0
}

@test "a cluster state, a policy, a baseline that never ends" {
	pod x.yaml
	for option in --cluster --baseline; do
		bounded lint $option /dev/zero x.yaml
		is "$option: $status" "$option: 2"
		holds "$stderr" "/dev/zero: larger than 256 MiB"
	done
	for option in --config --policy; do
		bounded lint $option /dev/zero x.yaml
		is "$option: $status" "$option: 2"
		holds "$stderr" "/dev/zero: error: cannot read: larger than 1 MiB"
	done
	truncate -s 257M large.json
	bounded lint --cluster large.json x.yaml
	is "$status" 2
	holds "$stderr" "large.json: larger than 256 MiB"
	# other files that were not named
	ln -s /dev/zero .gpugate.yaml
	bounded lint x.yaml
	is "$status" 2
	holds "$stderr" ".gpugate.yaml: error: cannot read: not a regular file"
	rm .gpugate.yaml
	mkdir policies
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\n' >policies/a.yaml
	mkfifo policies/b.yaml
	bounded lint --config policies x.yaml
	is "$status" 2
	holds "$stderr" "policies/b.yaml: error: cannot read: not a regular file"
}
