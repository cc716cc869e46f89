/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods that do not select a type of GPU and get any free one: a
 * 70B model lands on a 16 GB card, or a small job on the most expensive card.
 * Skips clusters in which all GPUs are equal according to a snapshot or the
 * policy, DaemonSets, which have a pod on each node, and pods with nodeName.
 * Skips workloads in a Kueue queue, whose flavors inject the selector, as some
 * operators do. Skips claims, which select devices, MIG profiles, which have a
 * size, and resource names that contain the model. If nothing shows whether the
 * cluster has several models, the finding is an info.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_devices.h"
#include "kube/scheduling/node_match.h"

/* Returns the label that distinguishes the pod's type of accelerator from
 * others of its vendor, or NULL. */
static const char *node_product_label(const struct pod *pod)
{
	static const char *const labels[][2] = {
		{"amd", "amd.com/gpu.product-name"},
		{"intel", "gpu.intel.com/product"},
		{"google", "cloud.google.com/gke-tpu-accelerator"},
		{"huawei", "accelerator-type"},
		{"nvidia", "nvidia.com/gpu.product"},
	};

	FOR_EACH_CONTAINER(pod, c)
		for (size_t i = 0; c->accelerator && i < ARRAY_SIZE(labels);
		     i++)
			if (text_eq(c->accelerator->vendor, labels[i][0]))
				return labels[i][1];
	return "node.kubernetes.io/instance-type";
}

static bool offers_to(const struct node_group *group, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->resource && node_group_offers(group, c->resource) > 0)
			return true;
	return false;
}

/* Returns whether the nodes that offer the pod's resources have several
 * products; unknown if none offers them, or a node does not show its product.
 */
static enum tri nodes_differ(const struct cluster *cluster,
			     const struct pod *pod)
{
	const char *key = node_product_label(pod), *product = NULL;
	const struct node_group *groups;
	bool hidden = false;
	size_t n;

	groups = cluster_nodes(cluster, &n);
	for (size_t i = 0; i < n; i++) {
		const char *one = node_str(node_get(groups[i].labels, key));

		if (!offers_to(&groups[i], pod))
			continue;
		hidden |= !one;
		if (one && product && strcmp(one, product) != 0)
			return TRI_YES;
		if (one)
			product = one;
	}
	return hidden || !product ? TRI_UNKNOWN : TRI_NO;
}

/* True if an annotation names the accelerator, from which KServe's pod webhook
 * makes a selector (accelerator_injector.go). */
static bool pod_names_model(const struct pod *pod)
{
	static const char key[] = "serving.kserve.io/gke-accelerator";

	return pod_annotation(pod, key) || object_annotation(pod->object, key);
}

/* Reads the next label and advances *text. Returns false at the end. */
static bool labels_next(struct arena *arena, const char **text,
			struct label_pair *out)
{
	while (**text) {
		size_t len = strcspn(*text, ",");
		char *key = arena_strndup(arena, *text, len);
		char *value = strchr(key, '=');

		*text += len + ((*text)[len] == ',');
		if (!value)
			continue;
		*value++ = '\0';
		*out = (struct label_pair){key, value};
		return true;
	}
	return false;
}

/* True if nodes with this label may have the devices that the pod requests. */
static bool node_label_suits(const struct pod *pod,
			     const struct label_pair *label)
{
	const char *vendor = node_label_vendor(label->key, label->value);

	FOR_EACH_CONTAINER(pod, c)
		if (vendor && c->accelerator &&
		    !text_eq(c->accelerator->vendor, vendor))
			return false;
	return true;
}

/* True if the pod requests only MIG profiles, whose names contain the size of
 * the slice. */
static bool pod_wants_profiles(const struct pod *pod)
{
	bool found = false;

	FOR_EACH_CONTAINER(pod, c) {
		if (c->accelerator &&
		    !text_starts(c->resource, "nvidia.com/mig-"))
			return false;
		found |= c->accelerator != NULL;
	}
	return found;
}

/* True if the name of a container's resource contains the model, as with some
 * vendors (`MR-V100-vgpu`, `mlu370`) and sites (`nvidia.com/a100`). */
static bool pod_resource_names_model(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const char *vendor =
			c->accelerator ? c->accelerator->vendor : NULL;
		const char *name =
			c->resource ? strchr(c->resource, '/') : NULL;

		if (!name || !vendor || !strpbrk(name, "0123456789"))
			continue;
		if (strcmp(vendor, "nvidia")
			    ? strcmp(vendor, "amd") && strcmp(vendor, "intel")
			    : c->accelerator->class == ACCEL_WHOLE)
			return true;
	}
	return false;
}

/* True for a text that names GPUs or their machines, such as a label that a
 * site defines. */
static bool speaks_of_gpus(const char *text)
{
	static const char *const words[] = {
		"gpu",	      "accelerator", "nvidia",	 "tpu",	   "neuron",
		"inferentia", "trn1",	     "trainium", "habana", "gaudi",
		"instinct",   "mi300",	     "a100",	 "h100",   "h200",
		"b200",	      "v100",	     NULL};
	const struct instance_type *type = instance_type_find(text);

	return text_any(text, words, text_contains_ci) ||
	       (type && type->accelerators);
}

