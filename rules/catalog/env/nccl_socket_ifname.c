/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports values of NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME that select an
 * interface that reaches no other pod, and values of GLOO_SOCKET_IFNAME in the
 * syntax of NCCL. The right interface depends on the site; the reported ones
 * are wrong everywhere, except loopback if all pods are on the network of one
 * host. Source: pytorch v2.9.0 ProcessGroupGloo.cpp createDefaultDevice and
 * distributed_c10d (the value is split at commas, and each part is the name of
 * an interface).
 */
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/scheduling/affinity.h"

static void check_variable(struct rule_run *run, const struct container *c,
			   const char *name)
{
	struct env_value value = container_env_value(c, name);

	if (text_eq(value.text, "lo") || text_eq(value.text, "=lo") ||
	    text_eq(value.text, "docker0"))
		report_container(
			run, c, value.at,
			"`%s: %s` selects an interface that does not reach other pods, but %s must communicate",
			name, value.text,
			rule_count(run, c->pod->object->gang.n, "pod"));
}

/* Reports GLOO_SOCKET_IFNAME with NCCL's syntax for an excluded (`^lo`) or
 * exact (`=eth0`) name. Gloo fails in a single pod too. */
static void check_syntax(struct rule_run *run, const struct container *c)
{
	struct env_value value = container_env_value(c, "GLOO_SOCKET_IFNAME");

	if (value.text && (*value.text == '^' || *value.text == '='))
		report_container(
			run, c, value.at,
			"`GLOO_SOCKET_IFNAME: %s` has NCCL's syntax: Gloo needs names of interfaces, so processes that use Gloo fail",
			value.text);
}

/* True if all pods are on the network of one host, so that they reach each
 * other through its loopback interface. */
static bool shares_loopback(const struct pod *pod)
{
	return node_is_true(pod_field(pod, "hostNetwork")) &&
	       pod_keeps_together(pod);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		check_syntax(run, c);
	if (pod->object->gang.n < 2 || shares_loopback(pod))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		check_variable(run, c, "NCCL_SOCKET_IFNAME");
		check_variable(run, c, "GLOO_SOCKET_IFNAME");
	}
}

const struct rule rule_nccl_socket_ifname = {
	.name = "nccl-socket-ifname",
	.category = "env",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary =
		"NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME selects an interface that does not reach other pods, or GLOO_SOCKET_IFNAME has NCCL's syntax",
	.why = "Ranks in other pods cannot be reached through that interface, and Gloo accepts only names of interfaces: the job hangs or fails when it starts.",
	.remedy =
		"Name the interface of the pod network, or exclude others (`^lo,docker0`, NCCL only).",
	.evidence =
		"https://github.com/aws-samples/aws-do-eks/pull/51; https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname",
	.check_pod = check,
};
