/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports workloads that request a resource name which several DeviceClasses
 * define. The scheduler and the kubelet use the class that was created last, or
 * the one whose name sorts first if both were created in one nanosecond
 * (k8s.io/dynamic-resource-allocation v0.36.2
 * deviceclass/extendedresourcecache, updateResourceName2class).
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/set/index_find.h"

#define FIELD "spec.extendedResourceName"

/* True if the class defines the resource, in the snapshot or in a file of the
 * workload's set: classes of other sets may be those of other clusters. */
static bool defines(struct rule_run *run, const struct workload *w,
		    const struct found_object *class, const char *resource)
{
	const struct object_index *set = rule_index(run);
	uint32_t file = class->place.file;

	return (file == NO_FILE || !set->file_sets ||
		set->file_sets[file] == index_set_of(set, w)) &&
	       node_eq(node_path(class->root, FIELD), resource);
}

static void check_resource(struct rule_run *run, const struct workload *w,
			   const struct found_object *classes, size_t n,
			   const char *resource)
{
	const struct found_object *first = NULL, *second = NULL;
	struct finding *f;

	for (size_t i = 0; i < n && !second; i++)
		if (defines(run, w, &classes[i], resource)) {
			second = first ? &classes[i] : NULL;
			first = first ? first : &classes[i];
		}
	if (!second)
		return;
	f = report_place(
		run, &w->id, &w->place,
		"DeviceClasses `%s` and `%s` both define `%s`: %s gets the devices of the class that was created last",
		first->name, second->name, resource,
		rule_title(run, w->id.kind, w->id.name));
	finding_cause(run, f, resource);
	finding_label_place(run, f, &first->place, "a DeviceClass");
	finding_label_place(run, f, &second->place, "the other DeviceClass");
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct found_object *classes;
	size_t n;

	if (w->child || !index_keeps(rule_index(run), CLUSTER_DEVICE_CLASS))
		return;
	classes = index_find_all(rule_index(run), w, CLUSTER_DEVICE_CLASS,
				 rule_arena(run), &n);
	for (size_t p = 0; n > 1 && p < w->npods; p++)
		for (size_t i = 0; i < w->pods[p].ndemand; i++)
			check_resource(run, w, classes, n,
				       w->pods[p].demand[i].resource);
}

const struct rule rule_dra_resource_ambiguous = {
	.name = "dra-resource-ambiguous",
	.category = "dra",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary = "a requested resource that two DeviceClasses define",
	.why = "Only one of the classes provides the resource, so the pods may get other devices than intended, or none.",
	.remedy =
		"Give each DeviceClass its own extendedResourceName, or request the class by name (deviceclass.resource.kubernetes.io/NAME).",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/v1.36.1/staging/src/k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache",
	.check_workload = check,
};
