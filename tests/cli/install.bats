# SPDX-License-Identifier: Apache-2.0
# Targets of make that a newcomer needs: install, uninstall, demo and
# publish-check, most of them with a finished build.
bats_require_minimum_version 1.5.0
load helper

@test "uninstall removes everything that install wrote" {
	built=${GPUGATE%/*}
	make -C "$BATS_TEST_DIRNAME/../.." install RELEASED=true \
		OPTIMIZED="$built" DESTDIR="$PWD/root" >/dev/null
	[ "$(find root ! -type d | wc -l)" -gt 10 ]
	make -C "$BATS_TEST_DIRNAME/../.." uninstall DESTDIR="$PWD/root" >/dev/null
	is "$(find root ! -type d)" ''
}

@test "make prints no error if the compiler is not installed yet" {
	mkdir bin
	for name in sh make find sort id sed grep git awk; do
		ln -s "$(command -v $name)" bin/
	done
	PATH=$PWD/bin run make -n -C "$BATS_TEST_DIRNAME/../.." BUILD="$PWD/b" deps
	holds "$output" 'dpkg -s gcc'
	holds_not "$output" 'not found'
}

@test "demo prints a complete denial, with its quotes" {
	[ -x "${GPUGATE%/*}/gpugated" ] || skip 'gpugated is not built'
	cp -r "$BATS_TEST_DIRNAME/../../deploy/examples" examples
	sed -i 's/^contact: .*/contact: "\\"GPU team\\", room C:\\\\5"/' \
		examples/reviews/policy.yaml
	run sh examples/demo.sh "$GPUGATE" "${GPUGATE%/*}/gpugated"
	is "$status" 0
	holds "$output" '"GPU team", room C:\5'
	holds "$output" 'review demo-deny'
}

@test "Ubuntu's universe is mentioned if a package is not found" {
	mkdir bin
	printf '#!/bin/sh\nexit 100\n' | tee bin/dpkg bin/env >bin/sudo
	chmod +x bin/*
	for name in ubuntu debian; do
		echo "ID=$name" >os-release
		PATH=$PWD/bin:$PATH run make -C "$BATS_TEST_DIRNAME/../.." deps \
			OS_RELEASE="$PWD/os-release"
		[ "$status" -ne 0 ]
		[ $name = debian ] || holds "$output" 'component universe'
	done
	holds_not "$output" 'component universe'
}

@test "publish-check lists the settings, and OWNER is filled in" {
	local root=$BATS_TEST_DIRNAME/../..
	(cd "$root" && git ls-files -z -co --exclude-standard Makefile '*.mk' deploy README.md .github |
		xargs -0 tar -c) | tar -x
	mkdir -p rules/catalog certs
	git init -q . && git add -A
	git -c user.name=t -c user.email=t@example.com commit -q -m one
	# Only one document contains the placeholder, and none mentions missing
	# files.
	is "$(cd "$root" && git grep -l 'OWNER/' -- '*.md')" deploy/ci/README.md
	run ! git -C "$root" grep -E 'gpugate@v[0-9]|^ *re[fv]: v[0-9]' -- '*.md'
	run make publish-check
	[ "$status" -ne 0 ]
	for what in OWNER MAINTAINER DOCS_URL image.repository v1.0.0; do
		holds "$output" "$what"
	done
	make publish OWNER=acme
	run ! grep -r OWNER deploy/ci/README.md
	grep -q 'uses: acme/gpugate@v1.0.0' deploy/ci/README.md
	run make publish-check MAINTAINER='A <a@example.com>' \
		DOCS_URL=https://docs.example.com
	holds_not "$output" OWNER
	holds_not "$output" MAINTAINER
	holds "$output" 'the tag of this commit'
	git tag v1.0.0
	run make publish-check
	holds_not "$output" 'the tag of this commit'
}
