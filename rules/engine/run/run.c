/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs rules over the documents of a file: reads the objects, calls each
 * enabled rule, hides general findings beside specific ones, then applies
 * exemptions, comments and annotations. At the end of the file the sink gets
 * the findings, sorted and without duplicates.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "doc/load.h"
#include "kube/object.h"
#include "kube/purpose/purpose.h"
#include "run_internal.h"

static const char *const internal_names[INTERNAL_COUNT] = {
	[INTERNAL_SYNTAX] = "invalid-syntax",
	[INTERNAL_DISAGREEMENT] = "reader-disagreement",
	[INTERNAL_DUPLICATE_KEY] = "duplicate-key",
	[INTERNAL_UNUSED] = "suppression-unused",
	[INTERNAL_EXPIRED] = "suppression-expired",
	[INTERNAL_MALFORMED] = "suppression-malformed",
	[INTERNAL_REFUSED] = "suppression-refused",
	[INTERNAL_ADMISSION_POLICY] = "admission-policy",
	[INTERNAL_CRD_VALIDATION] = "crd-validation",
};

static struct called_rule object_rule(const struct rule *rule, unsigned index)
{
	/* Other scopes apply only to pods. */
	unsigned scope = rule->scope & GPU_PODS;

	if (rule->flags & RULE_ABSENCE)
		scope |= SCOPE_WHOLE;
	return (struct called_rule){rule, index, scope};
}

static struct called_rule pod_rule(const struct rule *rule, unsigned index)
{
	struct called_rule called = object_rule(rule, index);

	called.scope |= rule->scope;
	if (!(rule->flags & RULE_INFRASTRUCTURE))
		called.scope |= SCOPE_OWN;
	return called;
}

static void index_rules(struct run_state *state, const struct rule_set *rules)
{
	size_t room = rules->n * sizeof(struct called_rule);

	state->rules = rules;
	state->pod_rules = arena_alloc(&state->arena, room);
	state->object_rules = arena_alloc(&state->arena, room);
	state->workload_rules = ARENA_ARRAY(&state->arena, unsigned, rules->n);
	for (unsigned i = 0; i < rules->n; i++) {
		const struct rule *rule = rules->items[i];

		if (rule->check_pod)
			state->pod_rules[state->npod_rules++] =
				pod_rule(rule, i);
		if (rule->check_object)
			state->object_rules[state->nobject_rules++] =
				object_rule(rule, i);
		if (rule->check_workload)
			state->workload_rules[state->nworkload_rules++] = i;
		if (rule->check_set)
			*VEC_PUSH(&state->arena, state->set_rules,
				  state->nset_rules, state->set_rules_size) =
				(struct set_rule){.rule = i};
	}
}

/* Lists the rules whose findings each rule hides, in registry order: the loop
 * runs backward and inserts each rule at the front. */
static void note_yielding(struct run_state *state, const struct rule_set *rules)
{
	state->nyielding = rules->n;
	state->yielding =
		ARENA_ARRAY(&state->arena, struct yielding_rule *, rules->n);
	for (size_t j = rules->n; j--;) {
		for (const char *const *name = rules->items[j]->yields_to;
		     name && *name; name++) {
			int i = rule_set_find(rules, *name);
			struct yielding_rule *one;

			if (i < 0)
				continue;
			one = ARENA_NEW(&state->arena, struct yielding_rule);
			one->rule = (unsigned)j;
			one->next = state->yielding[i];
			state->yielding[i] = one;
		}
	}
}

void run_init(struct run *run, const struct run_options *options)
{
	memset(run, 0, sizeof(*run));
	run->options = *options;
	run->state = array_zalloc(1, sizeof(*run->state));
	index_rules(run->state, options->rules);
	if (options->admission)
		note_yielding(run->state, options->rules);
	for (int i = 0; i < INTERNAL_COUNT; i++) {
		run->state->internal[i] =
			rule_set_find(options->rules, internal_names[i]);
		if (run->state->internal[i] < 0)
			BUG("no rule %s", internal_names[i]);
	}
}

