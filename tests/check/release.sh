#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a release for this machine's architecture twice in different folders,
# which must give the same bytes. Unpacks, lints and installs it with the tools
# that users have. Runs the steps of the workflow that publishes it. Only `make
# release` builds artifacts for other systems.
# usage: release.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
export PRE_COMMIT_COLOR=never RELEASE_SYSTEMS=
unset CDPATH SKIP GPUGATE_BINARY GPUGATE_LICENSES SOURCE_DATE_EPOCH MAKEFLAGS
version=$(sed -n 's/^VERSION := //p' Makefile)

holds() { grep -qF -- "$2" "$1"; }

# --- one version ------------------------------------------------------------

# Prints every place that states the version, as FILE:MATCH.
copies() {
	grep -oHE '(^version|^appVersion|^ARG VERSION|gpugate==|"version"|gpugated?:|image\.version"?|app\.kubernetes\.io/version|rev|ref)[:=]? ?v?"?[0-9]+\.[0-9]+\.[0-9]+' \
		deploy/chart/gpugate/Chart.yaml deploy/Dockerfile \
		deploy/pre-commit-mirror/pyproject.toml \
		deploy/editors/vscode/package.json deploy/argocd/Dockerfile \
		deploy/base/*.yaml deploy/components/*/*.yaml | grep -v 'pyproject.toml:version'
}
copies >"$work/copies"
check 'places that state the version' \
	[ "$(cut -d: -f1 "$work/copies" | sort -u | wc -l)" -ge 9 ]
check 'state the same one' \
	[ "$(grep -cvF "$version" "$work/copies")" -eq 0 ]
check 'the mirror has the hooks' cmp .pre-commit-hooks.yaml \
	deploy/pre-commit-mirror/.pre-commit-hooks.yaml

# --- two builds -------------------------------------------------------------

# tree FOLDER: copies this tree as a repository with one commit.
tree() {
	mkdir -p "$1"
	git ls-files -z -co --exclude-standard |
		tar -c --null -T - --ignore-failed-read 2>/dev/null |
		tar -x -C "$1"
	git -C "$1" init -q -b main
	git -C "$1" add -A
	GIT_AUTHOR_DATE='2026-01-31T08:00:00Z' \
		GIT_COMMITTER_DATE='2026-01-31T08:00:00Z' \
		git -C "$1" commit -q -m tree
	git -C "$1" tag "v$version"
}
tree "$work/one"
tree "$work/another/place"
release=$work/one/build/release
commit=$(git -C "$work/one" describe --always --exclude='*')
make -C "$work/one" release >"$work/log" 2>&1
check 'make release' [ -f "$release/SHA256SUMS" ]
check 'shows what it does' [ "$(grep -cE '^  (CC|DEB|WHEEL) ' "$work/log")" \
	-gt 300 ]
[ "$fail" -eq 0 ] || finish release
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 \
	make -C "$work/another/place" release >"$work/log" 2>&1)
check 'the same bytes in another folder' diff "$release/SHA256SUMS" \
	"$work/another/place/build/release/SHA256SUMS"
check 'checksums of all files' [ "$(find "$release" -type f | wc -l)" \
	-eq "$(($(wc -l <"$release/SHA256SUMS") + 1))" ]
check 'are right' sh -c "cd '$release' && sha256sum --quiet -c SHA256SUMS"

# --- the tarball ------------------------------------------------------------

arch=$(dpkg --print-architecture)
tar -xf "$release/gpugate-$version-linux-$arch.tar.gz" -C "$work"
top=$work/gpugate-$version-linux-$arch
check 'version and commit' \
	[ "$("$top/gpugate" version)" = "gpugate $version ($commit)" ]
check 'it is static' sh -c "! readelf -l '$top/gpugate' | grep -q INTERP"
check 'it has no symbols' sh -c "! readelf -S '$top/gpugate' | grep -q symtab"
"$top/gpugate" lint --isolated deploy/examples/bad >"$work/log" 2>&1
check 'it lints' [ $? -eq 1 ]
for file in LICENSE licenses/libyaml-dev.txt man/gpugate.1 \
	man/gpugate-policy.5 completions/gpugate.bash completions/_gpugate \
	completions/gpugate.fish; do
	check "$file" [ -s "$top/$file" ]
done

# --- the Debian packages ----------------------------------------------------

deb=$release/gpugate_${version}_$arch.deb
service=$release/gpugated_${version}_$arch.deb
command -v lintian >/dev/null ||
	apt-get install -y -qq --no-install-recommends lintian >/dev/null 2>&1
if command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error,warning "$deb" "$service" \
		>"$work/log" 2>&1
	check 'lintian' [ $? -eq 0 ]
	check 'lintian is silent' [ ! -s "$work/log" ]
else
	skip 'no lintian'
