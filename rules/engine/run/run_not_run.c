/* SPDX-License-Identifier: Apache-2.0 */
/* Records which rules were skipped, how often and for what reason. */
#include <string.h>

#include "base/vec.h"
#include "run_internal.h"

/* Finds an equal entry, or NULL. The rule is usually the same pointer, but a
 * custom rule may be a copy. */
static struct not_run *not_run_find(struct run_state *state,
				    const struct not_run *one)
{
	struct not_run *all = state->not_run;

	for (size_t i = 0; i < state->nnot_run; i++)
		if (all[i].rule == one->rule &&
		    !strcmp(all[i].reason, one->reason))
			return all + i;
	for (size_t i = 0; i < state->nnot_run; i++)
		if (!strcmp(all[i].rule->name, one->rule->name) &&
		    !strcmp(all[i].reason, one->reason))
			return all + i;
	return NULL;
}

static int not_run_cmp(const struct not_run *x, const struct not_run *y)
{
	int c = strcmp(x->rule->name, y->rule->name);

	return c ? c : strcmp(x->reason, y->reason);
}

/* Returns the rule, or a copy if it is a custom rule, which may be freed before
 * the run. */
static const struct rule *lasting_rule(struct run *run, const struct rule *rule)
{
	struct arena *arena = &run->state->arena;
	struct rule *copy;

	if (rule_set_find(run->options.rules, rule->name) >= 0)
		return rule;
	copy = ARENA_NEW(arena, struct rule);
	copy->name = arena_strdup(arena, rule->name);
	copy->category = "custom";
	return copy;
}

/* Adds count to the entry with this rule and reason, or inserts a new entry.
 * The entries are few, and sorted. */
void run_not_run_add(struct run *run, const struct rule *rule,
		     const char *reason, uint64_t count)
{
	struct run_state *state = run->state;
	struct not_run one = {rule, reason, count, 0};
	struct not_run *known = not_run_find(state, &one);
	size_t i = state->nnot_run;

	if (known) {
		known->count += count;
		return;
	}
	one.rule = lasting_rule(run, rule);
	one.reason = arena_strdup(&state->arena, reason);
	*VEC_PUSH(&state->arena, state->not_run, state->nnot_run,
		  state->not_run_size) = one;
	for (; i && not_run_cmp(&one, &state->not_run[i - 1]) < 0; i--)
		state->not_run[i] = state->not_run[i - 1];
	state->not_run[i] = one;
}

struct not_run *run_not_run(struct run *run, size_t *n)
{
	*n = run->state->nnot_run;
	return run->state->not_run;
}
