/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates PodDisruptionBudgets. Source: pkg/controller/disruption
 * getExpectedPodCount. maxUnavailable, and minAvailable as a percentage, refer
 * to the expected number of pods; percentages are rounded up.
 */
#include "kube/set/budget.h"

enum budget_blocks budget_blocks(const struct node *budget, struct amount pods)
{
	const struct node *most = node_path(budget, "spec.maxUnavailable");
	const struct node *least = node_path(budget, "spec.minAvailable");
	const struct amount many = amount_of(1000000);
	bool share = node_str(least) != NULL;
	struct amount n;

	if (!node_is_unset(most)) {
		n = amount_share(most, many, 0);
		return node_is_unset(least) && !n.unknown && !n.n
			       ? BUDGET_BLOCKS_ALL
			       : BUDGET_ALLOWS;
	}
	n = amount_share(least, many, 0);
	if (share && !n.unknown && n.n >= many.n)
		return BUDGET_BLOCKS_ALL;
	n = amount_share(least, pods, 0);
	return !n.unknown && !pods.unknown && n.n >= pods.n && n.n
		       ? BUDGET_BLOCKS_SO_MANY
		       : BUDGET_ALLOWS;
}
