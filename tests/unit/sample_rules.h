/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few rules of every kind, so that tests of the engine do not change with the
 * catalog. Sorted by name, as a rule_set is.
 */
#ifndef TESTS_SAMPLE_RULES_H
#define TESTS_SAMPLE_RULES_H

#include "engine/registry.h"

enum {
	COUNT_MAX,
	IN_INIT,
	LIMIT_MISSING,
	INVALID_SYNTAX,
	VISIBLE_DEVICES,
	PRIORITY_MISSING,
	NEVER_FITS,
	SHM_MISSING,
	SPOT_ADVICE,
	SUPPRESSION_UNUSED_RULE,
	SAMPLE_RULES,
};

static const struct rule_param count_max_params[] = {
	{"max", "int", "", "most devices"},
	{"per", "string", "pod", "pod or job"},
	{0},
};

static const struct rule_param priority_params[] = {
	{"class", "string", "", "class to set"},
	{0},
};

static const struct rule_param shm_params[] = {
	{"size", "quantity", "", "size of the volume"},
	{"percent", "int 1..100", "50", "share of the memory"},
	{"images", "list", "", "images that need it"},
	{"labels", "map", "", "labels to look for"},
	{"strict", "bool", "false", "also for one device"},
	{0},
};

static const char *const shm_aliases[] = {"dev-shm-missing", NULL};

static const struct rule sample_rules[SAMPLE_RULES] = {
	[COUNT_MAX] = {.name = "gpu-count-max",
		       .category = "resources",
		       .severity = SEVERITY_ERROR,
		       .needs = NEEDS_PARAM,
		       .since = "1.0",
		       .params = count_max_params},
	[IN_INIT] = {.name = "gpu-in-init-container",
		     .category = "resources",
		     .severity = SEVERITY_INFO,
		     .since = "1.0"},
	[LIMIT_MISSING] = {.name = "gpu-limit-missing",
			   .category = "resources",
			   .severity = SEVERITY_ERROR,
			   .flags = RULE_GUESS | RULE_ABSENCE,
			   .since = "1.0"},
	[INVALID_SYNTAX] = {.name = "invalid-syntax",
			    .category = "input",
			    .severity = SEVERITY_ERROR,
			    .flags = RULE_INTERNAL,
			    .since = "1.0"},
	[VISIBLE_DEVICES] = {.name = "nvidia-visible-devices-override",
			     .category = "security",
			     .severity = SEVERITY_ERROR,
			     .flags = RULE_SAFE_PATCH,
			     .since = "1.0"},
	[PRIORITY_MISSING] = {.name = "priority-class-missing",
			      .category = "priority",
			      .severity = SEVERITY_INFO,
			      .flags = RULE_OPT_IN_PATCH | RULE_ABSENCE,
			      .since = "1.0",
			      .params = priority_params},
	[NEVER_FITS] = {.name = "quota-never-fits",
			.category = "quota",
			.severity = SEVERITY_ERROR,
			.needs = NEEDS_SET,
			.since = "1.0"},
	[SHM_MISSING] = {.name = "shm-missing",
			 .category = "shm",
			 .severity = SEVERITY_WARNING,
			 .flags = RULE_SAFE_PATCH | RULE_ABSENCE,
			 .since = "1.0",
			 .params = shm_params,
			 .aliases = shm_aliases},
	[SPOT_ADVICE] = {.name = "spot-advice",
			 .category = "cost",
			 .severity = SEVERITY_INFO,
			 .flags = RULE_PEDANTIC,
			 .since = "1.1"},
	[SUPPRESSION_UNUSED_RULE] = {.name = "suppression-unused",
				     .category = "input",
				     .severity = SEVERITY_WARNING,
				     .flags = RULE_INTERNAL,
				     .since = "1.2"},
};

static const struct rule *const sample_items[SAMPLE_RULES] = {
	&sample_rules[0], &sample_rules[1], &sample_rules[2], &sample_rules[3],
	&sample_rules[4], &sample_rules[5], &sample_rules[6], &sample_rules[7],
	&sample_rules[8], &sample_rules[9],
};

static const struct rule_set sample_set = {.items = sample_items,
					   .n = SAMPLE_RULES};

#endif
