#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the *.tsv tables of this folder and kinds.txt as C.
set -eu
LC_ALL=C
export LC_ALL
here=$(dirname "$0")
echo '/* Made by rules/kube/data/generate.sh: do not edit. */'
echo '#include <stdbool.h>'
echo '#include "rules/kube/data.h"'
for table in accelerators fabric reserved_domains node_labels label_values \
	instance_types mig_profiles products \
	removed_versions device_paths images; do
	printf '@table\t%s\n' "$table"
	case $table in
	# These keep the order of the file: the first match counts.
	images | device_paths) grep -v '^#' "$here/$table.tsv" ;;
	*) grep -v '^#' "$here/$table.tsv" | sort -u ;;
	esac
done | awk -f "$here/tag.awk" -f "$here/data.awk"
echo
awk -f "$here/kinds.awk" "$here/kinds.txt"
echo
awk -f "$here/tag.awk" -f "$here/native_types.awk" "$here/native_types.tsv" \
	"$here/custom_types.tsv" \
	"$here/native_constraints.tsv" \
	"$here/native_defaults.tsv"
