/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables and flags of libraries that use a fabric without NCCL: NVSHMEM and
 * rocSHMEM, UCX, NIXL, Mooncake, LMCache, MoRI, DeepEP, libfabric; the flags
 * are those of vLLM and SGLang.
 */
#include "kube/command/fabric.h"

#include "base/text.h"
#include "kube/accelerator.h"
#include "kube/command/argv.h"

bool resource_is_verbs(const char *resource)
{
	static const char *const parts[] = {"rdma",	"roce", "mlnx",
					    "mellanox", "ib",	NULL};

	if (text_starts(resource, "rdma/"))
		return true;
	return text_any(resource, parts, text_contains) &&
	       fabric_resource(resource);
}

bool container_has_fabric_library(const struct argv *argv,
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
