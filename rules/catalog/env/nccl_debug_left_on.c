/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports debug settings that slow a job down: verbose NCCL, synchronous kernel
 * launches, and transports turned off. A single rank needs no communication, so
 * only synchronous kernel launches are reported for it. Turning InfiniBand off
 * is reported only with an RDMA resource. In a training job of several pods
 * this is a contradiction and an error. In a server it may be intended: other
 * libraries transfer the KV cache and the tokens of experts, and NCCL must not
 * use their fabric.
 *
 * Source: NCCL environment variables; CUDA_LAUNCH_BLOCKING in the CUDA
 * programming guide; TORCH_DISTRIBUTED_DEBUG in the torch.distributed docs.
 *
 * Libraries that use a fabric without NCCL are NVSHMEM and rocSHMEM, UCX, NIXL,
 * Mooncake, LMCache, MoRI, DeepEP and libfabric; vLLM and SGLang have flags for
 * them.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/purpose/purpose.h"

/* True for fabric resources that NCCL uses through InfiniBand or RoCE verbs. */
static bool resource_is_verbs(const char *resource)
{
	static const char *const parts[] = {"rdma",	"roce", "mlnx",
					    "mellanox", "ib",	NULL};

	if (text_starts(resource, "rdma/"))
		return true;
	return text_any(resource, parts, text_contains) &&
	       fabric_resource(resource);
}

/*
 * True if the container's variables or flags show a library that uses a fabric
 * without NCCL.
 */
static bool container_has_fabric_library(const struct argv *argv,
					 const struct container *c)
{
	static const char *const names[] = {"NVSHMEM_",	  "ROCSHMEM_",
					    "UCX_",	  "NIXL_",
					    "VLLM_NIXL_", "MORI_",
					    "MOONCAKE_",  "MC_",
					    "LMCACHE_",	  "VLLM_MOONCAKE_",
					    "DEEPEP_",	  "DEEP_EP_",
					    "FI_",	  "SGLANG_MOONCAKE_",
					    NULL};
	static const char *const flags[] = {"--kv-transfer-config",
					    "--disaggregation-mode",
					    "--disaggregation-transfer-backend",
					    "--moe-a2a-backend",
					    "--all2all-backend",
					    "--enable-expert-parallel",
					    "--enable-deepep-moe",
					    NULL};

	for (size_t i = 0; i < c->nenv; i++)
		if (text_any(c->env[i].name->str, names, text_starts))
			return true;
	return argv_have_any(argv, flags);
}

static const struct debug_switch {
	const char *name, *value, *effect;
} switches[] = {
	{"NCCL_DEBUG", "INFO", "writes a lot to the log of every rank"},
	{"NCCL_DEBUG", "TRACE", "slows communication and floods the log"},
	{"CUDA_LAUNCH_BLOCKING", "1",
	 "makes every kernel launch wait until the kernel ends"},
	{"TORCH_DISTRIBUTED_DEBUG", "DETAIL",
	 "makes every collective operation wait for a consistency check"},
	{"NCCL_P2P_DISABLE", "1", "keeps GPUs from communicating directly"},
	{"NCCL_SHM_DISABLE", "1", "keeps ranks from using shared memory"},
	{"NCCL_IB_DISABLE", "1", NULL}, /* see check_fabric() */
};

/* Returns the fabric resource that the container requests, or NULL. */
static const struct node *fabric_of(const struct container *c)
{
	FOR_EACH_LIMIT(c, limit)
		if (resource_is_verbs(limit->node->key) &&
		    (limit->state != QUANTITY_OK || limit->quantity.nano > 0))
			return limit->node;
	return NULL;
}

/* True if an NCCL plugin provides transports. The transports of NCCL itself
 * have fixed names. */
static bool has_net_plugin(const struct container *c)
{
	struct env_value net = container_env_value(c, "NCCL_NET");

	return container_env(c, "NCCL_NET_PLUGIN") ||
	       (net.state != ENV_UNSET && !text_eq(net.text, "IB") &&
		!text_eq(net.text, "Socket"));
}

/* True for a model server on one device, and for one device in the only pod of
 * an object. */
static bool is_one_rank(const struct container *c)
{
	const struct object *object = c->pod->object;
	struct parallel_list list;

	if (container_devices(c) != 1 || object->class == KIND_RAY)
		return false;
	list = container_parallel(c);
	for (size_t i = 0; i < list.n; i++)
		if (list.items[i].type != PARALLEL_SERVER ||
		    parallel_devices(&list.items[i], NULL) != 1)
			return false;
	return list.n || (object->gang.n <= 1 && !object->gang.unknown &&
			  c->pod->steady.n <= 1);
}

/* Checks NCCL_IB_DISABLE, which does no harm without a fabric. */
static void check_fabric(struct rule_run *run, const struct container *c,
			 const struct node *at)
{
	const struct object *object = c->pod->object;
	const struct node *fabric = fabric_of(c);
	bool ranks = pod_is_training(c->pod) &&
		     (object->gang.n > 1 || c->pod->steady.n > 1);
	struct argv argv = container_argv(c);
	struct finding *f;

	if (!fabric || has_net_plugin(c) ||
	    container_has_fabric_library(&argv, c))
		return;
	f = report_container(
		run, c, at,
		ranks ? "`NCCL_IB_DISABLE: 1` is set, but the container requests `%s`: NCCL does not use the allocated fabric"
		      : "`NCCL_IB_DISABLE: 1` is set, but the container requests `%s`: if only NCCL uses the fabric, it is allocated but unused",
		fabric->key);
	finding_label(run, f, fabric, "the fabric");
	if (ranks)
		finding_severity(f, SEVERITY_ERROR);
}

static void check_entry(struct rule_run *run, const struct container *c,
			const struct debug_switch *s)
{
	struct env_value value = container_env_value(c, s->name);
	const struct node *at = value.at;

	if (!text_eq(value.text, s->value))
		return;
	if (!text_starts(s->name, "CUDA") && is_one_rank(c))
		return;
	if (!strcmp(s->name, "NCCL_IB_DISABLE"))
		check_fabric(run, c, at);
	else
		report_container(run, c, at, "`%s: %s` %s", s->name, s->value,
				 s->effect);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
			check_entry(run, c, &switches[i]);
}

const struct rule rule_nccl_debug_left_on = {
	.name = "nccl-debug-left-on",
	.category = "env",
	.severity = SEVERITY_INFO,
	.flags = RULE_RAISES,
	.scope = GPU_PODS,
	.summary = "a debug variable of NCCL, CUDA or PyTorch is set",
	.why = "The variable slows down communication or computation, floods the log, or disables a transport.",
	.remedy =
		"Remove the variable, and set it only while you look for a fault (NCCL_DEBUG: WARN is harmless).",
	.evidence =
		"https://github.com/llm-d/llm-d/tree/main/guides (NIXL, NVSHMEM); https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html; https://docs.nvidia.com/cuda/cuda-c-programming-guide/",
	.check_pod = check,
};
