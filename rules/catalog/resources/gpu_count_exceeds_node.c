/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that request more devices than one node has. A pod runs on one
 * node, so it stays Pending forever. Most servers have 8 devices; the maximum
 * is a parameter, which a selected instance type or count label may raise. With
 * a snapshot, it is the largest number on the selected nodes.
 * (selector-resource-contradiction reports a selected type with fewer devices.)
 * On a machine whose 8 GPUs form one NVLink domain, a number that does not
 * divide 8 leaves GPUs that few pods can use. Sources: instance tables of
 * Karpenter and the clouds (16 A100 in GCP's a2-megagpu-16g, 16 V100 in a
 * DGX-2); AWS Neuron scheduler extension: contiguous sets of 1, 4, 8 or 16
 * devices on trn1.32xlarge; ROCm k8s-device-plugin
 * docs/user-guide/configuration.md: 64 partitions of 8 GPUs, each an
 * amd.com/gpu.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/node_devices.h"
#include "kube/scheduling/node_match.h"

/* Returns the largest amount of the resource on a node that the pod selects; 0
 * if unknown. */
static int64_t nodes_most(const struct cluster *cluster, const struct pod *pod,
			  const char *resource)
{
	struct node_match match;

	if (!cluster_shows_nodes(cluster))
		return 0;
	match = pod_node_match(cluster, pod, resource);
	return match.unknown ? 0 : match.most;
}

/* Returns the number of devices of one resource on the largest known machine; 0
 * if the number is unlimited. */
static int64_t node_maximum(struct rule_run *run, const struct accelerator *a,
			    const char *resource)
{
	int64_t max =
		rule_param_given(run, "max") ? rule_param_int(run, "max") : 8;

	if (a->class != ACCEL_WHOLE)
		return 0; /* number of slices and replicas is configurable */
	if (text_ends(resource, "/neuroncore"))
		return max > 128 ? max : 128;
	if (text_starts(resource, "aws.amazon.com/neuron") ||
	    text_starts(resource, "huawei.com/"))
		return max > 16 ? max : 16;
	if (text_eq(resource, "amd.com/gpu"))
		return max > 64 ? max : 64;
	return max;
}

/* True if the site may have one of the few machines with 16 devices. */
static bool may_have_more(struct rule_run *run, const struct container *c,
			  int64_t n)
{
	return n <= 16 && !rule_param_given(run, "max") &&
	       text_eq(c->resource, "nvidia.com/gpu");
}

static bool is_odd_share(const struct node_devices *node, int64_t n)
{
	if (node->type && text_starts(node->type->name, "trn1") &&
	    node->most == 16)
		return n != 1 && n != 4 && n != 8 && n != 16;
	return node->type && node->most == 8 && n > 2 && n < 8 && n != 4 &&
	       (text_starts(node->type->name, "p") ||
		text_starts(node->type->name, "a"));
}

static void report_share(struct rule_run *run, const struct container *c,
			 const struct node *at, int64_t n,
			 const struct node_devices *node)
{
	struct finding *f = report_container(
		run, c, at,
		"%s `%s` of the %s of `%s` leave a remainder that few pods can use",
		rule_number(run, n), c->resource, rule_number(run, node->most),
		node->type->name);

	finding_severity(f, SEVERITY_WARNING);
	finding_guess(run, f);
	finding_label(run, f, node->at, "the node selected");
	finding_help(run, f, "Request %s.",
		     node->most == 16 ? "1, 4, 8 or 16" : "1, 2, 4 or 8");
}

static void check_resource(struct rule_run *run, const struct container *c)
{
	struct node_devices node = pod_node_devices(c->pod);
	int64_t max = node_maximum(run, c->accelerator, c->resource), real;
	bool unknown;
	int64_t n = quantity_value(
		pod_request(c->pod, c->resource, true, &unknown));
	const struct node *at = node_get(container_limits(c), c->resource);
	struct finding *f;
	bool guess;

	if (node.most > max && max)
		max = node.most;
	real = nodes_most(rule_cluster(run), c->pod, c->resource);
	max = real ? real : max;
	if (max && n > max) {
		guess = !real && may_have_more(run, c, n);
		f = report_container(
			run, c, at,
			"the pod requests %s `%s`, but %s at most %s%s",
			rule_number(run, n), c->resource,
			guess ? "most nodes have" : "a node has",
			rule_number(run, max),
			guess ? ", unless they share GPUs" : "");
		if (guess) {
			finding_severity(f, SEVERITY_WARNING);
			finding_guess(run, f);
		}
		finding_cause(run, f, c->resource);
		finding_help(
			run, f, "Spread the work over several pods%s.",
			real ? ""
			     : ", or set the parameter `max` if the site has larger nodes");
	} else if (max && !unknown && is_odd_share(&node, n)) {
		report_share(run, c, at, n, &node);
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		bool first = true;

		if (!c->accelerator)
			continue;
		/* The pod's sum is reported once, at the first container. */
		FOR_EACH_CONTAINER(pod, before)
			if (before < c &&
			    text_eq(before->resource, c->resource))
				first = false;
		if (first)
			check_resource(run, c);
	}
}

static const struct rule_param params[] = {
	{"max", "int", "",
	 "accelerators on the largest node of the site (if empty, 8, and up to 16 GPUs are only a warning)"},
	{0},
};

const struct rule rule_gpu_count_exceeds_node = {
	.name = "gpu-count-exceeds-node",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.summary =
		"a pod requests more accelerators than a node has, or a number that leaves a remainder that few pods can use",
	.why = "A pod runs on one node: if no node has enough accelerators, it stays Pending forever. On a machine whose 8 GPUs are linked, a request for 6 leaves 2 that few pods can use.",
	.remedy =
		"Request at most the accelerators of one node, and use several pods (a training job or a LeaderWorkerSet) for more.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/scheduler/framework/plugins/noderesources; instance tables of the clouds",
	.params = params,
	.yields_to =
		(const char *const[]){"gpu-fractional-quantity",
				      "gpu-request-limit-mismatch",
				      "selector-resource-contradiction", NULL},
	.check_pod = check,
};
