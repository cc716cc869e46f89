/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Examples of `gpugate explain`, taken from tests/rules when the program is
 * built (lint/commands/examples.sh): so the examples shown are the ones tested.
 */
#ifndef LINT_EXAMPLE_H
#define LINT_EXAMPLE_H

#include <stddef.h>

struct rule_example {
	const char *rule;
	const char *bad, *good; /* NULL when there is none */
};

extern const struct rule_example rule_examples[];
extern const size_t rule_examples_count;

#endif
