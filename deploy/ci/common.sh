# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Functions that the jobs share: get the program, fetch a revision. The inputs
# of a job are INPUT_* (GPUGATE_* are gpugate's own options). Sourced, with
# $home set to the folder of gpugate's source.

die() {
	echo "gpugate: $*" >&2
	exit 2
}

# Sets $version, $system and $release, the URL of the release files, if this source
# is a release. A runner keeps OWNER/NAME@vN in _actions/OWNER/NAME/vN.
find_release() {
	# shellcheck disable=SC2154
	case $home in
	*/_actions/*/*/v[0-9]*) ;;
	*) return 1 ;;
	esac
	repository=${home##*/_actions/}
	case ${repository#*/*/} in
	*/*) return 1 ;;
	esac
	version=$(sed -n 's/^VERSION := //p' "$home/Makefile")
	system=$(uname -sm | sed 's/ /-/; s/x86_64/amd64/; s/aarch64/arm64/' |
		tr '[:upper:]' '[:lower:]')
	release=${GITHUB_SERVER_URL:-https://github.com}/${repository%/*}
	release=$release/releases/download/v$version
}

# Sets $gpugate to $INPUT_BINARY, to the executable in $GPUGATE_FOLDER, or to one
# built from this source, which is then copied to $GPUGATE_FOLDER.
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
	if [ -n "${GPUGATE_FOLDER:-}" ] && [ -x "$GPUGATE_FOLDER/gpugate" ]; then
		gpugate=$GPUGATE_FOLDER/gpugate
		return
	fi
	gpugate=$home/build/gpugate
	if command -v apt-get >/dev/null; then
		make -s -C "$home" lint-deps || die 'cannot install what building needs'
	fi
	make -s -C "$home" -j2 BUILD=build CFLAGS=-O2 gpugate ||
		die 'cannot be built here: name an executable instead'
	[ -z "${GPUGATE_FOLDER:-}" ] || cp "$gpugate" "$GPUGATE_FOLDER/"
}

# Lets git read the workspace, which in a container may belong to another user.
trust_workspace() {
	GIT_CONFIG_COUNT=$((${GIT_CONFIG_COUNT:-0} + 1))
	export GIT_CONFIG_COUNT
	export "GIT_CONFIG_KEY_$((GIT_CONFIG_COUNT - 1))=safe.directory"
	export "GIT_CONFIG_VALUE_$((GIT_CONFIG_COUNT - 1))=$PWD"
}

# fetch REVISION: sets $fetched to its commit, or fails.
fetch() {
	git fetch --quiet --no-tags --depth=1 origin "${1#origin/}" || return
	fetched=$(git rev-parse FETCH_HEAD)
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
	fetch "$INPUT_SINCE" ||
		die "since: $INPUT_SINCE is not in this clone, nor does origin" \
			"have it; clone with more depth"
	since=$fetched
}

# get_policy BRANCH: sets $policy and $policy_file to the option for $INPUT_POLICY
# and its value. If $INPUT_POLICY is set, also sets $changed to the policy files
# that differ from those of the target branch. Without a branch, it is empty.
get_policy() {
	policy='' policy_file='' changed=''
	if [ -n "$1" ] && [ -n "${INPUT_POLICY:-}" ]; then
		trust_workspace
		fetch "$1" || die "policy: origin has no branch $1"
		changed=$(git diff --name-only --no-renames "$fetched" -- \
			':(glob)**/.gpugate.yaml')
	fi
	case ${INPUT_POLICY:-} in
	'') ;;
	base) [ -z "$1" ] || take_base_policy ;;
	*)
		[ -f "$INPUT_POLICY" ] || die "policy: there is no $INPUT_POLICY"
		policy=--policy policy_file=$INPUT_POLICY
		;;
	esac
}

# Unpacks the whole tree, because a policy may name files next to it.
take_base_policy() {
	[ -z "${INPUT_CONFIG:-}" ] || die 'either policy: base or config'
	policy=--isolated
	git cat-file -e "$fetched:.gpugate.yaml" 2>/dev/null || return 0
	mkdir "$work/base"
	git archive -o "$work/base.tar" "$fetched"
	tar -xf "$work/base.tar" -C "$work/base"
	policy=--config policy_file=$work/base/.gpugate.yaml
}
