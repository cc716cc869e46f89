/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports sources in envFrom that may contain NVIDIA_VISIBLE_DEVICES. The
 * kubelet adds all keys of the ConfigMap or Secret, with the source's prefix,
 * and an entry of env overrides them. Only pods that may run on a node with
 * GPUs are checked. Most sources lack this key, so a source with unknown keys
 * is an info, and only the preset `strict` denies it. CUDA_VERSION has the same
 * effect in a container without NVIDIA_VISIBLE_DEVICES
 * (nvidia_visible_devices_override.c).
 *
 * Source: kubelet makeEnvironment (pkg/kubelet/kubelet_pods.go).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_devices.h"
#include "kube/scheduling/selector.h"

#define NAME "NVIDIA_VISIBLE_DEVICES"

/* True if a term selects nodes by matchFields, whose only field is the node
 * name. */
static bool fields_name_nodes(const struct pod *pod)
{
	static const char required[] =
		"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";
	const struct node *affinity =
		node_path(pod_field(pod, "affinity"), required);

	FOR_EACH_CHILD(node_get(affinity, "nodeSelectorTerms"), term)
		FOR_EACH_CHILD(node_get(term, "matchFields"), field)
			if (node_eq(node_get(field, "operator"), "In"))
				return true;
	return false;
}

/* True if the pod selects nodes by name, which may have GPUs. */
static bool names_nodes(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	for (size_t i = 0; i < needs.n; i++)
		if (node_need_requires(&needs.items[i]) &&
		    text_eq(needs.items[i].key, "kubernetes.io/hostname"))
			return true;
	return !node_is_unset(pod_field(pod, "nodeName")) ||
	       fields_name_nodes(pod);
}

/* True for a label of nodes with NVIDIA GPUs. value is NULL if any value
 * counts. */
static bool labels_gpus(const char *key, const char *value)
{
	return key && !text_eq(value, "false") &&
	       text_eq(node_label_vendor(key, value), "nvidia");
}

/* True if a node selector term requires GPUs. The terms are ORed, so the pod
 * may run on a node that matches it. */
static bool term_needs_gpus(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node *value = node_need_value(need, 0);

		if (node_need_requires(need) &&
		    labels_gpus(need->key, node_str(value)))
			return true;
	}
	return false;
}

static bool expression_prefers_gpus(const struct node *expression)
{
	const struct node *how = node_get(expression, "operator");
	const struct node *value = node_at(node_get(expression, "values"), 0);

	return !node_eq(how, "NotIn") && !node_eq(how, "DoesNotExist") &&
	       labels_gpus(node_str(node_get(expression, "key")),
			   node_str(value));
}

static bool prefers_gpus(const struct pod *pod)
{
	static const char preferred[] =
		"nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution";
	static const char in_item[] = "preference.matchExpressions";
	const struct node *affinity = pod_field(pod, "affinity");
	const struct node *spread = pod_field(pod, "topologySpreadConstraints");

	FOR_EACH_CHILD(node_path(affinity, preferred), item)
		FOR_EACH_CHILD(node_path(item, in_item), expression)
			if (expression_prefers_gpus(expression))
				return true;
	FOR_EACH_CHILD(spread, item)
		if (labels_gpus(node_str(node_get(item, "topologyKey")), NULL))
			return true;
	return false;
}

/* True for a pod with devices of a vendor whose nodes have no NVIDIA GPUs. An
 * Intel GPU may be part of the processor of a node with NVIDIA GPUs. */
static bool runs_elsewhere(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const char *vendor =
			c->accelerator ? c->accelerator->vendor : NULL;

		if (vendor && c->gpus.n > 0 && !text_eq(vendor, "nvidia") &&
		    !text_eq(vendor, "intel"))
			return true;
	}
	return false;
}

/* True if the pod may run on a node with GPUs, where alone the variable has an
 * effect. */
static bool may_meet_gpus(struct rule_run *run, const struct pod *pod)
{
	if (runs_elsewhere(pod))
		return false;
	return pod_uses_gpu(pod) != TRI_NO || pod_gpu_selector(pod, NULL) ||
	       !node_is_unset(pod_field(pod, "tolerations")) ||
	       names_nodes(pod) || term_needs_gpus(pod) || prefers_gpus(pod) ||
	       !node_is_unset(pod_field(pod, "runtimeClassName")) ||
	       pod_gpu_intent(rule_accelerators(run), pod).by != INTENT_NONE;
}

