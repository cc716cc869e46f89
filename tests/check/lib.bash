# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
#
# What checks share. A check sources this first; its first argument is the
# build folder, or a program in it (default: build). It gets
#   root, tests             absolute paths; the current folder is root
#   build gpugate gpugated oracle
#   shared corpus           which need not be there: see need
#   work                    a folder of its own, removed at the end
# and the functions below. A line `N passed, M failed` is counted by
# tests/run.sh, and so is each `skip: WHY`.
set -u
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tests=$root/tests
build=${1:-$root/build}
[ -d "$build" ] || build=$(dirname "$build")
build=$(cd "$build" && pwd) || exit 2
gpugate=$build/gpugate
gpugated=$build/gpugated
oracle=$build/tests/oracle/oracle
cd "$root" || exit 2
shared=${GPUGATE_SHARED:-$root/../shared}
corpus=$shared/corpus
work=$(mktemp -d) || exit 2
at_exit=: # what else is to be done then
trap '$at_exit; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
pass=0 fail=0 skipped=0

# check NAME COMMAND...: counts, and shows the last words of what fails: its
# own, and what it was about in $work/log.
check() {
	local name=$1
	shift
	if "$@" >"$work/check.log" 2>&1; then
		pass=$((pass + 1))
		return
	fi
	fail=$((fail + 1))
	echo "FAIL $name: $*" | cut -c1-2000
	cat "$work/check.log" "$work/log" 2>/dev/null | tail -n 30 |
		cut -c1-2000 | sed 's/^/    /'
}

say_fail() {
	fail=$((fail + 1))
	echo "FAIL $1" >&2
}

skip() {
	skipped=$((skipped + 1))
	echo "skip: $1"
}

# finish NAME: the sum, and the exit.
finish() {
	echo "$1: $pass passed, $fail failed"
	[ "$fail" -eq 0 ]
	exit
}

# need FILE-OR-FOLDER: without it the whole check is skipped.
need() {
	[ -e "$1" ] || {
		echo "skip: $1 is absent"
		exit 0
	}
}

go_is_new() {
	local version
	version=$(go env GOVERSION 2>/dev/null) || return 1
	printf '%s\n' go1.26 "$version" | sort -CV
}

# need_control_plane OPTIONS...: a real API server in $work/cluster.
# Sets python to one that has PyYAML: the system's, or an environment's.
need_pyyaml() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/ci
	python=python3
	python3 -c 'import yaml' 2>/dev/null && return
	python=$cache/bin/python
	"$python" -c 'import yaml' 2>/dev/null || {
		python3 -m venv "$cache" &&
			"$python" -m pip install -q pyyaml
	} >/dev/null 2>&1 || {
		echo 'skip: no network to install PyYAML'
		exit 0
	}
}
need_control_plane() {
	# shellcheck source=/dev/null
	. "$tests/control-plane/control-plane.sh"
	at_exit=control_plane_stop
	control_plane_start "$work/cluster" "$@"
	case $? in
	0) ;;
	77)
		echo "skip: no control plane (Go, and $shared/crds)"
		exit 0
		;;
	*) exit 1 ;;
	esac
}
