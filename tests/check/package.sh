#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of this build with dpkg, uses them as
# deploy/release/README.md says, and purges them, in a temporary root that
# overlays this machine's. Also tests the wheel: pip installs the files that
# `make install` puts below share/.
# usage: package.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
for program in dpkg-deb dpkg-shlibdeps systemd-sysusers unshare; do
	need_program "$program"
done
stage=$work/stage
arch=$(dpkg --print-architecture)
make -s install RELEASED=true OPTIMIZED="$build" DESTDIR="$stage" PREFIX=/usr \
	>"$work/log" 2>&1 || say_fail 'make install'
export STAGE=$stage RELEASE_DIR=$work VERSION=1.0.0 SOURCE_DATE_EPOCH=0
export RELEASE_URL=https://git.example.com/gpugate
export MAINTAINER='A <a@example.com>'
check 'packages' deploy/packaging/deb.sh

# --- the wheel --------------------------------------------------------------

GPUGATE_BINARY=$gpugate python3 deploy/python/gpugate_build.py wheel "$work" \
	>"$work/log" 2>&1 || say_fail 'a wheel'
python3 -m venv "$work/venv" >"$work/log" 2>&1 &&
	"$work/venv/bin/pip" install -q --no-index "$work"/gpugate-*.whl \
		>"$work/log" 2>&1 || say_fail 'pip install'
for file in man/man1/gpugate.1 man/man5/gpugate-policy.5 \
	bash-completion/completions/gpugate zsh/site-functions/_gpugate \
	fish/vendor_completions.d/gpugate.fish; do
	check "the wheel's $file" cmp "$stage/usr/share/$file" \
		"$work/venv/share/$file"
done

# --- the packages -----------------------------------------------------------

# The commands of the page, without the service manager, which is missing here.
sed -n '/^    gpugated certs --dir/,/^$/s/^    //p' deploy/release/README.md |
	grep -v systemctl >"$work/recipe"
check 'the page has the commands' [ "$(wc -l <"$work/recipe")" -eq 2 ]
cat >"$work/inside" <<'END2'
set -e
cd "$1"
dpkg -i --force-depends gpugate_*.deb gpugated_*.deb >/dev/null
id gpugated >/dev/null && echo 'a user'
gpugate lint --isolated "$2/deploy/examples/good" >/dev/null && echo lints
sh -e ./recipe >/dev/null
setpriv --reuid gpugated --regid gpugated --clear-groups \
	cat /etc/gpugated/tls.key /etc/gpugated/policy/policy.yaml >/dev/null &&
	echo 'the key and the policy are read'
setpriv --reuid gpugated --regid gpugated --clear-groups \
	cat /etc/gpugated/ca.key >/dev/null 2>&1 || echo 'but not the key of the CA'
touch /etc/gpugated/kubeconfig
dpkg -r gpugated >/dev/null
[ -e /etc/gpugated/ca.key ] && id gpugated >/dev/null && echo 'removed: stays'
dpkg -P gpugated >/dev/null 2>&1
ls /etc/gpugated
! id gpugated 2>/dev/null && echo 'no user'
rm /etc/gpugated/kubeconfig
dpkg -i --force-depends gpugated_*.deb >/dev/null
dpkg -P gpugated gpugate >/dev/null 2>&1
[ ! -e /etc/gpugated ] && echo 'nothing of it'
END2
cat >"$work/want" <<'END2'
a user
lints
the key and the policy are read
but not the key of the CA
removed: stays
kubeconfig
no user
nothing of it
END2
mkdir "$work/over" "$work/top"
# overlay COMMAND...: runs it in a temporary root that overlays this one and
# ends with the command.
overlay() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'over=$1 top=$2 && shift 2 &&
		mount -t tmpfs none "$over" && mkdir "$over/up" "$over/work" &&
		mount -t overlay -o "lowerdir=/,upperdir=$over/up,workdir=$over/work" \
			none "$top" && mount --rbind /proc "$top/proc" &&
		mount --bind /dev "$top/dev" &&
		exec chroot "$top" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' \
		sh "$work/over" "$work/top" "$@"
}
if overlay true 2>/dev/null; then
	overlay sh "$work/inside" "$work" "$root" >"$work/got" 2>"$work/log" ||
		cat "$work/log"
	check 'installed, used, removed and purged' diff "$work/want" "$work/got"
	cat "$work/check.log"
else
	skip 'no root of its own: the packages are not installed'
fi
finish package
