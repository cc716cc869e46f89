# SPDX-License-Identifier: Apache-2.0
# `make install` and `make uninstall` of a finished build.
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
