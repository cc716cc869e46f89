# SPDX-License-Identifier: Apache-2.0
# Common to all tests of the command line: an empty folder to work in, no
# settings of the caller, and a manifest with exactly one finding (an error).

setup() {
	GPUGATE=${GPUGATE:-$BATS_TEST_DIRNAME/../../build/gpugate}
	for name in $(env | sed -n 's/^\(GPUGATE_[A-Z_]*\)=.*/\1/p'); do
		unset "$name"
	done
	unset NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE GITHUB_ACTIONS
	export TERM=dumb LC_ALL=C.UTF-8
	# Rendering depends on the programs on PATH: only render.bats turns it on
	export GPUGATE_RENDER=never
	# git reads no configuration of the caller
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	[ -x "$GPUGATE" ] || { echo "no program: $GPUGATE" >&2; return 1; }
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# pod FILE [NAME]: writes a Pod with one error, priority-integer-set, on line 7.
pod() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<EOF
apiVersion: v1
kind: Pod
metadata:
  name: ${2:-train}
  namespace: research
spec:
  priority: 5
  containers:
  - name: main
    image: registry.example.com/train:1
EOF
}

# asking_pod GPUS: prints a Pod that requests this number of GPUs.
asking_pod() {
	cat <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  containers:
		  - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: $1}}}
	END
}

# good FILE: writes an object without findings.
good() {
	mkdir -p "$(dirname "$1")"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n' >"$1"
}

# lint ARGUMENTS: runs gpugate lint with the concise format. Standard output is in
# $output, standard error in $stderr.
lint() {
	run --separate-stderr "$GPUGATE" lint --format concise "$@"
}

# Runs the program as a user to whom file modes apply: if the user is root, as nobody.
# Files that must not be readable or writable must then belong to nobody.
lint_unprivileged() {
	if [ "$(id -u)" != 0 ]; then
		lint "$@"
		return
	fi
	setpriv --reuid=65534 --clear-groups test -r . ||
		skip "the test folder is not open to others"
	run --separate-stderr setpriv --reuid=65534 --clear-groups \
		"$GPUGATE" lint --format concise "$@"
}

# Sets the mode of a file, and gives it and the current folder to the user of
# lint_unprivileged.
give_away() { # FILE MODE
	chmod "$2" "$1"
	[ "$(id -u)" != 0 ] || chown 65534 . "$1"
}

# Prints the paths of the findings, each once, on one line.
paths() {
	echo "$output" | sed -n 's/:[0-9]*:[0-9]*: .*//p' | uniq | tr '\n' ' ' |
		sed 's/ $//'
}

is() {
	if [ "$1" != "$2" ]; then
		printf 'is:     %s\nwanted: %s\n' "$1" "$2" >&2
		return 1
	fi
}

holds() {
	case $1 in
	*"$2"*) ;;
	*)
		printf '`%s` is not in: %s\n' "$2" "$1" >&2
		return 1
		;;
	esac
}

holds_not() {
	case $1 in
	*"$2"*)
		printf '`%s` is in: %s\n' "$2" "$1" >&2
		return 1
		;;
	esac
}
