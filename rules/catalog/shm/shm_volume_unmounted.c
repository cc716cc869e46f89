/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods with a Memory emptyDir that is named for shared memory but not
 * mounted at /dev/shm in the GPU container: glibc, PyTorch and NCCL use only
 * this path. Skips programs that get another mount path of the volume in their
 * command or a variable, and containers that need no shared memory if another
 * one mounts the volume.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/resources/volume.h"

static const struct node *mount_of(const struct container *c,
				   const struct node *volume)
{
	const char *name = node_str(node_get(volume, "name"));

	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount)
		if (name && node_eq(node_get(mount, "name"), name))
			return mount;
	return NULL;
}

/* The pod's volume for shared memory, read once for all its containers. */
struct intended {
	const struct node *volume; /* NULL: not read yet */
	bool used;		   /* a container mounts it, at any path */
	bool alone;		   /* no container mounts it at another path */
	bool sized;
	struct quantity size;
};

/* Computes a size with which the volume, once mounted, cannot fill the memory
 * of any container. Returns false if there is none. */
static bool size_for(const struct pod *pod, const struct node *volume,
		     struct quantity *size)
{
	bool any = false;

	FOR_EACH_CONTAINER(pod, c) {
		struct quantity own;

		if (c->role == CONTAINER_INIT ||
		    (c->gpus.n < 1 && container_shm(c).volume != volume))
			continue;
		if (!shm_default_size(c, &own))
			return false;
		if (!any || quantity_cmp(own, *size) < 0)
			*size = own;
		any = true;
	}
	return any;
}

static void read_intended(struct intended *in, const struct pod *pod,
			  const struct node *volume)
{
	if (in->volume)
		return;
	in->volume = volume;
	in->alone = shm_has_volume_alone(pod, volume);
	in->sized = size_for(pod, volume, &in->size);
	FOR_EACH_CONTAINER(pod, c)
		in->used |= mount_of(c, volume) != NULL;
}

static void add_fix(struct rule_run *run, struct finding *f,
		    const struct container *c, const struct intended *in)
{
	const struct node *volume = in->volume;
	const char *name = node_str(node_get(volume, "name"));
	struct arena *arena = rule_arena(run);
	struct quantity size;
	char text[QUANTITY_TEXT] = "";
	enum quantity_state state =
		node_quantity(node_path(volume, "emptyDir.sizeLimit"), &size);
	struct fix *fix;

	if (state == QUANTITY_ABSENT
		    ? !in->sized
		    : state != QUANTITY_OK || !shm_size_fits(c, volume, size))
		return;
	if (state == QUANTITY_ABSENT)
		quantity_text(in->size, text);
	/* A size would also limit the files of other mounts. */
	fix = finding_fix(run, f, state != QUANTITY_ABSENT || in->alone,
			  "mount `%s` at /dev/shm%s%s%s", name,
			  *text ? " and set `sizeLimit: " : "", text,
			  *text ? "`" : "");
	fix_ensure(fix, c->node, "volumeMounts", shm_new_mount(arena, name),
		   "mountPath");
	if (*text)
		fix_set(fix, volume, "emptyDir.sizeLimit",
			edit_string(arena, arena_strdup(arena, text)));
}

/* True if the program gets the path in its command or variables, and so uses
 * it. */
static bool knows_place(const struct container *c, const char *path)
{
	if (!path || !path[strspn(path, "/")])
		return false;
	if (container_says(c, path))
		return true;
	for (size_t i = 0; i < c->nenv; i++)
		if (text_contains(node_str(c->env[i].value), path))
			return true;
	return false;
}

/* True if this container, which does not mount the volume, needs no shared
 * memory, and another one mounts the volume. */
static bool is_of_another(const struct container *c, const struct intended *in)
{
	return in->used && container_shm_need(c).is == SHM_NOT_NEEDED;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *volume = pod_shm_volume(pod);
	struct intended in = {.volume = NULL};

	if (!volume)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *mount, *path;
		struct finding *f;
		struct shm shm;

		if (c->role == CONTAINER_INIT || c->gpus.n < 1)
			continue;
		read_intended(&in, pod, volume);
		shm = container_shm(c);
		mount = mount_of(c, volume);
		path = node_get(mount, "mountPath");
		if (shm.mount || shm.unknown || shm_is_injected(c) ||
		    node_is_unknown(path) || knows_place(c, node_str(path)) ||
		    (!mount && is_of_another(c, &in)))
			continue;
		if (node_str(path))
			f = report_container(
				run, c, path,
				"the shared memory of container `%s` is mounted at `%s`, not at /dev/shm",
				container_title(c), node_str(path));
		else if (mount)
			f = report_container(
				run, c, mount,
				"the mount of the shared memory of container `%s` has no `mountPath` /dev/shm",
				container_title(c));
		else
			f = report_container(
				run, c, NULL,
				"container `%s` does not mount the pod's shared memory volume `%s`",
				container_title(c),
				node_str(node_get(volume, "name")));
		finding_label(run, f, volume, "the volume");
		if (!mount || node_str(path))
			add_fix(run, f, c, &in);
	}
}

const struct rule rule_shm_volume_unmounted = {
	.name = "shm-volume-unmounted",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.flags = RULE_SAFE_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a volume for shared memory is not mounted at /dev/shm of the GPU container",
	.why = "The container still has the runtime's 64 MiB although more was intended.",
	.remedy = "Mount the volume at exactly /dev/shm.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/issues/28272; shm_open(3) uses /dev/shm",
	.check_pod = check,
};
