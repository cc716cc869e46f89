/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds objects to which a pod refers. All pods of a template share a claim
 * that is referred to by name; claims of volumeClaimTemplates and of ephemeral
 * volumes are separate for each pod. In a StatefulSet, a claim template
 * replaces the volume of the same name. Source:
 * pkg/controller/statefulset/stateful_set_utils.go updateStorage.
 */
#include "base/text.h"
#include "index_internal.h"
#include "kube/scheduling/affinity.h"

/* Largest number of volumes that are compared, because lists may be as long as
 * a file. */
enum { MOST = 64 };

static const struct node *claim_of(const struct node *volume)
{
	return node_get(node_get(volume, "persistentVolumeClaim"), "claimName");
}

static bool is_replaced(const struct pod *pod, const struct node *volume)
{
	const char *name = node_str(node_get(volume, "name"));

	FOR_EACH_CHILD(node_get(node_get(pod->object->root, "spec"),
				"volumeClaimTemplates"),
		       template)
		if (name && node_eq(node_path(template, "metadata.name"), name))
			return true;
	return false;
}

static void reference_add(const struct pod *pod, bool runtime_class,
			  const struct node *name, uint32_t file,
			  struct workload_pod *out)
{
	struct pod_reference *one = &out->references[out->nreferences++];

	one->runtime_class = runtime_class;
	one->name = text_or_empty(node_str(name));
	one->place = place_later(pod->object, name, file);
}

void pod_read_references(struct arena *arena, const struct pod *pod,
			 uint32_t file, struct workload_pod *out)
{
	const struct node *volumes = pod_field(pod, "volumes");
	const struct node *class = pod_field(pod, "runtimeClassName");
	size_t n = 0;

	if (pod->flat)
		return;
	out->apart = pod_keeps_apart(pod) != NULL;
	/* For JobSet and Volcano. */
	out->waits = !node_is_unset(node_get(pod->group, "dependsOn"));
	FOR_EACH_CHILD(volumes, volume)
		n += node_str(claim_of(volume)) != NULL;
	if (n > MOST)
		n = 0;
	if (!n && !class)
		return;
	out->references = ARENA_ARRAY(arena, struct pod_reference, n + 1);
	if (node_str(class) && *node_str(class))
		reference_add(pod, true, class, file, out);
	if (!n)
		return;
	out->together = pod_keeps_together(pod);
	FOR_EACH_CHILD(volumes, volume) {
		const struct node *name = claim_of(volume);

		if (node_str(name) && !is_replaced(pod, volume))
			reference_add(pod, false, name, file, out);
	}
}
