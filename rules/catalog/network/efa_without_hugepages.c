/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that request an EFA device but no huge pages.
 *
 * Source: the EFA guide of EKS and its NCCL test.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"

/* Returns the limit of EFA devices, NULL if it is unset or 0. */
static const struct node *efa(const struct container *c)
{
	const struct node *at =
		node_get(container_limits(c), "vpc.amazonaws.com/efa");

	return at && text_eq(at->str, "0") ? NULL : at;
}

/* True if the container's variables keep libfabric from using huge pages. */
static bool wants_none(const struct container *c)
{
	return text_eq(container_env_text(c, "FI_EFA_USE_HUGE_PAGE"), "0") ||
	       text_eq(container_env_text(c, "NCCL_NET_PLUGIN"), "none");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (efa(c) && c->gpus.n > 0 && !wants_none(c) &&
		    !node_get(container_limits(c), "hugepages-2Mi"))
			report_container(
				run, c, efa(c),
				"container `%s` requests EFA devices but no `hugepages-2Mi`",
				container_title(c));
}

const struct rule rule_efa_without_hugepages = {
	.name = "efa-without-hugepages",
	.category = "network",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.since = "1.0",
	.summary = "a container requests an EFA device but no huge pages",
	.why = "libfabric uses huge pages for its buffers and is slower with small pages.",
	.remedy =
		"Request hugepages-2Mi in addition to the device (AWS samples use 5120Mi), on nodes that have them, or set FI_EFA_USE_HUGE_PAGE=0.",
	.evidence =
		"https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
	.check_pod = check,
};
