/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the work for a file. An object is checked if its lists, keys and texts
 * are short enough, and a file until it has FINDINGS_MAX findings, which take
 * about 1 KB each. A finding marks the place where checking stops. At
 * admission, neither limit applies, because the webhook limits reviews before.
 */
#include "run_internal.h"

#include "doc/budget.h"

enum {
	FINDINGS_MAX = 10000,
	STEP = 1 << 20, /* bytes of memory between two checks */
	/* Cost of the rejections of one object, some 30 ms. The checks beyond
	 * it are skipped, because the operator rejects such an object
	 * anyway. */
	REJECTIONS_COST = 500000,
};

static size_t memory_used(const struct run *run)
{
	return run->file_arena.used + run->state->doc_arena.used;
}

bool run_is_cut(struct run *run, const struct node *at, uint32_t start,
		uint32_t end)
{
	struct run_state *state = run->state;

	if (run->options.admission || state->cut)
		return state->cut;
	if (state->nfindings < FINDINGS_MAX)
		return false;
	if (at)
		node_anchor(at, &start, &end);
	state->cut = true;
	run_report_cut(
		run,
		arena_printf(
			&run->file_arena,
			"this file has %d findings; the rest of it is not checked",
			FINDINGS_MAX),
		start, end);
	return true;
}

/* Reports a list, a key or a text of an object with pods that is too long.
 * Returns true if there is one. */
static bool is_too_long(struct run *run, const struct object *object)
{
	uint32_t start = 0, end = 0;

	if (!object->npods || !work_is_too_much(object->root))
		return false;
	node_anchor(work_longest(object->root), &start, &end);
	run_report_cut(
		run,
		"the lists, keys or texts of this object are too long to "
		"check: admission denies it",
		start, end);
	return true;
}

void run_budget_begin(struct run *run)
{
	struct run_state *state = run->state;

	state->budget = (struct load_budget){.all = load_cost_file};
	if (state->file.budget)
		state->budget.all = *state->file.budget;
	state->doc_arena.budget = &state->budget;
	state->memory_counted = 0;
	state->rejections_left = REJECTIONS_COST;
}

bool run_is_spent(struct run *run)
{
	struct run_state *state = run->state;
	size_t used = memory_used(run);
	struct load_cost more = {.memory = used - state->memory_counted};

	state->memory_counted = used;
	load_budget_spend(&state->budget, &more);
	/* Memory of values is compared but not subtracted, because it is
	 * freed. */
	if (state->values.used > load_budget_left(&state->budget).memory)
		state->budget.over = true;
	return state->budget.over;
}

bool run_outgrows_budget(struct run *run)
{
	return memory_used(run) - run->state->memory_counted > STEP &&
	       run_is_spent(run);
}

/* True if a part of the file's budget is used up, so that no further object can
 * be read. */
static bool is_file_spent(const struct load_cost *left)
{
	return !left->bytes || !left->nodes || !left->flow_work ||
	       !left->list_work;
}

static void report_costly(struct run *run, const struct object *object)
{
	uint32_t start = 0, end = 0;

	run->costly = true;
	node_anchor(object->root, &start, &end);
	run_report_cut(
		run,
		is_file_spent(&run->state->budget.all)
			? "this file has too many documents in strings to check: split "
			  "it here"
			: "the objects, documents, scripts and selectors inside this object are "
			  "too many, too long or too deep to check: admission denies it",
		start, end);
}

bool run_read_in_time(struct run *run, const struct object *object)
{
	if (object->costly)
		report_costly(run, object);
	load_budget_object(&run->state->budget);
	/* A review is one object, which keeps its memory. */
	if (!run->options.admission) {
		run->state->memory_counted = memory_used(run);
		run->state->rejections_left = REJECTIONS_COST;
	}
	return !object->costly;
}

void run_check_budget(struct run *run, const struct object *object)
{
	if (run_is_spent(run))
		report_costly(run, object);
}

bool run_is_over_budget(struct run *run, const struct object *object)
{
	if (run->options.admission)
		return false;
	return run_is_cut(run, object->root, 0, 0) || is_too_long(run, object);
}
