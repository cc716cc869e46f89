#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Creates objects of the corpus on a real API server that has policies and
# knows the operators' kinds. `lint --admission-policy` must see the same
# quantities, defaults and lists as that server. The policies that `rules
# --format vap` makes of rules files must warn about the objects in which the
# rules find something.
#
# usage: corpus-server.sh [BUILD]     MODES=values or MODES=rules: only this one
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$corpus"
need "$shared/crds"
need_pyyaml
need_control_plane --crds --disable-admission-plugins=ServiceAccount,Priority,RuntimeClass

judge() {
	mkdir "$work/$1"
	"$python" "$tests/check/corpus_server.py" "$1" "$gpugate" \
		"$CONTROL_PLANE_DIR" "$shared" "$work/$1"
}

status=0
for mode in ${MODES:-values rules}; do
	judge "$mode" || status=1
	kube delete validatingadmissionpolicybindings --all >/dev/null
	kube delete validatingadmissionpolicies --all >/dev/null
done
exit $status
