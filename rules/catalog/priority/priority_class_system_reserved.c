/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods with a system priority class, except in kube-system.
 * system-cluster-critical and system-node-critical have a higher priority than
 * every user class, and the second outranks the first, which CoreDNS and
 * similar pods have; equal classes do not preempt each other. The API server
 * accepts them in any namespace (observed), unless a ResourceQuota restricts
 * them. Source: pkg/scheduler defaultpreemption (victims have a strictly lower
 * priority); pkg/kubelet eviction_manager.go evictPod ("cannot evict a critical
 * pod").
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_priority_class(pod);
	const char *name = node_str(at);

	if (!name || !priority_class_is_system(name) ||
	    text_eq(pod->object->namespace, "kube-system"))
		return;
	report_pod(
		run, pod, at,
		"GPU pods use the system priority class `%s`: they preempt %s",
		name,
		text_eq(name, "system-node-critical")
			? "every pod of a lower class, including `system-cluster-critical`"
			: "every ordinary pod");
}

const struct rule rule_priority_class_system_reserved = {
	.name = "priority-class-system-reserved",
	.category = "priority",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS,
	.summary =
		"a GPU workload uses a priority class reserved for the system",
	.why = "The workload preempts every ordinary pod (with system-node-critical, also pods of system-cluster-critical), and the kubelet does not evict it when the node runs short of memory.",
	.remedy = "Create a separate PriorityClass for the workload.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/scheduling SystemCriticalPriority (2e9); kube-linter's priority-class-name asks for these two names",
	.check_pod = check,
};
