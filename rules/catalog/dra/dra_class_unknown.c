/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports claims that name a DeviceClass that does not exist. A claim may be
 * created before its class; only a snapshot shows that the class is missing. If
 * only files have device classes, a name that is similar to one of them is
 * reported with "if".
 */
#include <stdio.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/set/index_find.h"

static bool is_of_driver(struct rule_run *run, const char *name)
{
	char key[320];

	snprintf(key, sizeof(key), "deviceclass.resource.kubernetes.io/%s",
		 name);
	return accelerator_find(rule_accelerators(run), key);
}

static void report(struct rule_run *run, const struct class_request *request,
		   const char *near)
{
	struct finding *f = report_place(
		run, &request->id, &request->place,
		request->cluster
			? "the cluster has no DeviceClass `%s`: pods with this claim stay Pending"
			: "no file defines the DeviceClass `%s`: if the cluster does not have it either, pods with this claim stay Pending",
		request->name);

	if (near)
		finding_help(run, f, "did you mean `%s`?", near);
}

static void check_request(struct rule_run *run,
			  const struct class_request *request)
{
	const struct workload asks = {.id = request->id,
				      .place = request->place,
				      .cluster = request->cluster};
	struct arena *arena = rule_arena(run);
	const char *reason = NULL, *near = NULL;

	if (index_find(rule_index(run), &asks, CLUSTER_DEVICE_CLASS,
		       request->name, arena))
		return;
	/* Without a snapshot, skip classes that a driver may install, and names
	 * that differ only in numbers (h100.example.com, h200.example.com). */
	if (request->cluster || !is_of_driver(run, request->name))
		near = index_nearest(rule_index(run), &asks,
				     CLUSTER_DEVICE_CLASS, request->name,
				     arena);
	if (near && !request->cluster && text_is_series(near, request->name))
		near = NULL;
	if (request->cluster)
		reason = cluster_unreadable(request->cluster,
					    CLUSTER_DEVICE_CLASS);
	if (reason)
		rule_not_run(
			run,
			arena_printf(
				arena,
				"the cluster snapshot has no deviceclasses: %s",
				reason));
	else if (request->cluster || (near && !rule_set_is_partial(run)))
		report(run, request, near);
	else
		rule_not_run(run, rule_without_cluster(run));
}

static void check(struct rule_run *run)
{
	const struct object_index *index = rule_index(run);

	for (size_t i = 0; i < index->nrequests; i++)
		check_request(run, &index->requests[i]);
}

const struct rule rule_dra_class_unknown = {
	.name = "dra-class-unknown",
	.category = "dra",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary = "a claim that names a DeviceClass that does not exist",
	.why = "The pods stay Pending until the class is created.",
	.remedy =
		"Name a DeviceClass of the cluster; `kubectl get deviceclasses` lists them.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/blob/v1.36.1/pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, `device class %s does not exist`",
	.check_set = check,
};
