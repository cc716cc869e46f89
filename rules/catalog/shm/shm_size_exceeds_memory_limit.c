/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports volumes at /dev/shm whose sizeLimit is not below the memory limit.
 * Their pages count as memory of the container that writes them and survive its
 * restart, so that a container that fills /dev/shm is killed and restarted
 * endlessly. A volume without sizeLimit is as large as the pod's memory limit:
 * it is reported as an info, unless the pod never restarts containers, or its
 * restart policy is unknown. Source: kubernetes#128339 (open); empty_dir.go
 * calculateEmptyDirMemorySize.
 */
#include "engine/rule.h"
#include "kube/resources/volume.h"

static void add_fix(struct rule_run *run, struct finding *f,
		    const struct container *c, const struct shm *shm)
{
	struct arena *arena = rule_arena(run);
	char text[QUANTITY_TEXT];
	struct quantity size;

	if (!shm_volume_size(c, shm->volume, &size))
		return;
	quantity_text(size, text);
	fix_set(finding_fix(run, f, false, "set `sizeLimit: %s` for /dev/shm",
			    text),
		shm->volume, "emptyDir.sizeLimit",
		edit_string(arena, arena_strdup(arena, text)));
}

static void check_mount(struct rule_run *run, const struct container *c,
			const struct shm *shm)
{
	const struct node *by;
	const char *whose;
	struct quantity limit;
	char size[QUANTITY_TEXT], memory[QUANTITY_TEXT];
	struct finding *f;

	if (container_bound(c, "memory", &limit, &by) != QUANTITY_OK)
		return;
	whose = by == node_get(c->limits, "memory") ? "its" : "the pod's";
	if (shm->size_state == QUANTITY_OK &&
	    quantity_cmp(shm->size, limit) >= 0)
		f = report_container(
			run, c, shm->size_node,
			"a sizeLimit of %s does not bound /dev/shm: container `%s` is killed at %s memory limit of %s",
			quantity_text(shm->size, size), container_title(c),
			whose, quantity_text(limit, memory));
	else if (shm->size_state == QUANTITY_ABSENT &&
		 c->pod->restart != RESTART_NEVER &&
		 c->pod->restart != RESTART_UNKNOWN) {
		f = report_container(
			run, c, shm->empty_dir,
			"/dev/shm of container `%s` has no sizeLimit: only %s memory limit of %s bounds it",
			container_title(c), whose,
			quantity_text(limit, memory));
		finding_severity(f, SEVERITY_INFO);
	} else {
		return;
	}
	finding_label(run, f, by, "the memory limit");
	add_fix(run, f, c, shm);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct shm shm = container_shm(c);

		if (c->role != CONTAINER_INIT && shm.memory && !shm.unknown)
			check_mount(run, c, &shm);
	}
}

const struct rule rule_shm_size_exceeds_memory_limit = {
	.name = "shm-size-exceeds-memory-limit",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.flags = RULE_OPT_IN_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.summary = "/dev/shm may grow beyond the memory limit of the container",
	.why = "Its pages count against the container's memory limit and survive restarts: once it is full, the container is OOM-killed again and again.",
	.remedy =
		"Set sizeLimit well below the memory limit; half of it is usual.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/issues/128339; https://github.com/kubernetes/kubernetes/tree/master/pkg/volume/emptydir calculateEmptyDirMemorySize; https://github.com/kubernetes/kubernetes/issues/125852",
	.check_pod = check,
};
