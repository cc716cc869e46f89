/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `platform:`, facts about the cluster for runs without a snapshot
 * (kube/platform.h). An empty list means that there are none.
 */
#include <stddef.h>
#include <stdio.h>

#include "policy_read.h"

static void read_names(struct policy_reader *r, const struct node *node,
		       void *into)
{
	struct text_list names = {0};

	if (!node_is_seq(node) || node->len)
		field_texts(r, node, &names);
	add_text(r, &names, NULL);
	*(const char *const **)into = names.items;
}

static void read_limit_defaults(struct policy_reader *r,
				const struct node *node, void *into)
{
	enum tri *defaults = into;
	bool given;

	if (read_bool(r, node, &given))
		*defaults = given ? TRI_YES : TRI_NO;
}

static void read_injection(struct policy_reader *r, const struct node *node,
			   void *into)
{
	static const char *const names[] = {"envvar", "volume-mounts", "cdi"};
	static const enum device_injection meant[] = {
		INJECTION_ENVVAR, INJECTION_VOLUME_MOUNTS, INJECTION_CDI};
	int found = read_choice(r, node, "device injection", names, 3);

	if (found >= 0)
		*(enum device_injection *)into = meant[found];
}

/* Reads "1.37", "v1.37.2": both components have major version 1. */
static void read_minor(struct policy_reader *r, const struct node *node,
		       void *into)
{
	const char *text = read_text(r, node);
	int minor, end = 0;

	if (!text)
		return;
	text += *text == 'v';
	if (sscanf(text, "1.%3d%n", &minor, &end) == 1 && minor > 0 &&
	    (!text[end] || text[end] == '.'))
		*(int *)into = minor;
	else
		problem(r, node, "expected a version such as \"1.37\"");
}

#define IN_PLATFORM(member) offsetof(struct platform, member)

void read_platform(struct policy_reader *r, const struct node *node, void *into)
{
	static const struct policy_field fields[] = {
		{"gpuTaints", read_names, 0, IN_PLATFORM(gpu_taints)},
		{"gpuProducts", read_names, 0, IN_PLATFORM(gpu_products)},
		{"priorityClasses", read_names, 0,
		 IN_PLATFORM(priority_classes)},
		{"defaultPriorityClass", field_text, 0,
		 IN_PLATFORM(default_priority_class)},
		{"limitRangeDefaults", read_limit_defaults, 0,
		 IN_PLATFORM(limit_defaults)},
		{"deviceInjection", read_injection, 0, IN_PLATFORM(injection)},
		{"kubernetes", read_minor, 0, IN_PLATFORM(kubernetes)},
		{"karpenter", read_minor, 0, IN_PLATFORM(karpenter)},
		{0},
	};

	read_fields(r, node, fields, into);
}
