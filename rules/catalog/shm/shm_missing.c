/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container runtime's /dev/shm is 64 MiB. PyTorch data loaders and NCCL
 * without P2P exchange tensors through it and die of a bus error. Whoever
 * shares the host's IPC namespace has the host's (another rule speaks).
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/shm.h"

static bool is_windows(const struct pod *pod)
{
	return node_eq(node_path(pod_field(pod, "os"), "name"), "windows") ||
	       node_eq(node_get(pod_field(pod, "nodeSelector"),
				"kubernetes.io/os"),
		       "windows");
}

#define VOLUME "gpugate-shm"

static bool lacks_shm(struct rule_run *run, const struct container *c)
{
	return c->role != CONTAINER_INIT && c->gpus.n >= 1 &&
	       !shm_is_injected(c) && !container_shm(c).mount &&
	       !container_shm(c).unknown &&
	       container_needs_shm(rule_arena(run), c);
}

/* One volume for all containers of the pod: the smallest of their sizes. */
static const char *size_for(struct rule_run *run, const struct pod *pod)
{
	const char *given = rule_param(run, "size");
	struct quantity wish = rule_param_quantity(run, "size");
	struct quantity least = {0}, size;
	char text[QUANTITY_TEXT];

	FOR_EACH_CONTAINER(pod, c) {
		if (!lacks_shm(run, c))
			continue;
		size = wish;
		if (*given ? !shm_size_fits(c, NULL, wish)
			   : !shm_default_size(c, &size))
			return NULL;
		if (!least.nano || quantity_cmp(size, least) < 0)
			least = size;
	}
	if (*given)
		return given;
	return arena_strdup(rule_arena(run), quantity_text(least, text));
}

static void repair(struct rule_run *run, struct finding *f,
		   const struct container *c, const char *size)
{
	struct arena *arena = rule_arena(run);
	struct fix *fix;

	if (!size || pod_volume(c->pod, VOLUME))
		return;
	fix = finding_fix(run, f, true, "mount %s of memory at /dev/shm", size);
	fix_ensure(fix, c->node, "volumeMounts", shm_new_mount(arena, VOLUME),
		   "mountPath");
	fix_ensure(fix, c->pod->spec, "volumes",
		   shm_new_volume(arena, VOLUME, size), "name");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *host_ipc = pod_field(pod, "hostIPC");
	const char *size = "";

	if (pod->flat || pod_uses_gpu(pod) != TRI_YES || is_windows(pod) ||
	    node_is_true(host_ipc) || node_is_unknown(host_ipc))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct finding *f;

		if (!lacks_shm(run, c))
			continue;
		f = report_container(
			run, c, NULL,
			"container `%s` gets the runtime's 64 MiB of /dev/shm",
			container_title(c));
		finding_help(
			run, f,
			"mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm");
		size = size && !*size ? size_for(run, pod) : size;
		repair(run, f, c, size);
	}
}

static const struct rule_param params[] = {
	{"size", "quantity", "",
	 "sizeLimit of the repair; empty: half of the memory limit, 1Gi to 64Gi"},
	{0},
};

static const char *const yields_to[] = {"shm-volume-unmounted", 0};

const struct rule rule_shm_missing = {
	.name = "shm-missing",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.action = ACTION_PATCH,
	.flags = RULE_ABSENCE | RULE_SAFE_PATCH,
	.since = "1.0",
	.summary =
		"a GPU container that needs shared memory runs with the runtime's 64 MiB",
	.why = "Data loaders and NCCL exchange tensors through /dev/shm: the job dies with a bus error, or crawls, while it holds its GPUs.",
	.remedy =
		"Mount an emptyDir with medium: Memory and a sizeLimit at /dev/shm.",
	.evidence =
		"kubernetes#28272; pytorch#16979; pytorch#5040; 37 % of 637 public GPU pod specs mount it",
	.params = params,
	.yields_to = yields_to,
	.check_pod = check,
};