void run_release(struct run *run)
{
	arena_release(&run->file_arena);
	object_index_release(&run->index);
	if (!run->state)
		return;
	run_reread_release(run);
	arena_release(&run->state->doc_arena);
	arena_release(&run->state->values);
	arena_release(&run->state->cluster_names.arena);
	for (int i = 0; i < CLUSTER_KINDS; i++)
		arena_release(&run->state->listings[i].arena);
	arena_release(&run->state->arena);
	free(run->state);
	run->state = NULL;
}

void run_restart(struct run *run)
{
	struct object_index *index = &run->index;

	for (size_t i = 0; i < run->state->nnot_run; i++)
		run->state->not_run[i].count = 0;
	run->counts = (struct run_counts){0};
	run->costly = false;
	run->state->any_cluster_old = NULL;
	if (!index->nworkloads && !index->nnamed && !index->nquotas &&
	    !index->nlimit_ranges && !index->nclasses && !index->nrequests &&
	    !index->nscalers && !index->nservices && !index->nconfigs &&
	    !index->ngroups && !index->nroutes)
		return;
	object_index_release(index);
	*index = (struct object_index){0};
}

/* --- one file ------------------------------------------------------------ */

void run_drop(struct run *run)
{
	arena_reset(&run->file_arena);
	arena_reset(&run->state->doc_arena);
}

void run_begin_file(struct run *run, const struct run_file *file)
{
	struct run_state *state = run->state;

	run_drop(run);
	state->file = *file;
	state->rules = policy_rules(file->policy);
	state->findings = NULL;
	memset(state->long_values, 0, sizeof(state->long_values));
	state->nfindings = state->findings_size = 0;
	state->cut = state->in_part = false;
	state->suppressions = NULL;
	run_cluster_begin(run, file);
	run_note_sets(run);
	if (run->options.admission)
		state->suppressions =
			suppressions_granted(&run->file_arena, file->source,
					     run->options.today, file->policy);
	else if (!run->options.no_ignore)
		state->suppressions = suppressions_scan(
			&run->file_arena, file->source, run->options.today,
			policy_floor(file->policy));
	state->doc_arena.budget = NULL; /* run_budget_begin() sets it */
	run_claims_begin(run, &run->file_arena, &state->doc_arena);
	run_budget_begin(run);
}

/* Returns a new finding of one of the engine's own rules; NULL if the policy
 * turns the rule off. */
static struct finding *finding_internal(struct run *run,
					enum internal_rule which)
{
	int index = run->state->internal[which];
	const struct setting *setting =
		&policy_base(run->state->file.policy)[index];

	if (!setting->enabled)
		return NULL;
	return finding_new(run, run->options.rules->items[index], setting);
}

/* Reports a finding of one of the engine's own rules at bytes of the file.
 * Returns NULL if the rule is off. */
static struct finding *report_internal(struct run *run,
				       enum internal_rule which,
				       const char *text, uint32_t start,
				       uint32_t end)
{
	struct finding *f = finding_internal(run, which);

	if (!f)
		return NULL;
	f->message = arena_strdup(&run->file_arena, text);
	finding_put(run, f, start, end);
	return f;
}

/* Identifies a finding without an object by the file and its text. */
static void identify_by_file(const struct run *run, struct finding *f)
{
	const char *name = run->state->file.source->name;

	f->place.named_path = text_hash(f->message, strlen(f->message),
					text_hash(name, strlen(name), 0));
}

void run_load_issue(void *run, const struct load_issue *issue)
{
	static const enum internal_rule rule_of[] = {
		[LOAD_SYNTAX] = INTERNAL_SYNTAX,
		[LOAD_DISAGREEMENT] = INTERNAL_DISAGREEMENT,
		[LOAD_DUPLICATE_KEY] = INTERNAL_DUPLICATE_KEY,
	};
	struct finding *f;

	if (run_is_cut(run, NULL, issue->start, issue->end))
		return;
	f = report_internal(run, rule_of[issue->kind], issue->text,
			    issue->start, issue->end);
	if (f)
		identify_by_file(run, f);
}

