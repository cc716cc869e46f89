/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods with hostIPC: true. It gives a pod access to the host's
 * /dev/shm and to the shared memory (System V and POSIX) of all other pods with
 * hostIPC. It was a workaround for a small /dev/shm; Pod Security's baseline
 * level forbids it. Clients of NVIDIA MPS are skipped, because they need it to
 * reach the node's daemon. Source: GKE, How-to guides, "Share GPUs with
 * multiple workloads using NVIDIA MPS" (hostIPC: required).
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/resources/volume.h"
#include "kube/scheduling/affinity.h"

/* True if every container that requests devices has its own /dev/shm. */
static bool has_own(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->gpus.n > 0 && !container_shm(c).mount)
			return false;
	return true;
}

static bool selects_mps(const struct node_need *need)
{
	return text_eq(need->key,
		       "cloud.google.com/gke-gpu-sharing-strategy") &&
	       node_eq(node_need_value(need, 0), "mps");
}

static bool has_mps(struct arena *arena, const struct container *c)
{
	FOR_EACH_CHILD(container_host_mounts(c), mount) {
		struct host_path shown = mount_host_path(arena, c, mount);

		if (host_path_shows(&shown) == HOST_SHOWS_SHARE)
			return true;
	}
	return container_env(c, "CUDA_MPS_PIPE_DIRECTORY");
}

static bool is_mps_client(struct arena *arena, const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	FOR_EACH_CONTAINER(pod, c)
		if (has_mps(arena, c))
			return true;
	return node_needs_imply(&needs, selects_mps);
}

static bool lacks_shm(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (container_lacks_shm(c))
			return true;
	return false;
}

/* Adds a fix that removes hostIPC, and mounts a /dev/shm in containers that
 * need one. */
static void add_fix(struct rule_run *run, struct finding *f,
		    const struct pod *pod, const struct node *host_ipc)
{
	struct arena *arena = rule_arena(run);
	char text[QUANTITY_TEXT];
	struct quantity size;
	struct fix *fix;

	if (!lacks_shm(pod)) {
		fix_remove(finding_fix(run, f, false, "remove `hostIPC`"),
			   host_ipc);
		return;
	}
	if (pod_volume(pod, SHM_VOLUME) || pod_shm_volume(pod) ||
	    !shm_new_size(pod, &size))
		return;
	quantity_text(size, text);
	fix = finding_fix(run, f, false,
			  "remove `hostIPC`, and mount an emptyDir of %s of "
			  "memory at /dev/shm",
			  text);
	fix_remove(fix, host_ipc);
	FOR_EACH_CONTAINER(pod, c)
		if (container_lacks_shm(c))
			fix_ensure(fix, c->node, "volumeMounts",
				   shm_new_mount(arena, SHM_VOLUME),
				   "mountPath");
	fix_ensure(fix, pod->spec, "volumes",
		   shm_new_volume(arena, SHM_VOLUME, arena_strdup(arena, text)),
		   "name");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *host_ipc = pod_field(pod, "hostIPC");
	struct finding *f;

	if (!node_is_true(host_ipc) || is_mps_client(rule_arena(run), pod))
		return;
	f = report_pod(
		run, pod, host_ipc,
		"`hostIPC: true` makes %s pods share the IPC namespace of their node%s",
		pod_device(pod), has_own(pod) ? "" : ", and its /dev/shm");
	add_fix(run, f, pod, host_ipc);
}

const struct rule rule_hostipc_instead_of_shm = {
	.name = "hostipc-instead-of-shm",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.flags = RULE_OPT_IN_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.summary = "GPU pods share the IPC namespace of their node",
	.why = "Every pod on the node that also uses hostIPC can read and fill the same memory; Pod Security's baseline level forbids it.",
	.remedy =
		"Remove hostIPC and mount an emptyDir with medium: Memory at /dev/shm.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline: host namespaces",
	.check_pod = check,
};
