#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages gpugate and gpugated from $STAGE, in $RELEASE_DIR.
set -eu
here=$(dirname "$0")
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
date=$(date -R -u -d "@$SOURCE_DATE_EPOCH")

# put MODE SOURCE TARGET: copies a file into the tree of the package.
put() {
	install -D -m "$1" "$2" "$root/$3"
}

# fill FILE: prints it with its @WORDS@ replaced.
fill() {
	sed -e "s|@VERSION@|$VERSION|; s|@ARCH@|$arch|; s|@SIZE@|${size-}|" \
		-e "s|@MAINTAINER@|$MAINTAINER|; s|@URL@|$RELEASE_URL|" \
		-e "s|@DEPENDS@|${depends-}|; s|@BUILT_USING@|${using-}|" "$1"
}

# documents PAGE...: writes the copyright, the changelog and these manual pages.
documents() {
	doc=$root/usr/share/doc/$package
	mkdir -p "$doc"
	fill "$here/copyright" >"$doc/copyright"
	printf '%s (%s) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' \
		"$package" "$VERSION" \
		"Release $VERSION: $RELEASE_URL/releases/tag/v$VERSION" \
		"$MAINTAINER" "$date" | gzip -n -9 >"$doc/changelog.gz"
	for page in "$@"; do
		section=${page##*.}
		mkdir -p "$root/usr/share/man/man$section"
		gzip -n -9 <"$STAGE/usr/share/man/man$section/$page" \
			>"$root/usr/share/man/man$section/$page.gz"
	done
}

# completions COMMAND...: copies the completions of these commands to the folders
# of Debian's shells.
completions() {
	bash=usr/share/bash-completion/completions
	zsh=usr/share/zsh/vendor-completions
	fish=usr/share/fish/vendor_completions.d
	mkdir -p "$root/$bash" "$root/$zsh" "$root/$fish"
	for name; do
		cp -P "$STAGE/$bash/$name" "$root/$bash/"
		cp -P "$STAGE/$fish/$name.fish" "$root/$fish/"
	done
	cp "$STAGE/usr/share/zsh/site-functions/_$package" "$root/$zsh/"
}

# Writes control files and checksums, sets modes and times, and makes the package.
build() {
	size=$(du -sk --apparent-size "$root" | cut -f1)
	mkdir -p "$root/DEBIAN"
	fill "$here/$package.control" >"$root/DEBIAN/control"
	(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' |
		sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
	find "$root" -type d -exec chmod 755 {} +
	find "$root" -type f ! -path '*/bin/*' ! -path '*/DEBIAN/*' \
		-exec chmod 644 {} +
	find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group -Zxz --build "$root" \
		"$RELEASE_DIR/${package}_${VERSION}_$arch.deb" >/dev/null
}

package=gpugate root=$work/gpugate
put 755 "$STAGE/usr/bin/gpugate" usr/bin/gpugate
for file in "$STAGE"/usr/bin/kubectl*; do
	cp -P "$file" "$root/usr/bin/"
done
completions gpugate kubectl-gpugate
mkdir -p "$root/usr/share/gpugate"
cp -r "$STAGE/usr/share/gpugate/schemas" "$root/usr/share/gpugate/"
put 644 "$here/gpugate.lintian-overrides" usr/share/lintian/overrides/gpugate
documents gpugate.1 gpugate-policy.5
for link in "$root"/usr/bin/kubectl*; do
	ln -s gpugate.1.gz "$root/usr/share/man/man1/${link##*/}.1.gz"
done
using=$(dpkg-query -W \
	-f '${source:Package} (= ${source:Version}), ' \
	libc6-dev libjansson-dev libpcre2-dev libyaml-dev | sed 's/, $//')
build

package=gpugated root=$work/debian/gpugated
mkdir -p "$root/DEBIAN"
put 755 "$STAGE/usr/bin/gpugated" usr/bin/gpugated
put 644 "$here/gpugated.service" lib/systemd/system/gpugated.service
put 644 "$here/gpugated.sysusers" usr/lib/sysusers.d/gpugated.conf
put 644 "$here/gpugated.default" etc/default/gpugated
put 644 "$here/policy.yaml" etc/gpugated/policy/policy.yaml
completions gpugated
documents gpugated.8
printf 'Source: gpugate\n\nPackage: gpugated\nArchitecture: any\n' \
	>"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/gpugated" |
	sed 's/^shlibs:Depends=//')
printf '/%s\n' etc/default/gpugated etc/gpugated/policy/policy.yaml \
	>"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do
	put 755 "$here/gpugated.$script" "DEBIAN/$script"
done
build
