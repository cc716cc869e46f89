/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs set rules over the facts of all files. check_set() runs first, and its
 * findings, which may be in any file, are collected. Findings of
 * check_workload() are in the workload's file, and workloads come in the order
 * of files. So the sink gets the findings file by file, after the comments of
 * the file are read, and only the findings of one file are in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "run_internal.h"

struct set_run {
	struct run *run;
	const struct policy *(*policy_of)(void *context, uint32_t file);
	void *context;
	/* policy of the first file, which is used for the input as a whole */
	const struct policy *policy;
	const struct setting *settings; /* for check_set() */
	struct arena arena;		/* memory for findings of check_set() */
	struct finding **findings;	/* sorted by file */
	size_t n, next;
};

/* --- settings ------------------------------------------------------------- */

static void note_setting(struct set_rule *one, const struct setting *setting,
			 uint32_t file)
{
	if (!setting || (one->setting && file >= one->file))
		return;
	one->setting = setting;
	one->file = file;
}

void run_note_sets(struct run *run)
{
	struct run_state *state = run->state;
	const struct policy *policy = state->file.policy;

	if (run->options.admission || policy == state->noted)
		return;
	state->noted = policy;
	for (size_t i = 0; i < state->nset_rules; i++)
		note_setting(&state->set_rules[i],
			     policy_setting(policy, state->set_rules[i].rule),
			     state->file.index);
}

void run_join_sets(struct run *dst, const struct run *src)
{
	const struct set_rule *from = src->state->set_rules;

	for (size_t i = 0; i < src->state->nset_rules; i++)
		note_setting(&dst->state->set_rules[i], from[i].setting,
			     from[i].file);
}

/*
 * Returns the settings of the first file's policy. For a rule that it turns
 * off, they are those of a later file.
 */
static const struct setting *set_settings(struct set_run *set)
{
	const struct run_state *state = set->run->state;
	const struct setting *base = policy_base(set->policy);
	size_t n = set->run->options.rules->n;
	struct setting *settings = NULL;

	for (size_t i = 0; i < state->nset_rules; i++) {
		const struct set_rule *one = &state->set_rules[i];

		if (base[one->rule].enabled || !one->setting)
			continue;
		if (!settings) {
			settings = ARENA_ARRAY(&set->arena, struct setting, n);
			memcpy(settings, base, n * sizeof(*settings));
		}
		settings[one->rule] = *one->setting;
	}
	return settings ? settings : base;
}

/*
 * Makes the policy of the workload's file the current one, and returns the
 * settings for its object, to whose labels an override may refer.
 */
static const struct setting *settings_for(struct set_run *set,
					  const struct workload *w)
{
	const struct policy *policy =
		set->policy_of(set->context, w->place.file);

	set->run->state->file.policy = policy;
	return w->settings ? w->settings : policy_base(policy);
}

static void check_workload(struct set_run *set, const struct workload *w)
{
	struct run *run = set->run;
	size_t start = run->state->nfindings;

	run_cluster_workload(run, w);
	run_workload(run, w, settings_for(set, w));
	findings_yield(run->state->findings, start, run->state->nfindings);
	arena_reset(&run->state->doc_arena);
}

struct suppress_run {
	struct run *run;
	struct finding **findings; /* sorted by object */
	size_t n;
	const struct policy *policy;
	struct suppressions *suppressions;
};

static int by_object(const void *a, const void *b)
{
	const struct finding *x = *(struct finding *const *)a;
	const struct finding *y = *(struct finding *const *)b;
	int order = (x->place.document > y->place.document) -
		    (x->place.document < y->place.document);

	if (!order)
		order = strcmp(x->id.kind, y->id.kind);
	return order ? order : strcmp(x->id.name, y->id.name);
}

static void suppress_object(struct suppress_run *e, struct object *object)
{
	const struct setting *settings = policy_settings(e->policy, object);
	const struct rule_set *rules = e->run->options.rules;
	struct finding like = {.place.document = object->doc->number,
			       .id = object_id_of(object)};
	struct finding *const key = &like;
	size_t i = array_first(e->findings, e->n, sizeof(key), &key, by_object);

	for (; i < e->n && !by_object(&e->findings[i], &key); i++)
		suppressions_apply(e->suppressions, object,
				   &settings[rule_set_find(
					   rules, e->findings[i]->rule->name)],
				   e->findings[i]);
	for (i = 0; i < object->nembedded; i++) {
		run_settle_namespace(e->run, &object->embedded[i]);
		suppress_object(e, &object->embedded[i]);
	}
}

static void ignore_issue(void *context, const struct load_issue *issue)
{
	(void)context; /* issues were reported when the file was linted */
	(void)issue;
}

/* Reads the file again to apply its comments and annotations. */
static void suppress_by_file(struct suppress_run *e, struct source *source)
{
	struct run_state *state = e->run->state;
	struct arena arena = ARENA_INIT;
	struct loader loader;
	struct doc doc;

	qsort(e->findings, e->n, sizeof(struct finding *), by_object);
	run_budget_begin(e->run);
	e->suppressions = suppressions_scan(&e->run->file_arena, source,
					    e->run->options.today,
					    policy_floor(e->policy));
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
			suppress_object(e, &list.items[i]);
	}
	arena_release(&arena);
	e->run->state->file.source = source;
	e->run->state->file.policy = e->policy;
	suppressions_finish_refused(e->suppressions, run_suppression_issue,
				    e->run);
}

