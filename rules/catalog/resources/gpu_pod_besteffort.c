/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods without any cpu or memory value, which are BestEffort,
 * because extended resources do not count for the QoS class. Such a pod is
 * evicted first and killed first if memory runs out, and a quota on cpu or
 * memory forbids it. A pod is skipped if a LimitRange sets one of these values,
 * according to a snapshot or the policy. If that is unknown, the finding is an
 * info.
 *
 * Source: pkg/apis/core/v1/helper/qos ComputePodQOS.
 */
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/node_devices.h"

/* True for an amount other than 0, or one that is unknown. */
static bool is_figure(const struct node *value)
{
	struct quantity q;

	return !node_is_unset(value) &&
	       (node_quantity(value, &q) != QUANTITY_OK || q.nano);
}

static bool has_figure(const struct node *resources)
{
	const struct node *requests = node_get(resources, "requests");
	const struct node *limits = node_get(resources, "limits");

	return node_is_unknown(resources) ||
	       is_figure(node_get(requests, "cpu")) ||
	       is_figure(node_get(requests, "memory")) ||
	       is_figure(node_get(limits, "cpu")) ||
	       is_figure(node_get(limits, "memory"));
}

/* True if the operator adds a helper container with cpu requests. */
static bool gets_helper(const struct pod *pod)
{
	const struct pod_handling *by = pod_handling(pod);

	return by->adds_helper && by->adds_helper(pod);
}

/* True if no container sets cpu or memory and no operator is known to add them;
 * false if something unknown may set them. */
static bool is_besteffort(const struct pod *pod)
{
	/* GKE adds a container with requests. */
	if (pod_annotation(pod, "gke-gcsfuse/volumes"))
		return false;
	if (pod->injects & INJECT_MEMORY || gets_helper(pod) ||
	    has_figure(pod_field(pod, "resources")))
		return false;
	FOR_EACH_CONTAINER(pod, c)
		if (has_figure(c->resources))
			return false;
	return true;
}

/* Sets the request that the parameter gives per accelerator, times the
 * container's number of accelerators. */
static void request(struct rule_run *run, struct fix *fix,
		    const struct container *c, const char *name)
{
	int64_t n = c->gpus.n > 0 ? c->gpus.n : 1;
	struct arena *arena = rule_arena(run);
	char text[QUANTITY_TEXT];

	if (!rule_param_given(run, name))
		return;
	quantity_text(quantity_mul(rule_param_quantity(run, name), n), text);
	fix_set_key(fix, c->node, "resources.requests", name,
		    edit_string(arena, arena_strdup(arena, text)));
}

/* True if the devices must be requested as well: the container sets no
 * requests, and a scheduler that adds up the gang's requests uses limits only
 * in that case. */
static bool needs_device_requests(const struct container *c)
{
	const struct object *object = c->pod->object;

	return node_is_unset(c->requests) && !object->kueue &&
	       object_request_sum(object) != REQUESTS_NOT_SUMMED;
}

static void request_devices(struct rule_run *run, struct fix *fix,
			    const struct container *c)
{
	if (!needs_device_requests(c))
		return;
	FOR_EACH_LIMIT(c, limit)
		if (limit->accelerator && limit->state == QUANTITY_OK &&
		    limit->quantity.nano > 0 &&
		    quantity_is_integer(limit->quantity))
			fix_set_key(fix, c->node, "resources.requests",
				    limit->node->key,
				    edit_copy(rule_arena(run), limit->node));
}

/* True if the pod's instance type has the resources that the fix requests, or
 * is unknown. */
static bool fits(struct rule_run *run, const struct pod *pod)
{
	const struct instance_type *type = pod_node_devices(pod).type;
	int64_t n = pod->gpus.n > 0 ? pod->gpus.n : 1;
	struct quantity memory;

	if (!type || !type->cpus)
		return true;
	memory = quantity_mul(rule_param_quantity(run, "memory"), n);
	return quantity_cmp(memory, instance_type_memory(type)) <= 0 &&
	       quantity_cmp(quantity_mul(rule_param_quantity(run, "cpu"), n),
			    quantity_from(type->cpus)) <= 0;
}

