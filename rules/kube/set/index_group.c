/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads PodGroups of coscheduling, Volcano, KAI and Kubernetes, and the pods
 * that name them. Sources: scheduler-plugins v0.32 apis/scheduling/v1alpha1
 * (PodGroupLabel); volcano apis v1.12 pkg/apis/scheduling/v1beta1/labels.go
 * (KubeGroupNameAnnotationKey); k8s.io/api v0.37 core/v1 PodSchedulingGroup,
 * scheduling/v1beta1 GangSchedulingPolicy; KAI-Scheduler
 * docs/batch/README.md (external PodGroups).
 */
#include "base/array.h"
#include "index_internal.h"
#include "kube/command/parallel.h"

/* Returns the minimum of a PodGroup and sets *type; NULL for other objects, or
 * if the minimum is not set. */
static const struct node *minimum_of(const struct object *o,
				     enum group_type *type)
{
	static const struct {
		const char *group, *path;
		enum group_type type;
	} groups[] = {
		{"scheduling.x-k8s.io", "spec.minMember", GROUP_COSCHEDULING},
		{"scheduling.volcano.sh", "spec.minMember", GROUP_VOLCANO},
		{"scheduling.k8s.io", "spec.schedulingPolicy.gang.minCount",
		 GROUP_KUBERNETES},
		{"scheduling.run.ai", "spec.minMember", GROUP_KAI},
	};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (!object_is(o, groups[i].group, "PodGroup"))
			continue;
		*type = groups[i].type;
		return node_path(o->root, groups[i].path);
	}
	return NULL;
}

/* True if KAI leaves the group of the pods as it is, instead of making one for
 * their owner. */
static bool skips_grouper(const struct pod *pod)
{
	static const char key[] = "kai.scheduler/skip-podgrouper";

	return node_eq(pod_annotation(pod, key), "true") ||
	       node_eq(object_annotation(pod->object, key), "true");
}

/* Returns the name of the group to which a pod belongs, or NULL. */
static const struct node *group_of(const struct pod *pod, enum group_type *type)
{
	const struct node *name =
		pod_label(pod, "scheduling.x-k8s.io/pod-group");

	*type = GROUP_COSCHEDULING;
	if (name)
		return name;
	name = pod_annotation(pod, "scheduling.k8s.io/group-name");
	*type = GROUP_VOLCANO;
	if (name)
		return name;
	name = pod_annotation(pod, "pod-group-name");
	*type = GROUP_KAI;
	if (name && skips_grouper(pod))
		return name;
	*type = GROUP_KUBERNETES;
	return node_path(pod->spec, "schedulingGroup.podGroupName");
}

/* Returns the number of pods for which the ranks wait (--nnodes=4), or 0. */
static int64_t ranks_of(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list = container_parallel(c);

		for (size_t i = 0; i < list.n; i++) {
			const struct degree *nodes =
				&list.items[i].degrees[DEGREE_NODES];

			if (nodes->given && !nodes->unknown &&
			    nodes->n == nodes->max)
				return nodes->n;
		}
	}
	return 0;
}

static void add(struct object_index *set, const struct object *o,
		const struct node *at, uint32_t file, struct pod_group group)
{
	group.id = index_id(&set->arena, o);
	group.place = place_of(&set->arena, o, at, file);
	group.name = index_text(&set->arena, group.name);
	group.cluster = set->cluster;
	*ARRAY_PUSH(set->groups, set->ngroups, set->groups_size) = group;
}

void index_add_group(struct object_index *set, const struct object *o,
		     uint32_t file)
{
	struct pod_group group = {.name = o->name};
	const struct node *least = minimum_of(o, &group.type);

	if (o->fragment)
		return;
	if (least && o->name) {
		group.n = amount_int(least, 0);
		add(set, o, least, file, group);
		return;
	}
	FOR_EACH_POD(o, pod) {
		const struct node *name = group_of(pod, &group.type);

		if (!name)
			continue;
		group.member = true;
		group.name = node_str(name);
		group.n = pod->steady;
		group.ranks = ranks_of(pod);
		if (group.name && *group.name)
			add(set, o, name, file, group);
	}
}
