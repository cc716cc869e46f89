/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports text that was read and rejected: wrong syntax, NUL bytes, bad UTF-8,
 * exceeded limits. The engine makes the check while it reads a file.
 */
#include "engine/rule.h"

const struct rule rule_invalid_syntax = {
	.name = "invalid-syntax",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INTERNAL,
	.summary = "the text is not valid YAML or JSON, or exceeds a limit",
	.why = "No tool can apply the text, or it would take too long to check. The rejected document was not checked. After an error in JSON or an exceeded limit of the file, the rest of the file was not checked either.",
	.remedy = "Correct the text at the position shown, or split the file "
		  "there.",
	.evidence =
		"YAML 1.1 as https://github.com/kubernetes-sigs/yaml reads it; JSON as https://pkg.go.dev/encoding/json",
};