void run_report_cut(struct run *run, const char *text, uint32_t start,
		    uint32_t end)
{
	struct finding *f =
		report_internal(run, INTERNAL_SYNTAX, text, start, end);

	if (f)
		identify_by_file(run, f);
}

/* --- one object ---------------------------------------------------------- */

/* Applies the policy's exemptions, then comments and annotations. */
static void exempt_or_suppress_there(struct run *run,
				     const struct object *object,
				     const struct setting *settings,
				     struct finding *f)
{
	struct run_state *state = run->state;
	int index = rule_set_find(state->rules, f->rule->name);

	if (f->hidden || run_apply_exemptions(run, state->file.policy, f))
		return;
	if (state->suppressions)
		suppressions_apply(state->suppressions, object,
				   &settings[index], f);
}

static void exempt_or_suppress(struct run *run, const struct object *object,
			       const struct setting *settings,
			       struct finding *f)
{
	const char *named = f->id.namespace;
	const char *author = policy_namespace(object);

	f->id.namespace = author ? author : named;
	exempt_or_suppress_there(run, object, settings, f);
	f->id.namespace = named;
}

static bool wants_workloads(const struct run_state *state,
			    const struct setting *settings)
{
	for (size_t i = 0; i < state->nworkload_rules; i++) {
		unsigned index = state->workload_rules[i];

		if (run_wants(state, index, settings))
			return true;
	}
	return false;
}

/* Runs the set rules for one object, because at admission it is the whole
 * input. */
static void check_alone(struct run *run, const struct object *object,
			const struct setting *settings)
{
	struct run_state *state = run->state;
	struct workload *w;

	if (state->wanted == WANT_PATCHES && !wants_workloads(state, settings))
		return;
	if (object_is_gpu_workload(object)) {
		w = workload_read(&state->doc_arena, object, state->file.index);
		w->cluster = state->cluster;
		w->reservations = run->options.reservations;
		if (run->options.workload)
			run->options.workload(run->options.context, w);
		run_workload(run, w, settings);
		return;
	}
	object_index_add(&run->index, object, state->file.index);
	if (run->index.nquotas || run->index.nlimit_ranges ||
	    run->index.nclasses || run->index.nrequests) {
		object_index_finish(&run->index);
		run_check_sets(run, state->file.policy, settings);
	}
}

/*
 * Sets the namespace of an embedded object to that of the enclosing object,
 * whatever it sets: AppWrapper rejects other namespaces, Katib overwrites them.
 * A manifest in a string may name another namespace.
 */
void run_settle_namespace(const struct run *run, struct object *object)
{
	const struct object *parent = object->parent;
	bool text = object->doc->host;

	if (parent && parent->namespace && (!text || !object->namespace))
		object->namespace = parent->namespace;
	if (!object->namespace)
		object->namespace = run->state->file.default_namespace;
}

/* Returns the labels of the object's namespace: from the options, or from the
 * snapshot if an override of the policy depends on them. */
static const struct node *namespace_labels(const struct run *run,
					   const struct object *object)
{
	const struct run_state *state = run->state;

	const char *namespace = policy_namespace(object);

	if (state->file.namespace_labels || !state->cluster || !namespace ||
	    !policy_asks_namespaces(state->file.policy))
		return state->file.namespace_labels;
	return cluster_namespace(state->cluster, namespace,
				 &run->state->doc_arena);
}

/* Drops the findings from start on that are about values that the cluster adds,
 * which are not the author's mistakes. */
static void drop_injected(struct run_state *state, size_t start)
{
	size_t n = start;

	for (size_t i = start; i < state->nfindings; i++)
		if (!state->findings[i]->injected)
			state->findings[n++] = state->findings[i];
	state->nfindings = n;
}

