/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charges parsed nodes to the limits of a loader and the budget of its arena.
 */
#include "rules/doc/cost.h"

uint32_t cost_nodes(const struct loader *loader)
{
	const struct load_budget *budget = loader->arena->budget;
	uint32_t most = loader->limits->nodes;
	uint64_t left = budget ? load_budget_left(budget).nodes : most;

	return left < most ? (uint32_t)left : most;
}

uint64_t cost_flow_work(const struct loader *loader)
{
	const struct load_budget *budget = loader->arena->budget;
	uint64_t most = loader->limits->flow_work - loader->flow_work;
	uint64_t left = budget ? load_budget_left(budget).flow_work : most;

	return left < most ? left : most;
}

void cost_spend(struct loader *loader, uint64_t nodes, uint64_t flow_work)
{
	struct load_budget *budget = loader->arena->budget;

	loader->flow_work += flow_work;
	load_budget_spend(budget, &(struct load_cost){.nodes = nodes,
						      .flow_work = flow_work});
	if (budget)
		budget->over |= loader->costly;
}
