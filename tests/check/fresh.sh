#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's two commands in a root that has only apt: debootstrap, a clone
# of HEAD, chroot. Needs root, debootstrap and a Debian mirror (taken from
# this machine's own apt sources).
set -u
skip() {
	echo "skip: $1"
	exit 0
}
[ "$(id -u)" = 0 ] || skip 'not root'
command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap \
	>/dev/null 2>&1 || skip 'no debootstrap'
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 2>/dev/null |
	awk '$2 == "bookworm" { print $1; exit }')
[ -n "$mirror" ] || skip 'no bookworm mirror in the apt sources'
root=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null; rm -rf "$root"' EXIT
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
	{
		tail -5 "$root.log"
		skip 'debootstrap did not work here'
	}
cp /etc/resolv.conf "$root/etc/"
# As every installer and container runtime writes it.
printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$root/etc/hosts"
cp -r /etc/apt/. "$root/etc/apt/"
[ -d /usr/share/keyrings ] && cp -r /usr/share/keyrings/. "$root/usr/share/keyrings/"
[ -d /usr/local/share/ca-certificates ] && cp -r /usr/local/share/ca-certificates/. \
	"$root/usr/local/share/ca-certificates/" 2>/dev/null
mkdir -p "$root/etc/ssl/certs" && cp -rL /etc/ssl/certs/. "$root/etc/ssl/certs/" 2>/dev/null
mount -t proc proc "$root/proc" 2>/dev/null
git clone -q . "$root/gpugate"
pass=0 fail=0
for target in demo test; do
	command=$(grep -o "apt-get update.*make $target\$" README.md | head -1)
	if [ -z "$command" ]; then
		echo "FAIL README has no command that ends in make $target"
		fail=$((fail + 1))
	elif chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		http_proxy="${http_proxy-}" https_proxy="${https_proxy-}" \
		sh -c "cd /gpugate && $command" >"$root.log" 2>&1 </dev/null; then
		pass=$((pass + 1))
		tail -3 "$root.log"
	else
		fail=$((fail + 1))
		grep -E -A12 'not ok|^FAIL|ERROR' "$root.log" | head -200
		tail -40 "$root.log"
		echo "FAIL $command"
	fi
done
echo "fresh root: $pass passed, $fail failed"
[ "$fail" -eq 0 ]
