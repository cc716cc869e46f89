/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers with an RDMA device that may not lock memory. ibv_reg_mr()
 * locks memory. The limit for a container without the capability depends on its
 * runtime: it is 64 KiB in some, unlimited in others.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/lifecycle/lifecycle.h"

/* True for RDMA networks other than EFA. On GKE their names contain "rdma";
 * GPUDirect-TCPX uses plain NICs. */
static bool is_rdma(const char *key)
{
	return fabric_resource(key) &&
	       strcmp(key, "vpc.amazonaws.com/efa") != 0 &&
	       (!text_starts(key, "networking.gke.io.networks/") ||
		strstr(key, "rdma"));
}

static const struct node *rdma_device(const struct container *c)
{
	FOR_EACH_ASKED(c, entry)
		if (!entry->accelerator && is_rdma(entry->node->key))
			return entry->node;
	return NULL;
}

static bool locks_memory(const struct container *c)
{
	const struct node *security = node_get(c->node, "securityContext");
	const struct node *add = node_path(security, "capabilities.add");

	if (node_is_unknown(security) || node_is_unknown(add) ||
	    node_is_true(node_get(security, "privileged")))
		return true;
	FOR_EACH_CHILD(add, name)
		if (node_is_unknown(name) || node_eq(name, "IPC_LOCK") ||
		    node_eq(name, "CAP_IPC_LOCK") || node_eq(name, "ALL"))
			return true;
	return false;
}

/* True if the kind of the pod has a place for the security context of a
 * container. */
static bool takes_security(const struct container *c)
{
	const struct pod *pod = c->pod;
	const char *const *keys;
	size_t taken;

	return !pod->fields || pod->partly ||
	       pod_field_place(pod, c->node, "securityContext", &keys, &taken);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *device = rdma_device(c);

		if (!device || c->gpus.n < 1 || locks_memory(c) ||
		    container_is_merged(c) || !takes_security(c) ||
		    text_eq(container_env_text(c, "NCCL_IB_DISABLE"), "1"))
			continue;
		report_container(
			run, c, device,
			"container `%s` has `%s` but not the capability IPC_LOCK: if its runtime limits locked memory, RDMA memory cannot be registered",
			container_title(c), device->key);
	}
}

const struct rule rule_rdma_without_ipc_lock = {
	.name = "rdma-without-ipc-lock",
	.category = "network",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.summary =
		"a GPU container with an RDMA device lacks the capability IPC_LOCK",
	.why = "If the runtime limits locked memory, registering it fails, and NCCL silently falls back to TCP: the job runs at a fraction of its speed.",
	.remedy = "Add the capability IPC_LOCK.",
	.evidence =
		"https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037; https://github.com/Mellanox/k8s-rdma-shared-dev-plugin",
	.check_pod = check,
};
