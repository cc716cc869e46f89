# SPDX-License-Identifier: Apache-2.0
# A newcomer's commands with a finished build: make install, uninstall, demo.
bats_require_minimum_version 1.5.0
load helper

@test "uninstall leaves nothing of what install put there" {
	built=${GPUGATE%/*}
	make -C "$BATS_TEST_DIRNAME/../.." install RELEASED=true \
		OPTIMIZED="$built" DESTDIR="$PWD/root" >/dev/null
	[ "$(find root ! -type d | wc -l)" -gt 10 ]
	make -C "$BATS_TEST_DIRNAME/../.." uninstall DESTDIR="$PWD/root" >/dev/null
	is "$(find root ! -type d)" ''
}

@test "make says nothing of a compiler that is not installed yet" {
	mkdir bin
	for name in sh make find sort id sed grep git awk; do
		ln -s "$(command -v $name)" bin/
	done
	PATH=$PWD/bin run make -n -C "$BATS_TEST_DIRNAME/../.." BUILD="$PWD/b" deps
	holds "$output" 'dpkg -s gcc'
	holds_not "$output" 'not found'
}

@test "demo prints a denial whole, with its quotes" {
	[ -x "${GPUGATE%/*}/gpugated" ] || skip 'gpugated is not built'
	cp -r "$BATS_TEST_DIRNAME/../../deploy/examples" examples
	sed -i 's/^contact: .*/contact: "\\"GPU team\\", room C:\\\\5"/' \
		examples/reviews/policy.yaml
	run sh examples/demo.sh "$GPUGATE" "${GPUGATE%/*}/gpugated"
	is "$status" 0
	holds "$output" '"GPU team", room C:\5'
	holds "$output" 'review demo-deny'
}
