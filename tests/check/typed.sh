#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks defaults, canonical values and dropped fields of native objects:
# gpugate's typed object equals the one that a real kube-apiserver passes to a
# ValidatingAdmissionPolicy, value by value.
#
# usage: typed.sh [BUILD]
# Prints why it is skipped if the control plane or python3-yaml is missing.
set -u
build=${1:-build}
tests=$(dirname "$(dirname "$0")")
# shellcheck source=tests/control-plane/control-plane.sh
. "$tests/control-plane/control-plane.sh"
if ! python3 -c 'import yaml' 2>/dev/null; then
	echo "skip: no python3-yaml"
	exit 0
fi
work=$(mktemp -d)
trap 'control_plane_stop; rm -rf "$work"' EXIT
status=0
control_plane_start "$work/plane" || status=$?
if [ "$status" = 77 ]; then
	echo "skip: no control plane here"
	exit 0
fi
[ "$status" = 0 ] || exit 1
python3 "$tests/check/typed.py" policies "$build/tests/tools/typed_dump" \
	"$work/typed" || exit 1

# warnings FILE: prints the policies' warnings about it, each after the object's
# name
warnings() {
	kube create --dry-run=server -f "$1" 2>&1 >/dev/null |
		sed -n "s/^Warning: \(Validation failed.*\)/$(basename "$1" .yaml) \1/p"
}

last_is_judged() {
	last=$(find "$work/typed/objects" -name 'other-*' | sort -V | tail -n 1)
	warnings "$last" | grep -q marker
}

kube create -f "$work/typed/policies.yaml" >/dev/null || exit 1
control_plane_until 60 last_is_judged || echo "no policy is judged" >&2
for file in "$work/typed/objects"/*.yaml; do
	warnings "$file"
done | python3 "$tests/check/typed.py" judge "$work/typed"
