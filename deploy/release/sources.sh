#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Downloads Debian's sources of the libraries linked into the linter, verified
# by apt, and unpacks them to FOLDER/jansson, FOLDER/libyaml, FOLDER/pcre2. The
# machine's own package sources are not changed.
# usage: sources.sh FOLDER
set -eu
out=$1
[ ! -e "$out/done" ] || exit 0
rm -rf "$out"
mkdir -p "$out/apt/lists/partial" "$out/apt/archives/partial"
out=$(cd "$out" && pwd)

# The mirrors of this machine, for sources instead of programs.
# shellcheck disable=SC2016
apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
	'Created-By: Packages' | awk '
	$1 ~ /debian/ && $3 == "main" && !seen[$1 $2]++ {
		print "deb-src [signed-by=/usr/share/keyrings/" \
			"debian-archive-keyring.gpg]", $1, $2, $3
	}' >"$out/apt/sources.list"
[ -s "$out/apt/sources.list" ] || {
	echo 'sources.sh: apt knows no Debian mirror' >&2
	exit 1
}
apt() {
	apt-get -qq -o "Dir::Etc::SourceList=$out/apt/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$out/apt/lists" \
		-o "Dir::Cache=$out/apt" -o APT::Sandbox::User=root "$@"
}
apt update
cd "$out"
for name in jansson libyaml pcre2; do
	# A mirror may lack a file that its index lists.
	apt source --download-only "$name" 2>"$out/apt/log" || {
		suite=$(awk '{ print $4; exit }' "$out/apt/sources.list")
		echo "sources.sh: $(head -n 1 "$out/apt/log")" \
			"- taking $name of $suite, without its updates" >&2
		rm -f "$name"_*
		apt source --download-only "$name/$suite"
	}
	dpkg-source --no-check -x "$name"_*.dsc "$name" >/dev/null
done
touch "$out/done"
