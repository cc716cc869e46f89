/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set rules: they run once, over the facts of all files. Their findings may
 * lie in any file, so they are gathered, sorted by file and handed to the
 * sink file by file, each after the comments of its file were looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"

struct set_run {
	struct run *run;
	const struct policy *(*policy_of)(void *context, uint32_t file);
	void *context;
	const struct policy *policy; /* of the set as a whole: first file's */
};

static const struct setting *settings_for(struct set_run *set,
					  const struct workload *w)
{
	struct object object = {
		.api_version = w->id.api_version,
		.kind = w->id.kind,
		.name = w->id.name,
		.namespace = *w->id.namespace ? w->id.namespace : NULL,
		.class = w->class,
	};
	const struct policy *policy =
		set->policy_of(set->context, w->place.file);

	set->run->state->file.policy = policy;
	return policy_settings(policy, &object);
}

/* What infers from absence in the set keeps silent when the set is only a
 * part of what will be applied. */
static bool set_hides(const struct run *run, const struct rule *rule)
{
	return run->options.partial && rule->flags & RULE_ABSENCE &&
	       rule->needs & NEEDS_SET;
}

static void check_workloads(struct set_run *set)
{
	struct run *run = set->run;
	const struct rule_set *rules = run->options.rules;

	for (size_t w = 0; w < run->facts.nworkloads; w++) {
		const struct workload *workload = &run->facts.workloads[w];
		const struct setting *settings = settings_for(set, workload);
		size_t start = run->state->nfindings;

		for (size_t i = 0; i < rules->n; i++) {
			struct rule_run rr = {run, rules->items[i],
					      &settings[i], NULL};

			if (!rr.rule->check_workload || !settings[i].enabled ||
			    (workload->duplicate_of &&
			     rr.rule->needs & NEEDS_SET))
				continue;
			if (set_hides(run, rr.rule))
				run_not_run_add(run, rr.rule,
						"the set is partial", 1);
			else
				rr.rule->check_workload(&rr, workload);
		}
		findings_yield(run->state->findings, start,
			       run->state->nfindings);
		arena_reset(&run->state->doc_arena);
	}
}

static void check_sets(struct set_run *set)
{
	struct run *run = set->run;
	const struct rule_set *rules = run->options.rules;
	const struct setting *settings = policy_base(set->policy);

	run->state->file.policy = set->policy;
	for (size_t i = 0; i < rules->n; i++) {
		struct rule_run rr = {run, rules->items[i], &settings[i], NULL};

		if (!settings[i].enabled)
			continue;
		if (rr.rule->check_set && !set_hides(run, rr.rule))
			rr.rule->check_set(&rr);
		if (rr.rule->needs & NEEDS_CLUSTER)
			run_not_run_add(run, rr.rule, "needs --cluster", 1);
	}
	arena_reset(&run->state->doc_arena);
}

static int by_place(const void *a, const void *b)
{
	return finding_cmp(*(struct finding *const *)a,
			   *(struct finding *const *)b);
}

struct excuse_run {
	struct run *run;
	struct finding **findings;
	size_t n;
	const struct policy *policy;
	struct suppressions *suppressions;
};

static void excuse_object(struct excuse_run *e, const struct object *object)
{
	const struct setting *settings = policy_settings(e->policy, object);
	const struct rule_set *rules = e->run->options.rules;

	for (size_t i = 0; i < e->n; i++) {
		struct finding *f = e->findings[i];

		if (f->place.document != object->doc->number ||
		    strcmp(f->id.kind, object->kind ? object->kind : "") ||
		    strcmp(f->id.name, object->name ? object->name : ""))
			continue;
		suppressions_apply(
			e->suppressions, object,
			&settings[rule_set_find(rules, f->rule->name)], f);
	}
	for (size_t i = 0; i < object->nembedded; i++)
		excuse_object(e, &object->embedded[i]);
}

static void ignore_issue(void *context, const struct load_issue *issue)
{
	(void)context; /* told when the file was linted */
	(void)issue;
}

/* Read the file again for the comments and annotations it carries. */
static void excuse_by_file(struct excuse_run *e, struct source *source)
{
	struct run_state *state = e->run->state;
	struct arena arena = ARENA_INIT;
	struct loader loader;
	struct doc doc;

	e->suppressions = suppressions_scan(&e->run->file_arena, source,
					    e->run->options.today);
	loader_init(&loader, source, &load_limits_default, &arena);
	loader.issue = ignore_issue;
	while (loader_next(&loader, &doc) > 0) {
		const struct node *nested = NULL;
		struct object_list list = {0};

		arena_reset(&state->doc_arena);
		if (!doc.root)
			continue;
		suppressions_exclude(e->suppressions, &doc);
		object_read(&state->doc_arena, policy_kube(e->policy), &doc,
			    &list, &nested);
		for (size_t i = 0; i < list.n; i++)
			excuse_object(e, &list.items[i]);
	}
	arena_release(&arena);
}

static void excuse_by_policy(struct excuse_run *e)
{
	for (size_t i = 0; i < e->n; i++) {
		struct finding *f = e->findings[i];
		const char *reason = NULL;

		if (!policy_exempts(e->policy, f->rule, &f->id, &reason))
			continue;
		f->suppressed = SUPPRESSED_POLICY;
		f->suppression_reason =
			arena_strdup(&e->run->file_arena, reason ? reason : "");
	}
}

/* The findings [from, to) lie in one file. */
static void end_file(struct set_run *set, size_t from, size_t to)
{
	struct run *run = set->run;
	struct run_state *state = run->state;
	uint32_t file = state->findings[from]->place.file;
	struct run_options *options = &run->options;
	struct finding **all = state->findings;
	size_t n = state->nfindings;
	struct excuse_run e = {run, all + from, to - from,
			       set->policy_of(set->context, file), NULL};
	struct source *source = NULL;

	excuse_by_policy(&e);
	if (options->source_of && !options->no_ignore)
		source = options->source_of(options->context, file);
	if (source)
		excuse_by_file(&e, source);
	/* The sink part of run_end_file() on this slice. */
	state->file.index = file;
	state->suppressions = NULL;
	state->findings = all + from;
	state->nfindings = to - from;
	run_end_file(run);
	state->findings = all;
	state->nfindings = n;
}

void run_set(struct run *run,
	     const struct policy *(*policy_of)(void *context, uint32_t file),
	     void *context)
{
	struct run_state *state = run->state;
	struct set_run set = {run, policy_of, context, policy_of(context, 0)};
	size_t from = 0;

	arena_reset(&run->file_arena);
	state->findings = NULL;
	state->nfindings = state->findings_size = 0;
	state->suppressions = NULL;
	fact_set_find_duplicates(&run->facts);
	check_workloads(&set);
	check_sets(&set);
	if (state->nfindings)
		qsort(state->findings, state->nfindings,
		      sizeof(*state->findings), by_place);
	for (size_t i = 1; i <= state->nfindings; i++) {
		if (i < state->nfindings &&
		    state->findings[i]->place.file ==
			    state->findings[from]->place.file)
			continue;
		end_file(&set, from, i);
		from = i;
	}
}