static void check_object(struct run *run, struct object *object)
{
	struct run_state *state = run->state;
	const struct setting *settings;
	size_t start = state->nfindings;

	if (!object->cluster_scoped)
		run_settle_namespace(run, object);
	run_inject(run, &state->doc_arena, object);
	object->infrastructure = namespace_is_infrastructure(
		run_kube(run), policy_namespace(object));
	if (state->file.fragments || state->file.patched ||
	    object->doc->abridged)
		object->fragment = true;
	state->in_part |= object->fragment;
	run_count_object(run, object);
	settings =
		policy_settings_in(state->file.policy, object,
				   namespace_labels(run, object), &state->mode);
	object->settings = settings;
	if (state->suppressions)
		suppressions_object(state->suppressions, object);
	state->wanted = suppressions_any(state->suppressions)
				? WANT_ALL
				: run->options.wanted;
	if (!run_is_over_budget(run, object)) {
		run_check_object(run, object, settings);
		run_admission_policies(run, object, settings);
	}
	if (run->options.admission && !run_is_spent(run))
		check_alone(run, object, settings);
	drop_injected(state, start);
	findings_yield(state->findings, start, state->nfindings);
	for (size_t i = start; i < state->nfindings; i++)
		exempt_or_suppress(run, object, settings, state->findings[i]);
	if (!run->options.admission)
		object_index_add(&run->index, object, state->file.index);
	for (size_t i = 0; i < object->nembedded; i++)
		check_object(run, &object->embedded[i]);
}

static void report_nested_list(struct run *run, const struct doc *doc,
			       const struct node *list)
{
	struct finding *f = finding_internal(run, INTERNAL_DISAGREEMENT);
	uint32_t start, end;

	if (!f)
		return;
	node_anchor(list, &start, &end);
	finding_put(run, f, start, end);
	f->place.document = doc->number;
	f->message = "a List inside a List: kubectl rejects it, gpugate "
		     "reads it anyway";
}

void run_document(struct run *run, struct doc *doc)
{
	struct run_state *state = run->state;
	const struct node *nested = NULL;
	struct object_list list = {0};
	size_t start = state->nfindings;

	/* Fixes refer to values of this arena until the file ends. */
	if (!run->options.repair) {
		arena_reset(&state->doc_arena);
		state->found_runtimes = NULL;
	}
	run->counts.documents++;
	if (!doc->root)
		return;
	if (run->options.file_values) {
		unsigned found = placeholder_mark(doc);

		run->counts.placeholders += found;
		state->in_part |= found > 0;
	}
	if (state->suppressions)
		suppressions_exclude(state->suppressions, doc);
	object_read(&state->doc_arena, run_kube(run), doc, &list, &nested);
	if (nested)
		report_nested_list(run, doc, nested);
	for (size_t i = 0; i < list.n; i++) {
		if (!run_read_in_time(run, &list.items[i]))
			continue;
		check_object(run, &list.items[i]);
		run_check_budget(run, &list.items[i]);
	}
	run_repairs(run, doc, start);
}

/* --- the end of a file --------------------------------------------------- */

/* Returns the help for a rejected suppression; "" if the policy names no
 * contact, so that the rule's own help is shown. */
static const char *who_grants(struct run *run)
{
	const struct policy *policy = run->state->file.policy;
	const char *contact = policy_contact(policy);

	return contact ? arena_printf(&run->file_arena, "Ask %s to grant it.",
				      contact)
		       : "";
}

