/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports resource names that are similar to an accelerator's, such as
 * `nvidia.com/gpus`, `nvidia/gpu`, `nvidia.com/GPU` and `gpu`. The API server
 * accepts any name with a domain, but no node offers it, so the pod stays
 * Pending. A name without a domain is rejected ("must be a standard resource
 * for containers"), on custom resources only when the pods are created. Also
 * reports correct names that no node of the cluster offers, that a device
 * plugin's configuration in the files renames, or that a DeviceClass defines in
 * a cluster that may be older than Kubernetes 1.36.
 *
 * Source: pkg/apis/core/helper IsExtendedResourceName, observed on
 * kube-apiserver. mig-profile-invalid reports misspelled MIG names.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/node_match.h"

/* Returns the number of nodes that offer the resource. Sets *most to the
 * largest amount on one node. */
static uint64_t nodes_with_resource(const struct cluster *cluster,
				    const char *resource, int64_t *most)
{
	uint64_t count = 0;
	size_t n;
	const struct node_group *groups = cluster_nodes(cluster, &n);

	*most = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t has = node_group_offers(&groups[i], resource);

		if (has > 0)
			count += groups[i].count;
		if (has > *most)
			*most = has;
	}
	return count;
}

/* A container. own has, for each of its entries, the accelerator that the name
 * resembles; before has those of the previous container. */
struct names {
	const struct container *c;
	const struct accelerator **own, **before;
};

/* Returns accelerator_resembles() for the entry's name. The resources of
 * adjacent containers are usually the same, and the search is slow. */
static const struct accelerator *
find_similar(struct rule_run *run, const struct names *names,
	     const struct resource_entry *entry)
{
	static const struct accelerator nothing = {.name = ""};
	const struct container *c = names->c, *before = c - 1;
	size_t i = (size_t)(entry - c->entries);
	const struct accelerator *found = NULL;

	if (names->before && i < before->nlimits + before->nrequests &&
	    text_eq(before->entries[i].node->key, entry->node->key))
		found = names->before[i];
	if (!found)
		found = accelerator_resembles(rule_accelerators(run),
					      entry->node->key);
	names->own[i] = found ? found : &nothing;
	return found == &nothing ? NULL : found;
}

/* Returns the name that is probably meant, or NULL. */
static const char *meant(struct rule_run *run, const struct names *names,
			 const struct resource_entry *entry)
{
	const struct accelerator_extra *extra = rule_accelerators(run);
	const struct accelerator *accelerator;
	const char *key = entry->node->key;

	/* Remove the prefix of a quota's key, which does not belong in a
	 * container. */
	if (text_starts(key, "requests.") || text_starts(key, "limits.")) {
		key = strchr(key, '.') + 1;
		return accelerator_find(extra, key) ? key : NULL;
	}
	accelerator = find_similar(run, names, entry);
	return accelerator ? accelerator->name : NULL;
}

/* Reports a correct name that no node of the cluster offers. */
static void check_nodes(struct rule_run *run, const struct container *c,
			const struct resource_entry *entry)
{
	const struct cluster *cluster = rule_cluster(run);
	const struct node *value = entry->node;
	struct finding *f;
	int64_t most;

	if (!cluster_shows_nodes(cluster) || entry->state != QUANTITY_OK ||
	    entry->quantity.nano <= 0 ||
	    cluster_count(cluster, CLUSTER_DEVICE_CLASS) ||
	    rule_names_device(run, value->key) ||
	    !nodes_afford(cluster, c->pod, 0) ||
	    nodes_with_resource(cluster, value->key, &most))
		return;
	f = report_container(run, c, value,
			     "no node of the cluster offers `%s`", value->key);
	finding_at_key(run, f, value);
	finding_cause(run, f, value->key);
	finding_severity(f, SEVERITY_WARNING);
	finding_guess(run, f);
}

/* Reports a name that a DeviceClass defines, unless the cluster is known to
 * support such names by default (Kubernetes 1.36). */
static void report_named(struct rule_run *run, const struct container *c,
			 const struct node *value)
{
	int minor = rule_platform(run)->kubernetes;
	struct finding *f;

	if (minor >= 36)
		return;
	f = report_container(
		run, c, value,
		minor ? "a DeviceClass defines `%s`: unless the feature gate DRAExtendedResource is on, no node offers it"
		      : "a DeviceClass defines `%s`: if the cluster is older than Kubernetes 1.36 and its feature gate DRAExtendedResource is off, no node offers it",
		value->key);
	finding_at_key(run, f, value);
	finding_cause(run, f, value->key);
	finding_severity(f, minor ? SEVERITY_WARNING : SEVERITY_INFO);
	finding_help(
		run, f,
		"Turn on the feature gate DRAExtendedResource, or request the devices by a claim.");
}

