#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the README's two commands in a root that has only apt: debootstrap, a
# clone of HEAD, chroot. Needs root, debootstrap and a mirror: for Debian the
# one in this machine's apt sources, for Ubuntu UBUNTU_MIRROR.
# RUN='COMMAND; ...' runs these commands instead, after `make full-deps`, with
# the corpus.
#
# usage: fresh.sh BUILD [bookworm|trixie|noble]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all 'not root'
fresh=$work/root
at_exit=unmount
unmount() {
	umount "$fresh/proc" 2>/dev/null
}

suite=${2:-bookworm}
debian "$suite" "$fresh"
sources=$(<"$fresh/etc/apt/sources.list")
own_network "$fresh"
# Uses the mirror of the suite, not this machine's.
rm -rf "$fresh"/etc/apt/sources.list{,.d} "$fresh"/etc/apt/preferences{,.d}
mkdir -p "$fresh"/etc/apt/{sources.list.d,preferences.d}
echo "$sources" >"$fresh/etc/apt/sources.list"
# Installers and container runtimes write this file, debootstrap does not.
printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$fresh/etc/hosts"
mount -t proc proc "$fresh/proc" 2>/dev/null
git clone -q . "$fresh/gpugate"

inside() { # COMMAND
	if chroot "$fresh" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		http_proxy="${http_proxy-}" https_proxy="${https_proxy-}" \
		sh -ec "cd /gpugate && $1" >"$work/log" 2>&1 </dev/null; then
		pass=$((pass + 1))
		tail -3 "$work/log"
	else
		fail=$((fail + 1))
		grep -E -A12 'not ok|^FAIL|ERROR' "$work/log" | head -200
		tail -40 "$work/log"
		echo "FAIL $1"
	fi
}

# readme TARGET: runs the README command that ends in "make TARGET" in the new
# root
readme() {
	local command
	command=$(grep -o "apt-get update.*make $1\$" README.md | head -1)
	if [ -n "$command" ]; then
		inside "$command"
	else
		say_fail "README has no command that ends in make $1"
	fi
}

if [ -n "${RUN-}" ]; then
	[ ! -d "$shared" ] || cp -r "$shared" "$fresh/shared"
	inside 'apt-get update && apt-get install -y make && make full-deps'
	inside "$RUN"
else
	readme demo
	readme test
fi
finish "fresh root ($suite)"