/* True if the policy sets a value for cpu or for memory. */
static bool has_values(struct rule_run *run, struct finding *f)
{
	bool cpu = finding_param_given(run, f, "cpu");

	return finding_param_given(run, f, "memory") || cpu;
}

/* Returns "set the requests `cpu: 8` and `memory: 64Gi` per accelerator". */
static const char *fix_title(struct rule_run *run, const struct container *c)
{
	bool cpu = rule_param_given(run, "cpu");
	bool memory = rule_param_given(run, "memory");
	const char *tail = needs_device_requests(c)
				   ? ", and request the accelerators"
				   : "";

	if (cpu && memory)
		return arena_printf(
			rule_arena(run),
			"set the requests `cpu: %s` and `memory: %s` per accelerator%s",
			rule_param(run, "cpu"), rule_param(run, "memory"),
			tail);
	return arena_printf(rule_arena(run),
			    "set the request `%s: %s` per accelerator%s",
			    cpu ? "cpu" : "memory",
			    rule_param(run, cpu ? "cpu" : "memory"), tail);
}

static void add_fix(struct rule_run *run, struct finding *f,
		    const struct pod *pod)
{
	struct fix *fix = NULL;

	FOR_EACH_CONTAINER(pod, c) {
		if (c->role == CONTAINER_INIT || c->gpus.unknown ||
		    container_uses_gpu(c) != TRI_YES)
			continue;
		if (!fix && (!has_values(run, f) || !fits(run, pod)))
			return;
		if (!fix)
			fix = finding_fix(run, f, false, "%s",
					  fix_title(run, c));
		request(run, fix, c, "cpu");
		request(run, fix, c, "memory");
		request_devices(run, fix, c);
	}
}

/* Returns whether a LimitRange sets one of the missing values. */
static enum tri has_defaults(struct rule_run *run, const struct pod *pod)
{
	return tri_or(rule_limit_default(run, pod->object, "cpu"),
		      rule_limit_default(run, pod->object, "memory"));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	int64_t n = pod->gpus.n;
	enum tri defaults;
	struct finding *f;

	if (!pod->ncontainers || pod_is_preset(pod) || !is_besteffort(pod))
		return;
	defaults = has_defaults(run, pod);
	if (defaults == TRI_YES)
		return;
	f = report_pod(run, pod, node_get(pod->spec, "containers"),
		       "no container sets cpu or memory: %sthe %s pod is "
		       "BestEffort and the first to be evicted",
		       defaults == TRI_NO ? "" : "if no LimitRange sets them, ",
		       pod_device(pod));
	if (defaults == TRI_UNKNOWN)
		finding_severity(f, SEVERITY_INFO);
	if (n > 0 && !pod->gpus.unknown)
		finding_help(
			run, f,
			"Set requests, for example `cpu: %s` and `memory: %sGi` for its %s.",
			rule_number(run, 8 * n), rule_number(run, 32 * n),
			rule_count(run, n, "accelerator"));
	else
		finding_help(
			run, f,
			"Set requests, for example `cpu: 8` and `memory: 32Gi` for each accelerator.");
	add_fix(run, f, pod);
}

static const struct rule_param params[] = {
	{"cpu", "quantity", "",
	 "cpu request per accelerator that the fix sets"},
	{"memory", "quantity", "",
	 "memory request per accelerator that the fix sets"},
	{0},
};

const struct rule rule_gpu_pod_besteffort = {
	.name = "gpu-pod-besteffort",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH | RULE_SITE,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a GPU pod without any cpu or memory requests or limits",
	.why = "Accelerators do not count for the QoS class: the pod is BestEffort, is evicted and killed before all others, and is forbidden if a quota limits cpu or memory.",
	.remedy = "Set cpu and memory requests on the containers that compute.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/v1/helper/qos",
	.params = params,
	.check_pod = check,
};
