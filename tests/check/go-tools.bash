# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Programs in Go that tests use as real consumers, built from their modules
# into a cache (minutes, once): source this file.
#
#   go_tools_cache                       prints the folder
#   go_tool NAME VERSION PACKAGE         builds FOLDER/NAME-VERSION, or skips
#                                        with a message and returns 1

go_tools_cache() {
	echo "${GPUGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpugate-tests}"
}

go_tool() {
	local out dir rc=0
	out=$(go_tools_cache)/$1-$2
	[ -x "$out" ] && return 0
	command -v go >/dev/null || {
		echo "skip: $1 $2 is not here and go is not on PATH"
		return 1
	}
	mkdir -p "${out%/*}"
	dir=$(mktemp -d)
	(
		cd "$dir" && go mod init build >/dev/null 2>&1 &&
			go get "$3@$2" >/dev/null 2>&1 &&
			go build -o "$out.$$" "$3" >/dev/null 2>&1 &&
			mv "$out.$$" "$out"
	) || {
		echo "skip: $1 $2 does not build here"
		rc=1
	}
	rm -rf "$dir"
	return $rc
}