/* Returns whether the source of envFrom sets the variable; unknown if the input
 * files do not define its ConfigMap or Secret, or differ about the key. */
static enum tri sets(struct rule_run *run, const struct container *c,
		     const struct node *source, const char *name)
{
	const char *prefix = node_str(node_get(source, "prefix"));
	const struct node *map = node_get(source, "configMapRef");
	const struct node *from = map ? map : node_get(source, "secretRef");
	const char *ref = node_str(node_get(from, "name")), *id;
	bool has, lacks;

	if (!ref)
		return TRI_UNKNOWN;
	id = arena_printf(rule_arena(run), "%s/%s/%s",
			  text_or_empty(c->pod->object->namespace),
			  map ? "ConfigMap" : "Secret", ref);
	has = rule_input_defines(
		run, DEFINED_VARIABLE,
		arena_printf(rule_arena(run), "%s/%s", id,
			     name + (prefix ? strlen(prefix) : 0)));
	lacks = rule_input_defines(run, DEFINED_NO_VARIABLE, id);
	return has == lacks ? TRI_UNKNOWN : tri_from(has);
}

/* Returns the source that sets the variable, else one that may set it, else
 * NULL. */
static const struct node *find_source(struct rule_run *run,
				      const struct container *c,
				      const char *name, bool *certain)
{
	const struct node *found = NULL;

	*certain = false;
	for (const struct node *source = NULL;
	     (source = container_env_source(c, name, source));)
		switch (sets(run, c, source, name)) {
		case TRI_YES:
			*certain = true;
			return source;
		case TRI_UNKNOWN:
			found = found ? found : source;
			break;
		case TRI_NO:
			break;
		}
	return found;
}

static void check_container(struct rule_run *run, const struct container *c)
{
	bool certain;
	const char *name = NAME;
	const struct node *at = find_source(run, c, name, &certain);
	enum tri obeys = container_obeys_variable(c, rule_injection(run));
	struct finding *f;

	if (!at && container_is_old_cuda(c)) {
		name = "CUDA_VERSION";
		at = find_source(run, c, name, &certain);
	}
	if (!at)
		return;
	f = report_container(
		run, c, at,
		certain ? "`envFrom` of container `%s` sets `%s`: if the nvidia container runtime starts the container, the variable and not the allocation decides which GPUs it sees"
			: "`envFrom` of container `%s` may set `%s`: if it does and the nvidia container runtime starts the container, this may show it GPUs that are not allocated to it",
		container_title(c), name);
	if (obeys == TRI_NO)
		finding_severity(f, SEVERITY_INFO);
	else if (!certain)
		finding_unseen(f);
	finding_reads(run, f, at);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	/* KAI and HAMi use a ConfigMap to pass the devices of a share. */
	if (pod->flat || pod_is_trusted(pod) || !may_meet_gpus(run, pod) ||
	    pod->gpu_by & (GPU_BY_ANNOTATION | GPU_BY_SHARE))
		return;
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		if (node_first(node_get(c->node, "envFrom")))
			check_container(run, c);
}

const struct rule rule_nvidia_visible_devices_env_from = {
	.name = "nvidia-visible-devices-env-from",
	.category = "env",
	.severity = SEVERITY_WARNING,
	.flags = RULE_TAKES | RULE_INFRASTRUCTURE,
	.summary =
		"envFrom that may set NVIDIA_VISIBLE_DEVICES or CUDA_VERSION",
	.why = "If the ConfigMap or Secret has the key `NVIDIA_VISIBLE_DEVICES` (or `CUDA_VERSION`, in a container without that variable), the nvidia runtime can show the container GPUs that are not counted. If the input files show that it has the key, the finding is a warning. If they do not show its keys, it is an info, but the preset `strict` denies it, because the key can be added later. If the snapshot shows that devices are injected by CDI, or into GPU containers as volume mounts, the runtime does not read the variable: then it is an info in every preset.",
	.remedy =
		"List the keys that the container needs in `env`, or give the source a `prefix`.",
	.evidence =
		"kubelet makeEnvironment (pkg/kubelet/kubelet_pods.go); https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/config/image/cuda_image.go",
	.check_pod = check,
};
