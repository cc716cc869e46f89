# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
#
# Functions that checks share. A check sources this first. Its first argument is
# the build folder, or a program in it (default: build). It gets
#   root, tests    absolute paths; the current folder is root
#   build gpugate gpugated oracle
#   shared corpus  which may be missing: see need
#   work           a temporary folder, removed at the end
# and the functions below. A line `N passed, M failed` is counted by
# tests/run.sh, and so is each `skip: WHY`.
set -u
export LC_ALL=C
# Programs on PATH change nothing, unless a check such as render.sh wants them.
export GPUGATE_RENDER=never
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
at_exit=: # commands to run at the exit
trap '$at_exit; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
pass=0 fail=0 skipped=0

# check NAME COMMAND...: counts the result. After a failure it shows the end of
# the command's output and of $work/log.
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

# finish NAME: prints the counts and ends the check; status 1 if anything failed.
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

# skip_all WHY: skips the rest of the check.
skip_all() {
	skip "$1"
	exit 0
}

# need_program NAME: installs it, or the rest of the check is skipped.
need_program() {
	command -v "$1" >/dev/null ||
		apt-get -o DPkg::Lock::Timeout=120 install -y -qq \
			--no-install-recommends "$1" \
			>/dev/null 2>&1 || skip_all "no $1"
}

# Copies the settings with which a root reaches the machine's proxy, mirror and
# name server.
own_network() { # ROOT
	mkdir -p "$1/etc/apt" "$1/etc/ssl/certs" "$1/usr/share/keyrings" \
		"$1/usr/local/share/ca-certificates"
	cp /etc/resolv.conf "$1/etc/"
	cp -r /etc/apt/. "$1/etc/apt/"
	cp -r /usr/share/keyrings/. "$1/usr/share/keyrings/" 2>/dev/null
	cp -r /usr/local/share/ca-certificates/. \
		"$1/usr/local/share/ca-certificates/" 2>/dev/null
	cp -rL /etc/ssl/certs/. "$1/etc/ssl/certs/" 2>/dev/null || :
}

# debian SUITE FOLDER: installs the smallest Debian or Ubuntu from this machine's mirror,
# or Ubuntu from UBUNTU_MIRROR. Debian has no key for Ubuntu, so there only the packages
# that apt fetches later are verified.
debian() {
	local options=(--variant=minbase) script=()
	need_program debootstrap
	case $1 in
	bookworm | trixie)
		mirror=$(apt-get indextargets --format '$(SITE)' 2>/dev/null |
			grep -m 1 '/debian/*$')
		;;
	*)
		mirror=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}
		options+=(--no-check-gpg --components=main,universe)
		[ -e "/usr/share/debootstrap/scripts/$1" ] ||
			script=(/usr/share/debootstrap/scripts/jammy)
		;;
	esac
	[ -n "$mirror" ] || skip_all 'no Debian mirror in the apt sources'
	debootstrap "${options[@]}" "$1" "$2" "$mirror" "${script[@]}" \
		>"$work/log" 2>&1 || {
		tail -n 5 "$work/log"
		skip_all 'debootstrap did not work here'
	}
}

go_is_new() {
	local version
	version=$(go env GOVERSION 2>/dev/null) || return 1
	printf '%s\n' go1.26 "$version" | sort -CV
}

# python_with FOLDER TRY PACKAGE...: makes a Python environment with the packages
# in FOLDER, unless one is there in which the Python code TRY succeeds. A second
# caller, of this run or another one, waits for the first.
python_with() {
	local folder=$1 try=$2
	shift 2
	"$folder/bin/python" -c "$try" 2>/dev/null && return
	mkdir -p "${folder%/*}"
	(
		flock 9
		"$folder/bin/python" -c "$try" && exit
		python3 -m venv "$folder" &&
			"$folder/bin/python" -m pip install -q "$@"
	) 9>"$folder.lock" >"$work/log" 2>&1
}

# Sets python to one that has PyYAML: the system's, or an environment's.
need_pyyaml() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/ci
	python=python3
	python3 -c 'import yaml' 2>/dev/null && return
	python=$cache/bin/python
	python_with "$cache" 'import yaml' pyyaml ||
		skip_all 'no network to install PyYAML'
}

# need_control_plane OPTIONS...: starts a real API server in $work/cluster, or
# skips the rest of the check.
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