/* True if escapes may hide letters of an annotation's name: \x67, \u0067,
 * \U00000067, or a backslash in a key over several lines, which '?' marks. */
static bool may_hide_letters(const struct source *source)
{
	const char *p = source->text, *end = p + source->len;

	while ((p = memchr(p, '\\', (size_t)(end - p))) && ++p < end) {
		bool line = *p == '\n' || *p == '\r' || *p & 0x80;

		if (*p == 'x' || *p == 'u' || *p == 'U')
			return true;
		if (line && memchr(source->text, '?', source->len))
			return true;
		/* The first of two backslashes escapes the second, so skip
		 * both. */
		p += *p == '\\';
	}
	return false;
}

/* True if the file may suppress findings: it contains "gpugate", or escapes may
 * hide the word. Otherwise it is not read again. */
static bool may_suppress(const struct source *source)
{
	return text_find(source->text, source->len, "gpugate") ||
	       may_hide_letters(source);
}

static void exempt_by_policy(struct suppress_run *e)
{
	for (size_t i = 0; i < e->n; i++)
		run_apply_exemptions(e->run, e->policy, e->findings[i]);
}

/* --- file by file --------------------------------------------------------- */

static void clear_findings(struct run *run)
{
	arena_reset(&run->file_arena);
	run->state->findings = NULL;
	run->state->nfindings = run->state->findings_size = 0;
}

/*
 * True if the rule of the finding is on in the policy of the finding's file,
 * with the overrides for its object. Also sets the finding's severity and
 * action to those of that policy, because check_set() runs with the settings of
 * the input as a whole.
 */
static bool is_wanted(const struct set_run *set, const struct policy *policy,
		      struct finding *f)
{
	const struct object object = {
		.kind = f->id.kind,
		.namespace = *f->id.namespace ? f->id.namespace : NULL,
	};
	int index = rule_set_find(policy_rules(policy), f->rule->name);
	int first = rule_set_find(policy_rules(set->policy), f->rule->name);
	const struct setting *setting, *judged;

	if (index < 0 || first < 0)
		return true;
	setting = &policy_settings(policy, &object)[index];
	judged = &set->settings[first];
	if (setting->severity_set &&
	    (!judged->severity_set || setting->severity != judged->severity)) {
		f->severity = setting->severity;
		f->severity_fixed = true;
		f->action = setting->action;
	}
	if (setting->action_set &&
	    (!judged->action_set || setting->action != judged->action))
		f->action = setting->action;
	return setting->enabled;
}

/*
 * Adds the findings of check_set() in the file to its other findings, and ends
 * the file.
 */
static void end_file(struct set_run *set, uint32_t file)
{
	struct run *run = set->run;
	struct run_state *state = run->state;
	struct run_options *options = &run->options;
	struct suppress_run e = {.run = run};
	struct source *source = NULL;

	e.policy = set->policy_of(set->context, file);
	for (;
	     set->next < set->n && set->findings[set->next]->place.file == file;
	     set->next++)
		if (is_wanted(set, e.policy, set->findings[set->next]))
			*VEC_PUSH(&run->file_arena, state->findings,
				  state->nfindings, state->findings_size) =
				set->findings[set->next];
	if (!state->nfindings)
		return;
	e.findings = state->findings;
	e.n = state->nfindings;
	exempt_by_policy(&e);
	if (options->source_of && !options->no_ignore)
		source = options->source_of(options->context, file);
	if (source && may_suppress(source))
		suppress_by_file(&e, source);
	state->file.index = file;
	run_end_file(run);
	clear_findings(run);
}

/* Ends all files before this one. */
static void end_files(struct set_run *set, uint32_t before)
{
	while (set->next < set->n &&
	       set->findings[set->next]->place.file < before)
		end_file(set, set->findings[set->next]->place.file);
}

static void check_workloads(struct set_run *set)
{
	uint32_t file = 0;

	FOR_EACH_WORKLOAD(&set->run->index, w) {
		if (w->place.file != file) {
			end_file(set, file);
			file = w->place.file;
			end_files(set, file);
		}
		check_workload(set, w);
	}
	end_file(set, file);
	end_files(set, UINT32_MAX);
}

/* Stores the findings of check_set() until their file is processed. */
static void gather(struct set_run *set)
{
	struct run_state *state = set->run->state;

	set->findings = state->findings;
	set->n = state->nfindings;
	arena_adopt(&set->arena, &set->run->file_arena);
	findings_sort_pointers(set->findings, set->n);
	clear_findings(set->run);
}

void run_set(struct run *run,
	     const struct policy *(*policy_of)(void *context, uint32_t file),
	     void *context)
{
	struct set_run set = {
		.run = run,
		.policy_of = policy_of,
		.context = context,
		.policy = policy_of(context, 0),
	};

	run->state->policy_of = policy_of;
	run->state->policies = context;
	clear_findings(run);
	run->state->suppressions = NULL;
	object_index_finish(&run->index);
	run_cluster_workload(run, NULL);
	set.settings = set_settings(&set);
	run_check_sets(run, set.policy, set.settings);
	arena_reset(&run->state->doc_arena);
	gather(&set);
	check_workloads(&set);
	arena_release(&set.arena);
}
