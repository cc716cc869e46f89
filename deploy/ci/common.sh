# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the jobs share: get the program, make a revision known. The inputs of
# a job are INPUT_* (GPUGATE_* are gpugate's own options). Sourced, with
# $home set to the folder of gpugate's source.

die() {
	echo "gpugate: $*" >&2
	exit 2
}

# Sets $gpugate: $INPUT_BINARY, or what is built from this source.
get_gpugate() {
	gpugate=${INPUT_BINARY:-}
	if [ -n "$gpugate" ]; then
		[ -x "$gpugate" ] || die "$gpugate is not an executable"
		case $gpugate in
		/*) ;;
		*) gpugate=$PWD/$gpugate ;;
		esac
		return
	fi
	# shellcheck disable=SC2154
	gpugate=$home/build/gpugate
	if command -v apt-get >/dev/null; then
		make -s -C "$home" lint-deps || die 'cannot install what building needs'
	fi
	make -s -C "$home" -j2 BUILD=build CFLAGS=-O2 gpugate ||
		die 'cannot be built here: name an executable instead'
}

# git refuses a folder of another user, which the workspace is in containers.
trust_workspace() {
	GIT_CONFIG_COUNT=$((${GIT_CONFIG_COUNT:-0} + 1))
	export GIT_CONFIG_COUNT
	export "GIT_CONFIG_KEY_$((GIT_CONFIG_COUNT - 1))=safe.directory"
	export "GIT_CONFIG_VALUE_$((GIT_CONFIG_COUNT - 1))=$PWD"
}

# Sets $since to a commit for $INPUT_SINCE; CI's clones are shallow, so it may
# have to be fetched.
get_since() {
	since=
	[ -n "${INPUT_SINCE:-}" ] || return 0
	case $INPUT_SINCE in
	-*) die "since: $INPUT_SINCE is not a revision" ;;
	esac
	trust_workspace
	since=$(git rev-parse --quiet --verify "$INPUT_SINCE^{commit}") && return
	git fetch --quiet --no-tags --depth=1 origin "${INPUT_SINCE#origin/}" ||
		die "since: $INPUT_SINCE is not in this clone, nor does origin" \
			"have it; clone with more depth"
	since=$(git rev-parse FETCH_HEAD)
}
