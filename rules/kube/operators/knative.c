/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knative Serving: numbers of pods, which autoscaling annotations set as
 * strings.
 */
#include "rules/kube/operator.h"

#include <stdlib.h>

/* Reads the number in the annotation a, or else b, or else returns `unset`. Any
 * other text is unknown. */
static struct amount annotation_int(const struct node *annotations,
				    const char *a, const char *b, int64_t unset)
{
	const struct node *node = node_get(annotations, a);
	const char *text;
	char *end;
	long n;

	if (node_is_unset(node))
		node = node_get(annotations, b);
	if (node_is_unset(node))
		return amount_of(unset);
	text = node_str(node);
	if (!text)
		return (struct amount){.unknown = true};
	n = strtol(text, &end, 10);
	if (end == text || *end || n < 0)
		return (struct amount){.unknown = true};
	return amount_of(n);
}

/* Without a minimum, a revision starts with its initial scale. */
COUNT_FORMULA(knative)
{
	struct amount first =
		annotation_int(at, "autoscaling.knative.dev/initial-scale",
			       "autoscaling.knative.dev/initialScale", 1);

	return annotation_int(at, "autoscaling.knative.dev/min-scale",
			      "autoscaling.knative.dev/minScale",
			      first.unknown ? 1 : first.n);
}

COUNT_FORMULA(knative_max)
{
	struct amount least = count_knative(place, at, number);
	struct amount most =
		annotation_int(at, "autoscaling.knative.dev/max-scale",
			       "autoscaling.knative.dev/maxScale", 0);

	if (!most.n)
		return (struct amount){.n = least.n ? least.n : 1,
				       .unknown = true};
	return amount_max(amount_of(least.n), most);
}

/* The queue-proxy container sets cpu requests. */
static bool adds_helper(const struct pod *pod)
{
	return true;
}

const struct workload_operator operator_knative = {
	.pods.adds_helper = adds_helper,
	/* by flags of config-features, such as
	 * kubernetes.podspec-tolerations */
	.pods.gates_fields = true,
	/* by progressDeadline */
	.pods.bounds_start = true,
};
