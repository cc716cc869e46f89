/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports volumes at /dev/shm that are too small for the data that several
 * devices exchange through them: TGI recommends 1Gi, vLLM's production stack
 * mounts 20Gi. NCCL fails with "No space left on device". 64Mi or less is never
 * better than the runtime's default, so it is reported for one device too. The
 * documentation of TGI, vLLM and GKE uses 1Gi and 2Gi even for eight devices,
 * so servers with 1Gi or more are skipped; for other programs with 1Gi or more,
 * and for unknown programs, it is an info. Sizes that are at most 10 % less,
 * such as 1000Mi, are skipped, and programs that do not use NCCL.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/resources/volume.h"

/* True if the container may use NCCL or RCCL, whose minimum sizes apply. */
static bool uses_nccl(const struct container *c)
{
	const char *vendor = c->accelerator ? c->accelerator->vendor : NULL;

	return !vendor || text_eq(vendor, "nvidia") || text_eq(vendor, "amd");
}

/* True for a sidecar without devices in a pod whose other containers have
 * them. */
static bool is_beside(const struct container *c)
{
	return container_uses_gpu(c) == TRI_NO && c->pod->gpus.n > 0;
}

/* True if the size is at least nine tenths of the floor. */
static bool is_near(struct quantity size, struct quantity floor)
{
	floor.nano -= floor.nano / 10;
	return quantity_cmp(size, floor) >= 0;
}

/* Returns the number of the container's devices or, if it has none, of the
 * pod's. */
static int64_t devices_of(const struct container *c)
{
	return c->gpus.n ? c->gpus.n : c->pod->gpus.n;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct quantity runtime = quantity_from(64 << 20);
	struct quantity enough = quantity_from(1 << 30);
	bool serves = pod_is_serving(pod);
	char have[QUANTITY_TEXT], want[QUANTITY_TEXT];
	struct arena *arena = rule_arena(run);

	FOR_EACH_CONTAINER(pod, c) {
		struct shm shm = container_shm(c);
		bool more = quantity_cmp(shm.size, runtime) > 0;
		struct shm_need need;
		struct quantity floor;
		struct finding *f;
		int64_t n;

		if (c->role == CONTAINER_INIT || shm.unknown || !shm.memory ||
		    shm.size_state != QUANTITY_OK || shm.size.nano <= 0 ||
		    is_beside(c))
			continue;
		n = devices_of(c);
		floor = rule_param_quantity(run,
					    n > 2 ? "floor-many" : "floor");
		if (more &&
		    (n < 2 || !uses_nccl(c) || is_near(shm.size, floor) ||
		     (serves && quantity_cmp(shm.size, enough) >= 0)))
			continue;
		need = container_shm_need(c);
		if (more && need.is == SHM_NOT_NEEDED)
			continue;
		f = report_container(
			run, c, shm.size_node,
			"/dev/shm of container `%s` is limited to %s, but %s is usual%s%s",
			container_title(c), quantity_text(shm.size, have),
			quantity_text(floor, want), n ? " for " : "",
			n ? rule_count(run, n, pod_device(pod)) : "");
		if (quantity_cmp(shm.size, enough) >= 0 ||
		    (more && need.is == SHM_MAY_BE_NEEDED))
			finding_severity(f, SEVERITY_INFO);
		if (!shm_size_fits(c, shm.volume, floor))
			continue;
		fix_set(finding_fix(run, f, false,
				    "set `sizeLimit: %s` for /dev/shm", want),
			shm.volume, "emptyDir.sizeLimit",
			edit_string(arena, arena_strdup(arena, want)));
	}
}

static const struct rule_param params[] = {
	{"floor", "quantity", "1Gi", "minimum size for up to 2 GPUs"},
	{"floor-many", "quantity", "4Gi", "minimum size for more than 2 GPUs"},
	{0},
};

const struct rule rule_shm_too_small = {
	.name = "shm-too-small",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.flags = RULE_OPT_IN_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"/dev/shm is mounted, but smaller than usual for the number of devices",
	.why = "NCCL and data loaders may run out of space in /dev/shm (\"No space left on device\"). The finding is only an info if the size is 1Gi or more, or if nothing shows that the program uses NCCL.",
	.remedy =
		"Raise sizeLimit to 1Gi for up to 2 devices, and to 4Gi or more for more devices.",
	.evidence =
		"https://github.com/huggingface/text-generation-inference#a-note-on-shared-memory-shm; https://github.com/vllm-project/production-stack (20Gi); https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
	.params = params,
	.check_pod = check,
};
