/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a map with the same key twice. The engine makes the check while it
 * reads a file.
 */
#include "engine/rule.h"

const struct rule rule_duplicate_key = {
	.name = "duplicate-key",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_INTERNAL,
	.summary =
		"a key that occurs twice in a map: only the last value counts",
	.why = "The first value is silently dropped, so a reviewer may read a value that does not apply.",
	.remedy = "Remove one of the two keys.",
	.evidence =
		"https://github.com/kubernetes-sigs/yaml: without strict parsing the last value counts, strict parsing rejects the file",
};