static bool selects(const struct node_need *need)
{
	const struct node_label *label = node_label_find(need->key);
	const struct node *value = node_need_value(need, 0);

	if (!node_need_requires(need))
		return false;
	/* A placeholder may become any value. */
	if (value && node_is_unknown(value))
		return true;
	if (label && label->meaning != LABEL_SPOT &&
	    label->meaning != LABEL_PLATFORM)
		return true;
	return speaks_of_gpus(need->key) ||
	       (node_str(value) && speaks_of_gpus(node_str(value))) ||
	       text_eq(need->key, "kubernetes.io/hostname");
}

/* True if the pod gets devices by claims or by a resource of a DeviceClass,
 * which select devices, or requests no resource of a device plugin. */
static bool has_claims_only(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_ASKED(c, entry)
			if (entry->accelerator &&
			    accelerator_is_claimed(entry->accelerator))
				return true;
	return pod->gpu_by & GPU_BY_CLAIM || !(pod->gpu_by & GPU_BY_RESOURCE);
}

/* Adds a fix that sets the policy's labels, if all of them suit the pod's
 * devices. A label that the pod already selects keeps its value. */
static void add_fix(struct rule_run *run, struct finding *f,
		    const struct pod *pod)
{
	struct arena *arena = rule_arena(run);
	const char *labels = rule_param(run, "selector"), *rest = labels;
	const struct node *own = pod_field(pod, "nodeSelector");
	struct label_pair label;
	struct fix *fix;

	if (pod->flat || !finding_param_given(run, f, "selector"))
		return;
	while (labels_next(arena, &rest, &label))
		if (!node_label_suits(pod, &label))
			return;
	fix = finding_fix(run, f, false, "set the nodeSelector `%s`", labels);
	while (labels_next(arena, &labels, &label))
		if (node_is_unset(node_get(own, label.key)))
			fix_set_key(fix, pod->spec, "nodeSelector", label.key,
				    edit_string(arena, label.value));
}

/* Returns whether the nodes have several products, according to the snapshot or
 * the policy. */
static enum tri has_choice(struct rule_run *run, const struct pod *pod)
{
	const char *const *products = rule_platform(run)->gpu_products;
	const struct cluster *cluster = rule_cluster(run);

	if (cluster_shows_nodes(cluster))
		return nodes_differ(cluster, pod);
	if (!products)
		return TRI_UNKNOWN;
	return tri_from(*products && products[1]);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	enum tri choice = has_choice(run, pod);
	const char *role = pod->role ? pod->role : "";
	const struct node *runtime;
	struct node_needs needs;
	struct finding *f;
	bool unknown;

	if (choice == TRI_NO || pod->injects & INJECT_SELECTOR ||
	    pod->object->kueue || pod->object->class == KIND_DAEMON ||
	    has_claims_only(pod) || pod_wants_profiles(pod) ||
	    pod_resource_names_model(pod) || pod_names_model(pod) ||
	    !node_is_unset(pod_field(pod, "nodeName")))
		return;
	needs = pod_node_needs(pod);
	runtime = rule_runtime_scheduling(run, pod, &unknown);
	if (node_count(node_get(runtime, "nodeSelector")) || unknown ||
	    needs.unknown || node_needs_imply(&needs, selects))
		return;
	f = report_pod(
		run, pod, pod_field(pod, "nodeSelector"),
		"%s says which %s model the%s%s%s pods need: %sthey %s whichever is free",
		needs.n ? "no known node label" : "no node selector",
		pod_device(pod), *role ? " `" : "", role, *role ? "`" : "",
		choice == TRI_YES ? "" : "if the cluster has several models, ",
		needs.n ? "may get" : "get");
	finding_missing(f, pod->object, pod->spec, "nodeSelector");
	if (choice != TRI_YES)
		finding_severity(f, SEVERITY_INFO);
	add_fix(run, f, pod);
	finding_help(run, f,
		     "Set a nodeSelector such as `%s` or your cloud's "
		     "accelerator label.",
		     node_product_label(pod));
}

static const struct rule_param params[] = {
	{"selector", "map", "",
	 "labels that the fix sets, KEY=VALUE,... (no fix if empty)"},
	{0},
};

const struct rule rule_gpu_node_selector_missing = {
	.name = "gpu-node-selector-missing",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH | RULE_SITE,
	.scope = GPU_PODS,
	.summary = "a GPU pod does not select a GPU model",
	.why = "The pod gets any free GPU: a large model on a small GPU runs out of memory in a loop, and a small job blocks an expensive GPU.",
	.remedy =
		"Set a nodeSelector (or required node affinity) for the accelerator's product label.",
	.evidence =
		"41 % of 637 public GPU pod specs select a node; https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery",
	.params = params,
	.check_pod = check,
};