fi
mkdir "$work/deb"
dpkg-deb -x "$deb" "$work/deb"
dpkg-deb -x "$service" "$work/deb"
check 'gpugate of the package' cmp "$top/gpugate" "$work/deb/usr/bin/gpugate"
check 'kubectl gpugate' [ -x "$work/deb/usr/bin/kubectl-gpugate" ]
check 'gpugated of the package' "$work/deb/usr/bin/gpugated" selftest
check 'its policy' "$top/gpugate" lint \
	--config "$work/deb/etc/gpugated/policy/policy.yaml" deploy/examples/good
if command -v systemd-analyze >/dev/null; then
	unit=$work/deb/lib/systemd/system/gpugated.service
	sed "s|=/usr/bin/gpugated|=$work/deb/usr/bin/gpugated|" "$unit" \
		>"$work/gpugated.service"
	check 'the unit' sh -c "systemd-analyze verify --man=no \
		'$work/gpugated.service' 2>&1 | grep -F gpugated.service; \
		[ \$? -eq 1 ]"
else
	skip 'no systemd-analyze'
fi

# --- images, bills of material ----------------------------------------------

# image PROGRAM: prints its tree, after comparing every digest.
image() {
	local layout=$work/layout-$1
	mkdir "$layout" "$work/image-$1"
	tar -xf "$release/$1-$version-linux-$arch.oci.tar" -C "$layout" || return
	(cd "$layout/blobs/sha256" && for blob in *; do
		echo "$blob  $blob"
	done | sha256sum --quiet -c) || return
	python3 -c '
import json, sys
def blob(reference):
    return sys.argv[1] + "/blobs/" + reference["digest"].replace(":", "/")
(reference,) = json.load(open(sys.argv[1] + "/index.json"))["manifests"]
manifest = json.load(open(blob(reference)))
config = json.load(open(blob(manifest["config"])))["config"]
assert config["User"] == "65532:65532", config["User"]
assert config["Entrypoint"] == ["/usr/bin/" + sys.argv[2]]
assert config["Labels"]["org.opencontainers.image.version"] == sys.argv[3]
print(blob(manifest["layers"][0]))' "$layout" "$1" "$version" >"$work/layer" &&
		tar -xf "$(cat "$work/layer")" -C "$work/image-$1"
}
check 'image of gpugate' image gpugate
check 'image of gpugated' image gpugated
if [ "$(id -u)" = 0 ]; then
	inside() {
		local tree=$work/image-$1 command=/usr/bin/$1
		shift
		chroot --userspec=65532:65532 "$tree" "$command" "$@"
	}
	check 'gpugate runs inside' inside gpugate rules
	check 'gpugated runs inside' inside gpugated selftest
else
	skip 'not root: no chroot into the images'
fi
check 'no shell inside' \
	[ -z "$(find "$work"/image-* -name 'sh' -o -name '*bash*')" ]
bills() { # STEM LEAST TREE: the formats list the same packages; TREE has licenses
	python3 -c '
import json, sys
stem, least, tree = sys.argv[1:]
spdx = json.load(open(stem + ".spdx.json"))
cyclonedx = json.load(open(stem + ".cdx.json"))
names = sorted(item["name"] for item in spdx["packages"][1:])
assert names == sorted(item["name"] for item in cyclonedx["components"])
assert len(names) >= int(least), names
for name in names if tree else ():
    open(f"{tree}/usr/share/doc/{name}/copyright")' "$@"
}
check 'bill of gpugate' bills "$release/gpugate-$version-linux-$arch" 4 ''
check 'bill of gpugated' bills "$release/gpugated-$version-linux-$arch" 20 \
	"$work/image-gpugated"

# Validators of the two formats.
venv=$cache/bills
valid='import cyclonedx.validation.json, jsonschema, spdx_tools'
python_with "$venv" "$valid" spdx-tools 'cyclonedx-python-lib[json-validation]'
cyclonedx() {
	"$venv/bin/python" -c '
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
validator = JsonStrictValidator(SchemaVersion.V1_5)
sys.exit(validator.validate_str(open(sys.argv[1]).read()))' "$1"
}
if "$venv/bin/python" -c "$valid" 2>/dev/null; then
	for bill in "$release"/*.spdx.json; do
		check "${bill##*/}" "$venv/bin/pyspdxtools" -i "$bill"
	done
	for bill in "$release"/*.cdx.json; do
		check "${bill##*/}" cyclonedx "$bill"
	done
else
	skip 'no network to install spdx-tools and cyclonedx-python-lib'
fi

# --- the chart, krew ---------------------------------------------------------

# shellcheck source=/dev/null
. "$tests/check/go-tools.bash"
for helm in "$(go_tools_cache)"/helm4-v* "$(go_tools_cache)"/helm3-v*; do
	[ ! -x "$helm" ] || break
