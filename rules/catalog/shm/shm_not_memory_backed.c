/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports volumes at /dev/shm that are not in memory: a plain emptyDir or a PVC
 * is as slow as the disk (and a plain emptyDir keeps the Cluster Autoscaler
 * from removing the node). The medium must be spelled "Memory"; the API server
 * accepts "memory", which the kubelet ignores. shm-hostpath reports the node's
 * /dev/shm, which is in memory. The medium of another folder of the node (/run,
 * a ramdisk) is unknown, and so is a CSI driver's. Source:
 * pkg/volume/emptydir/empty_dir.go; Cluster Autoscaler FAQ.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/resources/volume.h"

/* True if a command of the pod contains /dev/shm, so that the folder may
 * contain other files (a model). */
static bool says_shm(const struct pod *pod)
{
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		if (container_says(c, SHM_PATH))
			return true;
	return false;
}

/* True if a mount may contain files of the folder that is mounted at
 * /dev/shm. */
static bool overlaps(const struct node *mount, const char *folder)
{
	const struct node *path = node_get(mount, "subPath");

	if (!node_is_unset(node_get(mount, "subPathExpr")) ||
	    node_is_unknown(path))
		return true;
	return node_str(path) && text_starts(node_str(path), folder);
}

/* True if other files of the same folder may be used by this or another mount
 * of the volume. */
static bool shm_shares_files(const struct pod *pod, const struct shm *shm,
			     bool holds_files)
{
	const char *name = node_str(node_get(shm->volume, "name"));
	const char *own = node_str(node_get(shm->mount, "subPath"));

	if (!own || strpbrk(own, "/$") || holds_files)
		return true;
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount)
			if (mount != shm->mount &&
			    node_eq(node_get(mount, "name"), name) &&
			    overlaps(mount, own))
				return true;
	return false;
}

/* True if no memory limit is set, and the size is larger than usual, because it
 * may be meant for a disk. */
static bool is_large(const struct container *c, const struct shm *shm)
{
	struct quantity limit, usual;

	return container_bound(c, "memory", &limit, NULL) == QUANTITY_ABSENT &&
	       (!shm_volume_size(c, shm->volume, &usual) ||
		quantity_cmp(shm->size, usual) > 0);
}

/* Adds a fix that mounts a new memory volume at /dev/shm in place of the
 * volume, which also has other files and stays on disk. */
static void repoint(struct rule_run *run, struct finding *f,
		    const struct container *c, const struct shm *shm,
		    bool holds_files)
{
	const struct node *path = node_get(shm->mount, "subPath");
	const struct node *expr = node_get(shm->mount, "subPathExpr");
	struct arena *arena = rule_arena(run);
	char text[QUANTITY_TEXT];
	bool shares = shm_shares_files(c->pod, shm, holds_files);
	struct quantity size;
	struct fix *fix;

	if (!shm_new_size(c->pod, &size) || pod_volume(c->pod, SHM_VOLUME) ||
	    node_is_true(node_get(shm->mount, "readOnly")))
		return;
	quantity_text(size, text);
	fix = finding_fix(
		run, f, !shares,
		"mount a separate emptyDir of %s of memory at /dev/shm%s", text,
		shares ? "; the container no longer sees the volume's files there"
		       : "");
	fix_replaces(fix); /* the fix is marked safe only if no file is lost */
	fix_set(fix, shm->mount, "name", edit_string(arena, SHM_VOLUME));
	if (path)
		fix_remove(fix, path);
	if (expr)
		fix_remove(fix, expr);
	fix_ensure(fix, c->pod->spec, "volumes",
		   shm_new_volume(arena, SHM_VOLUME, arena_strdup(arena, text)),
		   "name");
}

/* Adds a fix that changes an emptyDir that is used only for /dev/shm, or else
 * mounts a new volume. A PVC or a hostPath is not replaced. */
static void add_fix(struct rule_run *run, struct finding *f,
		    const struct container *c, const struct shm *shm,
		    bool holds_files)
{
	struct arena *arena = rule_arena(run);
	char text[QUANTITY_TEXT];
	struct quantity size;
	struct fix *fix;

	if (!shm_has_volume_alone(c->pod, shm->volume)) {
		repoint(run, f, c, shm, holds_files);
		return;
	}
	if (shm->size_state != QUANTITY_ABSENT) {
		/* Keep the author's size. It may be meant for a disk, so the
		 * fix is unsafe if the size is large. */
		if (shm->size_state != QUANTITY_OK ||
		    !shm_size_fits(c, shm->volume, shm->size))
			return;
		fix = finding_fix(run, f, !is_large(c, shm) && !holds_files,
				  "set `medium: Memory`");
	} else {
		if (!shm_volume_size(c, shm->volume, &size))
			return;
		quantity_text(size, text);
		fix = finding_fix(run, f, !holds_files,
				  "set `medium: Memory` and `sizeLimit: %s`",
				  text);
		fix_set(fix, shm->volume, "emptyDir.sizeLimit",
			edit_string(arena, arena_strdup(arena, text)));
	}
	/* The kubelet ignores another spelling and uses the disk. */
	fix_replaces(fix);
	fix_set(fix, shm->volume, "emptyDir.medium",
		edit_string(arena, "Memory"));
}

static void check_mount(struct rule_run *run, const struct container *c,
			const struct shm *shm, bool holds_files)
{
	const struct node *medium = node_get(shm->empty_dir, "medium");
	struct finding *f;

	if (shm->empty_dir && node_str(medium) && *node_str(medium)) {
		if (text_starts(node_str(medium), "HugePages"))
			return;
		f = report_container(
			run, c, medium,
			"`medium: %s` is unknown to the kubelet; did you mean `Memory`?",
			node_str(medium));
		finding_severity(f, SEVERITY_ERROR);
	} else {
		const struct node *at =
			shm->empty_dir ? shm->empty_dir : shm->volume;

		f = report_container(
			run, c, at,
			"/dev/shm of container `%s` is on disk, not in memory",
			container_title(c));
	}
	finding_label(run, f, shm->mount, "mounted at /dev/shm");
	if (shm->empty_dir)
		add_fix(run, f, c, shm, holds_files);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	bool known = false, holds_files = false;

	FOR_EACH_CONTAINER(pod, c) {
		struct shm shm = container_shm(c);

		if (c->role == CONTAINER_INIT || !shm.volume || shm.unknown ||
		    shm.memory || node_get(shm.volume, "hostPath") ||
		    node_get(shm.volume, "csi"))
			continue;
		/* A pod may have many such containers. */
		if (!known)
			holds_files = says_shm(pod);
		known = true;
		check_mount(run, c, &shm, holds_files);
	}
}

const struct rule rule_shm_not_memory_backed = {
	.name = "shm-not-memory-backed",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.flags = RULE_SAFE_PATCH | RULE_RAISES,
	.scope = GPU_PODS | PODSPEC,
	.summary = "the volume mounted at /dev/shm is not in memory",
	.why = "Shared memory is as slow as the disk, and an emptyDir on disk keeps the Cluster Autoscaler from removing the node.",
	.remedy = "Use emptyDir with medium: Memory and a sizeLimit.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/volume/emptydir/empty_dir.go; https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md on local storage; kube-apiserver accepts medium: memory",
	.check_pod = check,
};
