/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that did not run, why and how often.
 */
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "run_internal.h"

static bool not_run_same(const struct not_run *x, const struct not_run *y)
{
	return (x->rule == y->rule || text_eq(x->rule->name, y->rule->name)) &&
	       text_eq(x->reason, y->reason);
}

/* One that is counted already, or NULL. Objects are much alike: it is looked
 * for behind the last one first. */
static struct not_run *not_run_find(struct run_state *state,
				    const struct not_run *one)
{
	size_t at = state->not_run_at;

	for (size_t i = 0; i < state->nnot_run; i++, at++) {
		if (at >= state->nnot_run)
			at = 0;
		if (!not_run_same(&state->not_run[at], one))
			continue;
		state->not_run_at = at + 1;
		return &state->not_run[at];
	}
	return NULL;
}

static int not_run_cmp(const struct not_run *x, const struct not_run *y)
{
	int c = strcmp(x->rule->name, y->rule->name);

	return c ? c : strcmp(x->reason, y->reason);
}

/* A rule of the policy's own may be gone before the run is. */
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

/* They are few, and kept in order. */
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
