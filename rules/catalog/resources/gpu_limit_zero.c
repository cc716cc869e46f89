/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `nvidia.com/gpu: 0` reads like "no GPU" and is not: it is the same as no
 * key at all, so an image with NVIDIA_VISIBLE_DEVICES=all still sees every
 * GPU of the node.
 *
 * Source: NVIDIA/k8s-device-plugin#61.
 */
#include "engine/rule.h"

static void check_map(struct rule_run *run, const struct container *c,
		      const struct node *map, const struct node *other)
{
	FOR_EACH_CHILD(map, value) {
		struct quantity q;
		struct finding *f;

		if (!accelerator_find(rule_accelerators(run), value->key) ||
		    node_quantity(value, &q) != QUANTITY_OK || q.nano ||
		    node_get(other, value->key))
			continue;
		f = report_container(run, c, value,
				     "container `%s` asks for 0 `%s`, which "
				     "hides no GPU from it",
				     c->name ? c->name : "", value->key);
		finding_cause(run, f, value->key);
		finding_help(run, f,
			     "remove `%s`; NVIDIA_VISIBLE_DEVICES=void keeps "
			     "the GPUs out of sight",
			     value->key);
	}
}

/* The variable is there already: the zero only says it again. */
static bool hides_gpus(const struct container *c)
{
	const struct node *env = container_env(c, "NVIDIA_VISIBLE_DEVICES");
	const struct node *value = node_get(env, "value");

	return env && (node_eq(value, "void") || node_eq(value, "none") ||
		       node_eq(value, "") || node_is_unknown(value));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *limits = container_limits(c);

		if (hides_gpus(c))
			continue;
		check_map(run, c, limits, NULL);
		check_map(run, c, container_requests(c), limits);
	}
}

const struct rule rule_gpu_limit_zero = {
	.name = "gpu-limit-zero",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.action = ACTION_WARN,
	.since = "1.0",
	.summary = "an accelerator limit of 0",
	.why = "Zero devices is the same as not asking: it does not hide the node's GPUs from an image that shows them all.",
	.remedy = "Remove the key and set NVIDIA_VISIBLE_DEVICES=void.",
	.evidence = "NVIDIA/k8s-device-plugin#61",
	.check_pod = check,
};