done
if [ -x "$helm" ]; then
	check 'the chart' "$helm" lint --strict --kube-version 1.31 \
		"$release/gpugate-$version.tgz"
	"$helm" package -d "$work" deploy/chart/gpugate >"$work/log" 2>&1
	tar -tf "$work/gpugate-$version.tgz" | grep -v '/$' | sort >"$work/want"
	tar -tf "$release/gpugate-$version.tgz" | grep -v '/$' | sort \
		>"$work/got"
	check 'holds what helm packs' diff "$work/want" "$work/got"
else
	skip 'no helm yet: check-deploy builds it'
fi
check 'krew: the checksum of the tarball' holds "$release/gpugate.yaml" \
	"sha256: $(sha256sum <"$release/gpugate-$version-linux-$arch.tar.gz" |
		cut -d' ' -f1)"

# --- the wheel --------------------------------------------------------------

python3 -m venv "$work/venv" >/dev/null 2>&1 || {
	skip 'no python3 with venv'
	finish release
}
env PATH="$work/venv/bin" "$work/venv/bin/pip" install --no-index \
	--find-links "$release" gpugate >"$work/log" 2>&1
check 'pip install, no compiler in PATH' \
	cmp "$work/venv/bin/gpugate" "$top/gpugate"

# --- the pre-commit mirror --------------------------------------------------

venv=$cache/precommit
"$venv/bin/pre-commit" --version >/dev/null 2>&1 || {
	python3 -m venv "$venv" && "$venv/bin/pip" install -q pre-commit
} >"$work/log" 2>&1
links=$cache/setuptools
[ -n "$(find "$links" -name '*.whl' 2>/dev/null)" ] ||
	"$work/venv/bin/pip" download -q -d "$links" setuptools >"$work/log" 2>&1
if [ -x "$venv/bin/pre-commit" ] &&
	[ -n "$(find "$links" -name '*.whl' 2>/dev/null)" ]; then
	cp -r deploy/pre-commit-mirror "$work/mirror"
	git -C "$work/mirror" init -q -b main
	git -C "$work/mirror" add -A
	git -C "$work/mirror" commit -q -m mirror
	cp -r deploy/examples/bad "$work/user"
	git -C "$work/user" init -q -b main
	git -C "$work/user" add -A
	cd "$work/user" || exit 1
	begin=$(date +%s%N)
	env PRE_COMMIT_HOME="$work/hooks" PIP_NO_INDEX=1 \
		PIP_FIND_LINKS="$release $links" CC=false "$venv/bin/pre-commit" \
		try-repo "$work/mirror" gpugate --all-files >"$work/log" 2>&1
	check 'try-repo of the mirror' [ $? -eq 1 ]
	echo "mirror, cold: $((($(date +%s%N) - begin) / 1000000)) ms"
	check 'lints' holds "$work/log" '[shm-missing]'
	cd "$root" || exit 1
else
	skip 'no network to install pre-commit and setuptools'
fi

# --- the workflow -----------------------------------------------------------

# Runs the steps of the workflow in a tree with the tag; publishing is only
# recorded.
need_pyyaml
mkdir "$work/bin" "$work/home"
cat >"$work/bin/gh" <<'EOF'
#!/bin/sh
printf '%s\n' "$@" >"$GH_LOG"
EOF
printf '#!/bin/sh\n' >"$work/bin/apt-get"
chmod +x "$work/bin/gh" "$work/bin/apt-get"
workflow() { # TAG
	"$python" -c '
import sys, yaml
(job,) = yaml.safe_load(open(".github/workflows/release.yml"))["jobs"].values()
for step in job["steps"]:
    if "run" in step:
        print(step["run"])' >"$work/steps"
	(cd "$work/one" && unset GIT_CONFIG_GLOBAL && env GITHUB_REF_NAME="$1" \
		GITHUB_WORKSPACE="$work/one" GH_LOG="$work/gh" \
		HOME="$work/home" PATH="$work/bin:$PATH" \
		bash --noprofile --norc -eo pipefail "$work/steps")
}
workflow "v$version" >"$work/log" 2>&1
check 'the workflow' [ $? -eq 0 ]
check 'publishes the tag' holds "$work/gh" "v$version"
check 'with every file' [ "$(grep -c '^build/release/' "$work/gh")" -eq \
	"$(find "$release" -type f | wc -l)" ]
check 'the same bytes again' diff "$release/SHA256SUMS" \
	"$work/another/place/build/release/SHA256SUMS"
check 'with notes' holds "$work/one/build/release-work/notes.md" '- '
rm "$work/gh"
workflow v9.9.9 >"$work/log" 2>&1
check 'a wrong tag' [ ! -e "$work/gh" ]
check 'is named' holds "$work/log" 'the tag is v9.9.9'
finish release
