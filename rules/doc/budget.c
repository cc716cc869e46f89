/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks the cost of an object (its documents, scripts, custom rules, memory
 * and comparisons) and of a file against their limits.
 */
#include "doc/budget.h"

#include "base/escape.h"
#include "doc/work.h"

/*
 * Reasons for the limits: an object of 1.5 MiB can have 60,000 small fields.
 * Flow style is rarely more than a few levels deep; libyaml takes 15 ms for
 * this amount of flow work. The words of scripts of this length take at most 15
 * MiB. All custom rules together get the budget of one expression, 0.1 s; most
 * rules cost about 100 units of it. A GPU pod with its findings and fixes takes
 * 15 KB. Comparing 15 million values with labels of nodes takes 0.1 s.
 */
const struct load_cost load_cost_object = {
	.bytes = 16 << 20,
	.nodes = 60000,
	.flow_work = 4000000,
	.list_work = WORK_MAX,
	.script = 1 << 20,
	.cel = 1500000,
	.memory = 12 << 20,
	.compared = 15000000,
};

const struct load_cost load_cost_file = {
	.bytes = 256 << 20,
	.nodes = 2000000,
	.flow_work = 100000000,
	.list_work = UINT64_MAX,
	.script = UINT64_MAX,
	.cel = UINT64_MAX,
	.memory = UINT64_MAX,
	.compared = UINT64_MAX,
};

static uint64_t minimum(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void load_budget_object(struct load_budget *budget)
{
	budget->object = load_cost_object;
	budget->over = false;
}

struct load_cost load_budget_left(const struct load_budget *budget)
{
	const struct load_cost *a = &budget->object, *b = &budget->all;

	return (struct load_cost){
		.bytes = minimum(a->bytes, b->bytes),
		.nodes = minimum(a->nodes, b->nodes),
		.flow_work = minimum(a->flow_work, b->flow_work),
		.list_work = minimum(a->list_work, b->list_work),
		.script = minimum(a->script, b->script),
		.cel = minimum(a->cel, b->cel),
		.memory = minimum(a->memory, b->memory),
		.compared = minimum(a->compared, b->compared),
	};
}

/* Subtracts n from *left. If less is left, sets it to 0 and returns false. */
static bool spend(uint64_t *left, uint64_t n)
{
	bool enough = n <= *left;

	*left -= enough ? n : *left;
	return enough;
}

static bool take_all(struct load_cost *left, const struct load_cost *cost)
{
	bool bytes = spend(&left->bytes, cost->bytes);
	bool nodes = spend(&left->nodes, cost->nodes);
	bool flow_work = spend(&left->flow_work, cost->flow_work);
	bool script = spend(&left->script, cost->script);
	bool cel = spend(&left->cel, cost->cel);
	bool memory = spend(&left->memory, cost->memory);
	bool compared = spend(&left->compared, cost->compared);

	return spend(&left->list_work, cost->list_work) && bytes && nodes &&
	       flow_work && script && cel && memory && compared;
}

bool load_budget_spend(struct load_budget *budget, const struct load_cost *cost)
{
	bool enough;

	if (!budget)
		return true;
	escape_check(0);
	enough = take_all(&budget->object, cost);
	enough = take_all(&budget->all, cost) && enough;
	budget->over |= !enough;
	return enough;
}
