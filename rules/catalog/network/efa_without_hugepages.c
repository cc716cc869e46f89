/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU containers that request EFA interfaces but no huge pages.
 *
 * Source: the EFA guide of EKS and its NCCL test.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"

/* Returns the limit of EFA interfaces, NULL if it is unset or 0. */
static const struct node *efa(const struct container *c)
{
	const struct node *at =
		node_get(container_limits(c), "vpc.amazonaws.com/efa");

	return at && text_eq(at->str, "0") ? NULL : at;
}

/* True if the container's variables turn off huge pages in libfabric, or
 * libfabric in NCCL. */
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
				"container `%s` requests EFA interfaces but no `hugepages-2Mi`: libfabric uses small pages, which are slower",
				container_title(c));
}

const struct rule rule_efa_without_hugepages = {
	.name = "efa-without-hugepages",
	.category = "network",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.summary = "a GPU container requests EFA interfaces but no huge pages",
	.why = "libfabric uses huge pages for its buffers and is slower with small pages.",
	.remedy =
		"Request hugepages-2Mi in addition to the interfaces (AWS samples use 5120Mi), on nodes that have them, or set FI_EFA_USE_HUGE_PAGE=0.",
	.evidence =
		"https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
	.check_pod = check,
};
