/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts objects, devices, findings and skipped rules over all input. Each
 * thread counts separately; the sum does not depend on which thread read which
 * file.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "kube/secret/secret.h"
#include "run_internal.h"

/* Adds an unknown kind. The first ones by name are kept, each once. */
static void add_kind(struct run_counts *counts, const char *kind)
{
	char(*kinds)[KIND_NAME] = counts->unknown_kinds, name[KIND_NAME];
	int i = 0, order = 1;

	snprintf(name, sizeof(name), "%s", kind);
	while (i < UNKNOWN_KINDS && *kinds[i] &&
	       (order = strcmp(kinds[i], name)) < 0)
		i++;
	if (i == UNKNOWN_KINDS || !order)
		return;
	memmove(kinds[i + 1], kinds[i],
		(size_t)(UNKNOWN_KINDS - i - 1) * sizeof(*kinds));
	memcpy(kinds[i], name, sizeof(name));
}

static void add_gpus(struct run_counts *counts, int64_t gpus)
{
	if (__builtin_add_overflow(counts->gpus, gpus, &counts->gpus))
		counts->gpus = INT64_MAX;
}

void run_count_object(struct run *run, const struct object *object)
{
	struct run_counts *counts = &run->counts;
	bool patch = object->fragment && !run->options.admission;

	counts->objects++;
	counts->fragments += object->fragment && !run->state->file.patched;
	counts->unknown_kinds_with_pods +=
		object->pods_inferred || object->pods_unknown;
	counts->gpus_unknown |= object->pods_unknown;
	if ((object->pods_inferred || object->pods_unknown) &&
	    !secrets_plain(object->kind, strlen(object->kind)))
		add_kind(counts, object->kind);
	counts->patched += run->state->file.patched && object->npods;
	if (object_kind_has(object, KIND_VALUES) &&
	    !run->state->file.charts_judged &&
	    accelerator_is_named(object->doc->source->text + object->doc->start,
				 object->doc->end - object->doc->start)) {
		counts->chart_values++;
		counts->gpus_unknown = true;
	}
	if (!object->npods && !object->gpus.n)
		return;
	counts->workloads++;
	if (object->parent)
		return;
	/* A patch alone is not applied, and its target may have another number
	 * of pods. */
	if (patch || run->state->file.patched)
		counts->gpus_unknown |= object->gpus.n > 0;
	if (patch)
		return;
	add_gpus(counts, object->gpus.n);
	counts->gpus_unknown |= object->gpus.unknown;
	FOR_EACH_POD(object, pod) {
		if (pod->gpus.n)
			counts->gpus_others |= !text_eq(pod_device(pod), "GPU");
		else /* shares of GPUs are not counted as GPUs */
			counts->gpus_unknown |=
				pod->steady.n && pod_uses_gpu(pod) == TRI_YES;
	}
}

void run_counts_add(struct run_counts *to, const struct run_counts *from)
{
	to->documents += from->documents;
	to->objects += from->objects;
	to->workloads += from->workloads;
	to->unknown_kinds_with_pods += from->unknown_kinds_with_pods;
	to->placeholders += from->placeholders;
	to->fragments += from->fragments;
	to->patched += from->patched;
	to->chart_values += from->chart_values;
	to->infrastructure += from->infrastructure;
	to->infrastructure_unknown += from->infrastructure_unknown;
	to->errors += from->errors;
	to->warnings += from->warnings;
	to->infos += from->infos;
	to->suppressed += from->suppressed;
	to->fixable += from->fixable;
	to->fixable_unsafe += from->fixable_unsafe;
	to->fixable_infos += from->fixable_infos;
	to->fixable_rendered += from->fixable_rendered;
	add_gpus(to, from->gpus);
	to->gpus_unknown |= from->gpus_unknown;
	to->gpus_others |= from->gpus_others;
	for (int i = 0; i < UNKNOWN_KINDS && *from->unknown_kinds[i]; i++)
		add_kind(to, from->unknown_kinds[i]);
}

void run_count_finding(struct run_counts *counts, const struct finding *f)
{
	if (f->suppressed)
		counts->suppressed++;
	else
		++*(f->severity == SEVERITY_ERROR     ? &counts->errors
		    : f->severity == SEVERITY_WARNING ? &counts->warnings
						      : &counts->infos);
}

/* Records which rules were skipped, how often and for what reason. */

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
