#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The examples of server-rejects and dra-selector-invalid, at a real API server:
# it rejects each object of bad.yaml and accepts each of good.yaml without a
# placeholder.
#
# usage: server-rejects.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_control_plane
kube create namespace ml >/dev/null

# answers ACCEPTED FILE: the server's answer is this one
answers() {
	local accepted=no
	kube create --validate=false --dry-run=server -f "$2" >"$work/log" 2>&1 &&
		accepted=yes
	[ "$accepted" = "$1" ]
}

for rule in server-rejects dra-selector-invalid; do
	for kind in bad good; do
		rm -f "$work"/object-*
		csplit -sz -f "$work/object-" "$tests/rules/$rule/$kind.yaml" \
			'/^---$/' '{*}'
		for file in "$work"/object-*; do
			grep -q '\${' "$file" && continue
			check "$rule $kind $(sed -n 's/^metadata: //p' "$file")" \
				answers "$([ $kind = bad ] && echo no || echo yes)" \
				"$file"
		done
	done
done
finish server-rejects
