#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sends the examples of server-rejects and dra-selector-invalid to a real API
# server: it rejects each object of bad.yaml as invalid, and accepts each object
# of good.yaml without a placeholder.
#
# usage: server-rejects.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# Without these gates the server drops the field `scheduling` of a Job.
need_control_plane --feature-gates=GenericWorkload=true,WorkloadWithJob=true
kube create namespace ml >/dev/null

accepts() { # FILE
	kube create --validate=false --dry-run=server -f "$1" >"$work/log" 2>&1
}

rejects() { # FILE
	! accepts "$1" && grep -q ' is invalid: ' "$work/log"
}

for rule in server-rejects dra-selector-invalid; do
	for kind in bad good; do
		rm -f "$work"/object-*
		csplit -sz -f "$work/object-" "$tests/rules/$rule/$kind.yaml" \
			'/^---$/' '{*}'
		for file in "$work"/object-*; do
			grep -q '\${' "$file" && continue
			version=$(sed -n 's/^apiVersion: //p' "$file")
			kube api-versions | grep -qx "$version" || {
				echo "skip: $version is not served"
				continue
			}
			check "$rule $kind $(sed -n 's/^metadata: //p' "$file")" \
				"$([ $kind = bad ] && echo rejects || echo accepts)" \
				"$file"
		done
	done
done
finish server-rejects
