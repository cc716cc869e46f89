/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that need, or may need, a larger /dev/shm than the 64 MiB
 * of the container runtime. PyTorch data loaders and NCCL without P2P exchange
 * tensors through it and fail with a bus error. Pods in the host's IPC
 * namespace are skipped (see hostipc-instead-of-shm). For an unknown program
 * with several devices, the message contains "if"; for training on one device,
 * it is an info.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/resources/volume.h"

static bool is_windows(const struct pod *pod)
{
	return node_eq(node_path(pod_field(pod, "os"), "name"), "windows") ||
	       node_eq(node_get(pod_field(pod, "nodeSelector"),
				"kubernetes.io/os"),
		       "windows");
}

/* Returns the size of one volume for all containers of the pod, the smallest of
 * their sizes; NULL if one of them is unknown or does not fit. */
static const char *size_for(struct rule_run *run, const struct pod *pod)
{
	const char *given = rule_param(run, "size");
	struct quantity override = rule_param_quantity(run, "size");
	struct quantity least = {0}, size;
	char text[QUANTITY_TEXT];

	FOR_EACH_CONTAINER(pod, c) {
		if (!container_lacks_shm(c))
			continue;
		size = override;
		if (*given ? !shm_size_fits(c, NULL, override)
			   : !shm_default_size(c, &size))
			return NULL;
		if (!least.nano || quantity_cmp(size, least) < 0)
			least = size;
	}
	if (*given)
		return given;
	return arena_strdup(rule_arena(run), quantity_text(least, text));
}

static void add_fix(struct rule_run *run, struct finding *f,
		    const struct container *c, const char *size)
{
	struct arena *arena = rule_arena(run);
	struct fix *fix;

	if (!size || pod_volume(c->pod, SHM_VOLUME))
		return;
	fix = finding_fix(run, f, true,
			  "mount an emptyDir of %s of memory at /dev/shm",
			  size);
	fix_ensure(fix, c->node, "volumeMounts",
		   shm_new_mount(arena, SHM_VOLUME), "mountPath");
	fix_ensure(fix, c->pod->spec, "volumes",
		   shm_new_volume(arena, SHM_VOLUME, size), "name");
}

#define MESSAGE "container `%s` has the runtime's 64 MiB of /dev/shm"

static struct finding *report(struct rule_run *run, const struct container *c)
{
	struct shm_need need = container_shm_need(c);

	if (need.by) {
		struct finding *f =
			report_container(run, c, NULL, MESSAGE ": %s",
					 container_title(c), need.by);

		if (need.is == SHM_DEPENDS)
			finding_severity(f, SEVERITY_INFO);
		return f;
	}
	return report_container(
		run, c, NULL,
		MESSAGE
		": if its devices exchange data through it, as NCCL does, it is too small",
		container_title(c));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *host_ipc = pod_field(pod, "hostIPC");
	const char *size = "";

	if (is_windows(pod) || node_is_true(host_ipc) ||
	    node_is_unknown(host_ipc))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct finding *f;

		if (!container_lacks_shm(c))
			continue;
		f = report(run, c);
		finding_help(
			run, f,
			"Mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm.");
		size = size && !*size ? size_for(run, pod) : size;
		add_fix(run, f, c, size);
	}
}

static const struct rule_param params[] = {
	{"size", "quantity", "",
	 "sizeLimit that the fix sets (if empty, half of the memory limit, from 1Gi to 64Gi)"},
	{0},
};

static const char *const yields_to[] = {"shm-volume-unmounted", 0};

const struct rule rule_shm_missing = {
	.name = "shm-missing",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_SAFE_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a GPU container that needs, or may need, shared memory has only the runtime's 64 MiB",
	.why = "Data loaders and NCCL exchange tensors through /dev/shm: if it is too small, the job dies with a bus error or becomes very slow while it holds its GPUs. With a single GPU, only the data loader needs it, so this is an info.",
	.remedy =
		"Mount an emptyDir with medium: Memory and a sizeLimit at /dev/shm.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/issues/28272; https://github.com/pytorch/pytorch/issues/16979; https://github.com/pytorch/pytorch/issues/5040; 37 % of 637 public GPU pod specs mount it",
	.params = params,
	.yields_to = yields_to,
	.check_pod = check,
};