static void check_entry(struct rule_run *run, const struct names *names,
			const struct resource_entry *entry)
{
	const struct container *c = names->c;
	const struct node *value = entry->node;
	const char *name;
	struct finding *f;

	if (entry->accelerator && entry->accelerator->named)
		return report_named(run, c, value);
	if (entry->accelerator)
		return check_nodes(run, c, entry);
	/* Operators may define their own short names (Dynamo's `gpu`). */
	if (c->pod->flat && !strchr(value->key, '/'))
		return;
	name = meant(run, names, entry);
	if (!name || entry->state == QUANTITY_ABSENT)
		return;
	/* A request of 0 for a name that no node offers does no harm; a short
	 * name is always rejected. */
	if (strchr(value->key, '/') && entry->state == QUANTITY_OK &&
	    !entry->quantity.nano)
		return;
	if (rule_names_device(run, value->key))
		return report_named(run, c, value);
	f = report_container(
		run, c, value,
		"container `%s` requests `%s`, which no node offers; did you mean `%s`?",
		container_title(c), value->key, name);
	finding_at_key(run, f, value);
	finding_cause(run, f, value->key);
	finding_help(
		run, f,
		"Use `%s`; if your cluster really advertises `%s`, list it under `accelerators` in .gpugate.yaml.",
		name, value->key);
}

/* Checks a field of the operator that names the resource. */
static void check_named(struct rule_run *run, const struct pod *pod)
{
	const struct accelerator_extra *extra = rule_accelerators(run);
	const char *name = node_str(pod->device_name);
	const struct accelerator *near;

	if (!name || accelerator_find(extra, name))
		return;
	near = accelerator_resembles(extra, name);
	if (near)
		report_pod(run, pod, pod->device_name,
			   "no node offers `%s`; did you mean `%s`?", name,
			   near->name);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct names names = {0};

	check_named(run, pod);
	FOR_EACH_CONTAINER(pod, c) {
		names.c = c;
		names.before = names.own;
		names.own =
			ARENA_ARRAY(rule_arena(run), const struct accelerator *,
				    c->nlimits + c->nrequests);
		FOR_EACH_ASKED(c, entry)
			check_entry(run, &names, entry);
	}
}

/* Reports nvidia.com/gpu if a configuration in the files renames it. */
static void check_renamed(struct rule_run *run, const struct container *c,
			  const struct component_config *config)
{
	FOR_EACH_ASKED(c, entry) {
		const struct node *value = entry->node;
		struct finding *f;

		if (strcmp(value->key, "nvidia.com/gpu") ||
		    entry->state != QUANTITY_OK || entry->quantity.nano <= 0)
			continue;
		f = report_container(
			run, c, value,
			"a device plugin configuration in the input files renames `nvidia.com/gpu`: if the nodes use it, they offer `nvidia.com/gpu.shared` instead");
		finding_at_key(run, f, value);
		finding_cause(run, f, value->key);
		finding_label_place(run, f, &config->place, "renames it");
		finding_severity(f, SEVERITY_INFO);
		finding_help(
			run, f,
			"If the nodes use that configuration, request `nvidia.com/gpu.shared`.");
	}
}

static void check_workload(struct rule_run *run, const struct workload *w)
{
	const struct object_index *set = rule_index(run);
	const struct object *object;

	for (size_t i = 0; i < set->nconfigs; i++) {
		if (set->configs[i].type != CONFIG_RENAMED_GPU ||
		    !config_is_beside(set, &set->configs[i], w) ||
		    cluster_shows_nodes(rule_cluster(run)))
			continue;
		object = rule_object(run, w);
		if (!object)
			return;
		FOR_EACH_POD(object, pod)
			FOR_EACH_CONTAINER(pod, c)
				check_renamed(run, c, &set->configs[i]);
		return;
	}
}

const struct rule rule_gpu_resource_name_unknown = {
	.name = "gpu-resource-name-unknown",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE,
	.summary =
		"an accelerator resource name that no node offers, or may not offer",
	.why = "The API server accepts any name with a domain, but no node offers it, so the pod stays Pending forever. A name without a domain is rejected.",
	.remedy =
		"Use the name that the device plugin advertises, for example nvidia.com/gpu.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/helper IsExtendedResourceName; observed on kube-apiserver 1.37.2",
	.check_pod = check,
	.check_workload = check_workload,
};
