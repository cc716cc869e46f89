/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostIPC: true gives a pod the host's /dev/shm, and with it every System V
 * and POSIX shared memory segment of every other pod that does the same. It
 * is the old workaround for a small /dev/shm; Pod Security's baseline level
 * forbids it.
 */
#include "engine/rule.h"
#include "kube/shm.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *host_ipc = pod_field(pod, "hostIPC");
	struct finding *f;

	if (pod->flat || !node_is_true(host_ipc) ||
	    pod_uses_gpu(pod) != TRI_YES)
		return;
	f = report_pod(
		run, pod, host_ipc,
		"GPU pods share the host's IPC namespace and its /dev/shm with other tenants");
	fix_remove(finding_fix(run, f, false, "remove hostIPC"), host_ipc);
}

const struct rule rule_hostipc_instead_of_shm = {
	.name = "hostipc-instead-of-shm",
	.category = "shm",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.flags = RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary = "hostIPC on GPU pods, in place of a /dev/shm of their own",
	.why = "Every pod on the node that does the same can read and fill the same memory; Pod Security's baseline level forbids it.",
	.remedy =
		"Remove hostIPC and mount an emptyDir with medium: Memory at /dev/shm.",
	.evidence = "Pod Security Standards, baseline: host namespaces",
	.check_pod = check,
};
