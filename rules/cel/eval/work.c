/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the elements and bytes that functions process as work. cel-go counts
 * many calls as 1 for arguments of any size, so that a rule could run for hours
 * within its budget.
 */
#include "rules/cel/eval/eval_internal.h"

enum { BYTES = 16 };

static uint64_t of_node(const struct node *node, uint64_t most)
{
	uint64_t work = 1;

	if (node->type != NODE_MAP && node->type != NODE_SEQ)
		return work + node->len / BYTES;
	FOR_EACH_CHILD(node, child) {
		if (work > most)
			break;
		work += of_node(child, most - work) + (node->type == NODE_MAP);
	}
	return work;
}

/* Returns the work of reading a value. Stops counting above `most`. */
static uint64_t within(struct cel_eval *ev, struct cel_value v, uint64_t most)
{
	uint64_t work = 1;

	if (v.kind == CEL_STRING || v.kind == CEL_BYTES)
		return work + v.text.len / BYTES;
	if (v.kind == CEL_OPTIONAL && v.optional)
		return within(ev, *v.optional, most);
	if (v.kind != CEL_LIST && v.kind != CEL_MAP)
		return work;
	if (v.list->node)
		return of_node(v.list->node, most);
	for (size_t i = 0; i < cel_size(v) && work <= most; i++) {
		struct cel_value item =
			v.kind == CEL_LIST ? cel_list_at(ev->arena, v, i)
					   : cel_map_at(ev->arena, v, i).value;

		work += within(ev, item, most - work);
	}
	return work;
}

uint64_t eval_work_of(struct cel_eval *ev, struct cel_value v)
{
	return within(ev, v, ev->options.work);
}

static uint64_t work_of_argument(struct cel_eval *ev, const struct cel_expr *e,
				 struct cel_value v)
{
	unsigned looks = e->call.looks;

	if (v.kind == CEL_STRING || v.kind == CEL_BYTES)
		return v.text.len / (looks & LOOKS_AT_TIME ? 2 : BYTES);
	if ((v.kind != CEL_LIST && v.kind != CEL_MAP) || looks & LOOKS_AT_NONE)
		return 0;
	if (looks & LOOKS_UP)
		return v.kind == CEL_MAP ? 0 : eval_work_of(ev, v);
	return looks & LOOKS_WITHIN ? eval_work_of(ev, v) : cel_size(v);
}

bool eval_may_call(struct cel_eval *ev, const struct cel_expr *e,
		   const struct cel_value *args)
{
	for (unsigned i = 0; i < e->n; i++)
		eval_work(ev, work_of_argument(ev, e, args[i]));
	return !ev->over;
}