void run_suppression_issue(void *run, const struct suppression_issue *issue)
{
	static const enum internal_rule rule_of[] = {
		[SUPPRESSION_UNUSED] = INTERNAL_UNUSED,
		[SUPPRESSION_EXPIRED] = INTERNAL_EXPIRED,
		[SUPPRESSION_MALFORMED] = INTERNAL_MALFORMED,
		[SUPPRESSION_REFUSED] = INTERNAL_REFUSED,
	};
	struct finding *f;

	if (run_is_cut(run, NULL, issue->start, issue->end))
		return;
	f = report_internal(run, rule_of[issue->kind], issue->text,
			    issue->start, issue->end);

	if (!f)
		return;
	/* Distinguish findings at the same place. */
	f->cause = f->message;
	if (issue->kind == SUPPRESSION_REFUSED)
		f->help = who_grants(run);
	if (issue->kind == SUPPRESSION_MALFORMED && issue->pointer)
		f->help = "Write `gpugate.dev/ignore: RULE`, "
			  "`gpugate.dev/ignore-reason: TEXT` and, if it "
			  "expires, `gpugate.dev/ignore-until: YYYY-MM-DD`.";
	if (!issue->pointer) {
		identify_by_file(run, f);
		return;
	}
	f->id = issue->id;
	f->place.document = issue->document;
	f->place.pointer = issue->pointer;
	f->place.named_path = issue->named_path;
}

/* Keeps the visible findings, sorted, without duplicates. */
static void collect(struct run *run)
{
	struct run_state *state = run->state;
	struct finding **all = state->findings;
	size_t n = 0, kept = 0;

	if (!run->options.admission)
		findings_repeat(all, state->nfindings);
	for (size_t i = 0; i < state->nfindings; i++)
		if (all[i]->repeated)
			fix_uncount(&run->counts, all[i]);
		else if (!all[i]->hidden)
			all[n++] = all[i];
	findings_sort_pointers(all, n);
	for (size_t i = 0; i < n; i++) {
		if (!kept || finding_cmp(all[kept - 1], all[i]))
			all[kept++] = all[i];
		else /* equal findings, such as for two mounts of one volume */
			all[kept - 1]->value += all[i]->value;
	}
	state->nfindings = kept;
}

static void finish_findings(struct run *run)
{
	for (size_t i = 0; i < run->state->nfindings; i++) {
		struct finding *f = run->state->findings[i];

		run_apply_baseline(run, f);
		if (run->options.admission)
			finding_finish_value(f);
		run_count_finding(&run->counts, f);
	}
}

void run_end_file(struct run *run)
{
	struct run_state *state = run->state;

	if (state->file.budget)
		*state->file.budget = state->budget.all;
	run_claims_end(run);
	if (state->suppressions && !state->cut) {
		suppressions_settings(state->suppressions,
				      policy_base(state->file.policy));
		suppressions_unsure(state->suppressions,
				    state->in_part || state->file.built,
				    state->in_part);
		suppressions_finish(state->suppressions, state->rules,
				    run_suppression_issue, run);
	}
	if (!state->nfindings)
		return;
	collect(run);
	finish_findings(run);
	if (state->nfindings)
		run->options.sink(run->options.context, state->file.index,
				  state->findings, state->nfindings);
}

void run_file(struct run *run, const struct run_file *file, struct arena *docs,
	      void (*seen)(void *context, const struct doc *doc), void *context)
{
	struct loader loader;
	struct doc doc;

	run_begin_file(run, file);
	loader_init(&loader, file->source, &load_limits_default, docs);
	loader.issue = run_load_issue;
	loader.context = run;
	while (loader_next(&loader, &doc) > 0) {
		run_document(run, &doc);
		if (seen)
			seen(context, &doc);
		arena_reset(docs);
	}
	run_end_file(run);
	arena_reset(docs);
}

void run_join(struct run *dst, struct run *src)
{
	arena_release(&src->file_arena);
	src->state->nfindings = 0;
	run_counts_add(&dst->counts, &src->counts);
	if (!dst->state->any_cluster_old)
		dst->state->any_cluster_old = src->state->any_cluster_old;
	object_index_join(&dst->index, &src->index);
	run_join_sets(dst, src);
	for (size_t i = 0; i < src->state->nnot_run; i++)
		run_not_run_add(dst, src->state->not_run[i].rule,
				src->state->not_run[i].reason,
				src->state->not_run[i].count);
}
