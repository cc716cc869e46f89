/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports `nvidia.com/gpu: 0`. It looks like "no GPU", but has the same effect
 * as no key at all, so an image with NVIDIA_VISIBLE_DEVICES=all still sees
 * every GPU of the node. Skips devices of other vendors, which a container
 * gets only from their plugin. Also skips a share of 0 (HAMi's gpucores), and a
 * 0 in a container that gets devices of another name. gpu-request-without-limit
 * reports a request of 0 without a limit. A key without a value, as written by
 * a chart with an empty value, also counts as 0.
 *
 * Source: NVIDIA/k8s-device-plugin#61; `nvidia.com/gpu: null` comes back from
 * kube-apiserver 1.36 as "0".
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/typed.h"

#define VISIBLE "NVIDIA_VISIBLE_DEVICES"

/* Adds a fix that replaces the zero with the variable that hides all GPUs. */
static void add_fix(struct rule_run *run, struct finding *f,
		    const struct container *c, const struct node *limit)
{
	const struct node *request =
		node_get(container_requests(c), limit->key);
	struct quantity q = {0};
	struct fix *fix;

	if (c->pod->flat ||
	    (request && (node_quantity(request, &q) != QUANTITY_OK || q.nano)))
		return;
	fix = finding_fix(run, f, false,
			  "remove `%s` and set `" VISIBLE "` to `void`",
			  limit->key);
	fix_remove(fix, limit);
	if (request)
		fix_remove(fix, request);
	fix_ensure(fix, c->node, "env",
		   env_entry(rule_arena(run), VISIBLE, "void"), "name");
}

static void check_entry(struct rule_run *run, const struct container *c,
			const struct resource_entry *entry)
{
	const struct node *value = entry->node;
	bool empty = node_is_unset(value);
	struct finding *f;

	if (!accelerator_counts(entry->accelerator) ||
	    !text_eq(entry->accelerator->vendor, "nvidia") ||
	    !entry_is_zero(c, entry))
		return;
	f = report_container(
		run, c, value,
		empty ? "container `%s` gets no `%s`: an empty value counts as 0"
		      : "container `%s` requests 0 `%s`, which hides no GPU from it",
		container_title(c), value->key);
	if (!empty && !container_image(c).gpu)
		finding_severity(f, SEVERITY_INFO);
	finding_cause(run, f, value->key);
	if (empty) {
		finding_help(
			run, f,
			"Set the number of devices that the container needs.");
		return;
	}
	finding_help(run, f,
		     "Remove `%s` and set " VISIBLE
		     " to `void`, which hides the GPUs.",
		     value->key);
	add_fix(run, f, c, value);
}

/* True if the variable already hides all GPUs, or is a placeholder: the zero
 * does no harm. An entry with neither value nor source is the empty string. */
static bool hides_gpus(const struct container *c)
{
	struct env_value value = container_env_value(c, VISIBLE);

	if (value.state == ENV_UNKNOWN)
		return node_is_unknown(value.at);
	return value.state == ENV_KNOWN &&
	       (text_eq(value.text, "void") || text_eq(value.text, "none") ||
		!*value.text);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	/* KAI allocates a part of a device by an annotation. */
	if (pod->gpu_by & GPU_BY_ANNOTATION)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		if (!c->extended || c->gpus.n > 0 || hides_gpus(c) ||
		    container_uses_gpu(c) != TRI_NO)
			continue;
		FOR_EACH_LIMIT(c, limit)
			check_entry(run, c, limit);
	}
}

const struct rule rule_gpu_limit_zero = {
	.name = "gpu-limit-zero",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.flags = RULE_OPT_IN_PATCH,
	.summary = "a limit of 0, or without a value, for an NVIDIA GPU",
	.why = "A limit of 0 is the same as no limit: it does not hide the node's GPUs from a container whose image sets NVIDIA_VISIBLE_DEVICES=all. An empty value counts as 0.",
	.remedy =
		"Remove the key and set NVIDIA_VISIBLE_DEVICES=void, or set the number of devices that the container needs.",
	.evidence = "https://github.com/NVIDIA/k8s-device-plugin/issues/61",
	.check_pod = check,
};
