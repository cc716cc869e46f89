#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the image of deploy/Dockerfile and runs its programs. The base is made
# with debootstrap, not pulled from a registry, and kept in the cache as a tar
# file. Needs root and a Debian mirror.
# usage: image.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=/dev/null
. "$tests/check/go-tools.bash"
# shellcheck source=/dev/null
. "$tests/control-plane/control-plane.sh" # free ports, waiting
base=$(go_tools_cache)/bookworm.tar

make_base() {
	[ -f "$base" ] && return
	debian bookworm "$work/base"
	rm -rf "$work"/base/var/cache/apt/archives/*.deb
	mkdir -p "${base%/*}"
	tar -C "$work/base" -cf "$base.$$" . && mv "$base.$$" "$base"
	rm -rf "$work/base"
}

# Imports the base, which the Dockerfile gets as its BASE.
import_base() {
	local container
	own_network "$work/network"
	container=$(buildah from scratch) &&
		buildah add -q "$container" "$base" / >/dev/null &&
		buildah copy -q "$container" "$work/network" / >/dev/null &&
		buildah commit -q "$container" \
			gpugate-test-base >/dev/null &&
		buildah rm "$container" >/dev/null
}

build_image() {
	local name arguments=()
	for name in http_proxy https_proxy no_proxy; do
		[ -z "${!name:-}" ] || arguments+=(--build-arg "$name=${!name}")
	done
	nice buildah bud --pull-never --layers=false "${arguments[@]}" \
		--build-arg BASE=gpugate-test-base --build-arg VERSION=9.8.7 --build-arg REVISION=abc \
		-f "$root/deploy/Dockerfile" -t gpugated-test "$root"
}

# inside COMMAND...: runs it as the image's user, in a read-only tree
inside() {
	chroot --userspec=65532:65532 "$tree" "$@"
}

config() { # KEY[/KEY...] VALUE
	python3 -c '
import json, sys
config = json.load(sys.stdin)["OCIv1"]["config"]
for key in sys.argv[1].split("/"):
    config = config[key]
print(config)
sys.exit(str(config) != sys.argv[2])' "$@" <"$work/inspect"
}

absent() { # NAME...
	local name rc=0
	for name; do
		[ -z "$(find "$tree" -name "$name" -print -quit)" ] || {
			echo "$name is there"
			rc=1
		}
	done
	return $rc
}

smaller_than() { # MEGABYTES
	local size
	size=$(du -sm "$tree" | cut -f1)
	echo "the image holds $size MB" | tee "$work/size"
	[ "$size" -lt "$1" ]
}

# Succeeds if the program serves over TLS, answers probes, drains, and exits
# with 0.
serves() {
	local dir=$tree/run/trial rc=0 port probe
	port=$(control_plane_free_port)
	probe=$(control_plane_free_port)
	mkdir -p "$dir" && chmod 777 "$dir"
	inside /usr/bin/gpugated certs --dir /run/trial --dns localhost || return
	# Without `inside`, so that the signal reaches the program, not a shell.
	chroot --userspec=65532:65532 "$tree" /usr/bin/gpugated \
		--listen "127.0.0.1:$port" --probe-listen "127.0.0.1:$probe" \
		--tls-cert /run/trial/tls.crt --tls-key /run/trial/tls.key \
		--drain 5 &
	server=$!
	control_plane_until 10 inside /usr/bin/gpugated selftest \
		--address "127.0.0.1:$port" || rc=1
	python3 -c 'import sys, urllib.request
for path in ("healthz", "readyz", "metrics"):
    url = "http://127.0.0.1:" + sys.argv[1] + "/" + path
    assert urllib.request.urlopen(url).status == 200' "$probe" || rc=1
	kill "$server"
	wait "$server" || rc=1
	server=
	return $rc
}

[ "$(id -u)" = 0 ] || skip_all 'not root'
need_program buildah
# All images are in the test's own folder.
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/graph"\nrunroot = "%s/run"\n' \
	"$work" "$work" >"$work/storage.conf"
export CONTAINERS_STORAGE_CONF=$work/storage.conf STORAGE_DRIVER=vfs
export BUILDAH_ISOLATION=chroot
tree='' server=''
at_exit=release
release() {
	[ -z "$server" ] || kill "$server"
	[ -z "$tree" ] || buildah umount -a >/dev/null 2>&1
}

make_base
import_base >"$work/log" 2>&1 || {
	tail -n 5 "$work/log"
	skip_all 'buildah does not work here'
}
check 'the image builds' build_image
[ $fail -eq 0 ] || finish image
buildah inspect --type image gpugated-test >"$work/inspect"
check 'a numeric user' config User 65532:65532
check 'the image runs the webhook' config Entrypoint "['/usr/bin/gpugated']"
for label in title licenses version revision created source base.name; do
	check "label $label" grep -q "org.opencontainers.image.$label" "$work/inspect"
done
check 'the version is the requested one' \
	config Labels/org.opencontainers.image.version 9.8.7
container=$(buildah from --pull-never gpugated-test)
tree=$(buildah mount "$container")
check 'gpugated tests itself' inside /usr/bin/gpugated selftest
check 'gpugated knows its version' sh -c \
	"chroot '$tree' /usr/bin/gpugated version | grep -F 9.8.7"
check 'gpugate lints' sh -c \
	"chroot --userspec=65532:65532 '$tree' /usr/bin/gpugate lint --isolated - <'$root/deploy/base/deployment.yaml'"
check 'it serves, answers probes and ends after open requests' serves
check 'no shell, no package manager' absent sh bash dash busybox apt dpkg perl
check 'no set-uid programs' test -z "$(find "$tree" -perm /6000 -print -quit)"
check 'licenses of the libraries' test -n \
	"$(find "$tree/usr/share/doc" -path '*gnutls*/copyright' -print -quit)"
check 'it is small' smaller_than 60
[ ! -f "$work/size" ] || cat "$work/size"
buildah umount "$container" >/dev/null
tree=
finish image
