/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of examples; its rows are made by lint/commands/examples.sh from
 * the folders of tests/rules, in the order of the rules' names.
 */
#include "example.h"

const struct rule_example rule_examples[] = {
#include "examples.inc"
	{"", "", ""},
};

const size_t rule_examples_count =
	sizeof(rule_examples) / sizeof(*rule_examples) - 1;
