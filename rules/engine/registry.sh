#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the table of all rules: each argument is a file that defines one
# `const struct rule rule_<name> = {`. Sorted by the rule's kebab-case name, so
# that look-ups can bisect.
set -eu
LC_ALL=C
export LC_ALL
names=$(sed -n 's/^const struct rule \(rule_[a-z0-9_]*\) = {$/\1/p' "$@" \
	</dev/null | tr _ - | sort -u | tr - _)
echo '/* Made by rules/engine/registry.sh: do not edit. */'
echo '#include "engine/registry.h"'
echo
for name in $names; do
	echo "extern const struct rule $name;"
done
echo
echo 'const struct rule *const all_rules[] = {'
for name in $names; do
	echo "	&$name,"
done
echo '	0,'
echo '};'
echo
echo 'extern const struct custom_reader rules_file_reader;'
echo 'const struct custom_reader *const custom_readers[] = {'
echo '	&rules_file_reader,'
echo '	0,'
echo '};'
echo 'const size_t all_rules_count = sizeof(all_rules) / sizeof(*all_rules) - 1;'
