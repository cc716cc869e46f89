#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Generates the policies of this folder: rules/catalog/*/*.cel, completed by
# cel.sh and exported by `gpugate rules --format vap`, one file per rule; and
# their bindings, one file per mode. An UPDATE that does not change spec is not
# checked, so that labels and finalizers of running objects can change.
# usage: generate.sh GPUGATE FOLDER
set -eu
catalog=$(cd "$(dirname "$0")/../../rules/catalog" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$catalog/cel.sh" "$work/cel"
cat >"$work/policy.yaml" <<END
apiVersion: gpugate.dev/v1
kind: Policy
custom: ["$work/cel/*/*.cel"]
END
rm -rf "$2/policies" "$2"/bindings-*.yaml
mkdir -p "$2/policies"
"$1" rules --config "$work/policy.yaml" --format vap >"$work/all.yaml"
awk -v folder="$2" '
	BEGIN { head = "# SPDX-License-Identifier: Apache-2.0\n" \
			"# Made by generate.sh.\n" }
	/^---$/ { kind = name = text = ""; next }
	/^kind: / { kind = $2 }
	/^  name: / && !name { name = $2 }
	{ text = text $0 "\n" }
	/^  name: / && kind ~ /Policy$/ {
		file = folder "/policies/" substr(name, 9) ".yaml"
		printf "%s%s", head, text >file
		next
	}
	kind ~ /Policy$/ && file && text ~ /\n  name: / {
		print >file
		if (/^  matchConditions:$/) {
			print "  - name: spec-changed" >file
			print "    expression: |-" >file
			print "      oldObject == null || object.?spec != oldObject.?spec" >file
		}
	}
	/^  validationActions: / {
		deny = /Deny/ ? "Deny" : "Warn, Audit"
		bind("audit", "Audit")
		bind("warn", "Warn, Audit")
		bind("deny", deny)
	}
	function bind(mode, actions, to) {
		to = folder "/bindings-" mode ".yaml"
		if (!seen[to]++)
			printf "%s", head >to
		sub(/validationActions: .*\n$/, "validationActions: [" actions \
			"]\n", text)
		printf "---\n%s", text >to
		print "  matchResources:\n    namespaceSelector:\n" \
			"      matchExpressions:\n" \
			"      - key: kubernetes.io/metadata.name\n" \
			"        operator: NotIn\n" \
			"        values: [kube-system]" >to
	}' "$work/all.yaml"
