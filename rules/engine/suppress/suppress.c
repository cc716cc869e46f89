/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches findings with the suppressions of a file, and finds suppressions that
 * matched nothing. Comments are sorted by position, and so are the lines that
 * they cover, so that binary search finds the comments of a finding; the few
 * ignore-file comments are tried one by one.
 */
#include "suppress_internal.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

struct suppressions *suppressions_scan(struct arena *arena,
				       struct source *source, int64_t today,
				       const struct policy *admission)
{
	struct suppressions *s =
		suppressions_granted(arena, source, today, admission);

	s->is_admission = false;
	suppress_read_comments(s);
	return s;
}

struct suppressions *suppressions_granted(struct arena *arena,
					  struct source *source, int64_t today,
					  const struct policy *policy)
{
	struct suppressions *s = ARENA_NEW(arena, struct suppressions);

	s->arena = arena;
	s->source = source;
	s->today = today;
	s->admission = policy;
	s->is_admission = true;
	return s;
}

void suppressions_settings(struct suppressions *s,
			   const struct setting *settings)
{
	s->settings = settings;
}

void suppressions_unsure(struct suppressions *s, bool comments,
			 bool annotations)
{
	s->unsure_comments = comments;
	s->unsure_annotations = annotations;
}

/* --- texts that only look like comments ----------------------------------- */

static int by_start(const void *a, const void *b)
{
	uint32_t x = ((const struct suppress_comment *)a)->clause.start;
	uint32_t y = ((const struct suppress_comment *)b)->clause.start;

	return (x > y) - (x < y);
}

static void exclude_span(struct suppressions *s, uint32_t start, uint32_t end)
{
	const struct suppress_comment key = {.clause.start = start};
	size_t i = array_first(s->comments, s->ncomments, sizeof(key), &key,
			       by_start);

	for (; i < s->ncomments && s->comments[i].clause.start < end; i++)
		s->comments[i].excluded = true;
}

/* Returns the start of a scalar's content. The header line of a block scalar
 * may have a comment: `key: | # comment`. */
static uint32_t content_start(const struct suppressions *s,
			      const struct node *node)
{
	const char *text = s->source->text, *end;

	if (!(node->flags & NODE_BLOCK) || node->start >= s->source->len)
		return node->start;
	end = memchr(text + node->start, '\n', s->source->len - node->start);
	return end ? (uint32_t)(end - text) : node->end;
}

static void exclude_node(struct suppressions *s, const struct node *node)
{
	exclude_span(s, node->key_start, node->key_end);
	if (node->type != NODE_MAP && node->type != NODE_SEQ)
		exclude_span(s, content_start(s, node), node->end);
	for (const struct node *child = node->first; child; child = child->next)
		exclude_node(s, child);
}

void suppressions_exclude(struct suppressions *s, const struct doc *doc)
{
	if (s->ncomments && doc->root && !doc->host)
		exclude_node(s, doc->root);
}

/* --- one finding ---------------------------------------------------------- */

/* Returns the condition of the policy that the annotation does not meet, or
 * NULL. */
static const char *refusal_of_annotation(const struct suppressions *s,
					 const struct suppress_clause *clause,
					 const struct finding *finding)
{
	const struct policy_grant *grant;
	const char *why =
		policy_refusal(s->admission, finding->rule, finding->check,
			       finding->id.namespace, &grant);

	if (why)
		return why;
	if (grant->require_reason && !*clause->reason)
		return "the policy requires `gpugate.dev/ignore-reason`";
	if (!grant->max_days)
		return NULL;
	if (clause->until == DATE_NONE)
		return arena_printf(s->arena,
				    "the policy requires "
				    "`gpugate.dev/ignore-until`, at most %lld "
				    "days ahead",
				    (long long)grant->max_days);
	if (clause->until > s->today + grant->max_days)
		return arena_printf(s->arena,
				    "`gpugate.dev/ignore-until` is more than "
				    "%lld days ahead",
				    (long long)grant->max_days);
	return NULL;
}

bool finding_is_denied_by(const struct policy *admission,
			  const struct finding *f)
{
	const struct object object = {
		.kind = f->id.kind,
		.namespace = *f->id.namespace ? f->id.namespace : NULL,
	};
	int index = rule_set_find(policy_rules(admission), f->rule->name);
	enum severity severity = f->severity;
	const struct setting *setting;
	enum action action;
	enum mode mode;

	if (index < 0)
		return false;
	setting = &policy_settings_in(admission, &object, NULL, &mode)[index];
	if (!setting->enabled || mode != MODE_ENFORCE)
		return false;
	if (setting->severity_set || f->severity_fixed)
		severity = setting->severity;
	action = setting->action_set ? setting->action
				     : rule_action(f->rule, severity);
	return action == ACTION_DENY ||
	       (action == ACTION_PATCH && severity == SEVERITY_ERROR &&
		!f->fix_title);
}

/* Returns the reason why the clause must not suppress the finding, or NULL. */
static const char *refusal(const struct suppressions *s,
			   const struct suppress_clause *clause,
			   const struct setting *setting,
			   const struct finding *finding)
{
	char day[DATE_TEXT];

	if (setting_locks(setting, finding->rule, finding->check))
		return "the policy locks it";
	if (clause->until < s->today)
		return arena_printf(s->arena, "it expired on %s",
				    date_text(clause->until, day));
	if (!s->admission)
		return NULL;
	if (clause->pointer)
		return refusal_of_annotation(s, clause, finding);
	return finding_is_denied_by(s->admission, finding)
		       ? "admission denies it and does not read comments"
		       : NULL;
}

static void reject_suppression(const struct suppressions *s,
			       struct suppress_clause *clause,
			       struct finding *finding, const char *why)
{
	struct suppress_refusal *one;

	for (one = clause->refused; one; one = one->next)
		if (one->rule == finding->rule)
			break;
	if (!one) {
		one = ARENA_NEW(s->arena, struct suppress_refusal);
		one->rule = finding->rule;
		one->text = arena_printf(s->arena, "`%s` is not suppressed: %s",
					 finding->rule->name, why);
		one->next = clause->refused;
		clause->refused = one;
	}
	finding->ignore_refused = one->text;
}

bool suppress_by_clause(const struct suppressions *s,
			struct suppress_clause *clause,
			const struct setting *setting, struct finding *finding,
			enum suppressed_via via)
{
	struct suppress_words *words = &clause->words;
	bool named = false, expired = clause->until < s->today;
	const char *why;

	if (clause->broken || (expired && !s->is_admission))
		return false;
	for (size_t i = 0; i < words->n; i++) {
		if (!rule_is_named(finding->rule, finding->check,
				   words->items[i].text))
			continue;
		named = true;
		words->items[i].used = true;
	}
	if (!named)
		return false;
	why = refusal(s, clause, setting, finding);
	if (why) {
		reject_suppression(s, clause, finding, why);
		return false;
	}
	finding->suppressed = via;
	finding->suppression_reason = clause->reason;
	return true;
}

static int by_line(const void *a, const void *b)
{
	uint32_t x = ((const struct suppress_comment *)a)->line;
	uint32_t y = ((const struct suppress_comment *)b)->line;

	return (x > y) - (x < y);
}

static bool by_comment(struct suppressions *s, struct suppress_comment *comment,
		       const struct setting *setting, struct finding *finding)
{
	return !comment->excluded &&
	       suppress_by_clause(s, &comment->clause, setting, finding,
				  SUPPRESSED_COMMENT);
}

static void by_comments(struct suppressions *s, const struct setting *setting,
			struct finding *finding)
{
	const struct suppress_comment key = {.line = finding->place.line};
	size_t i = array_first(s->comments, s->ncomments, sizeof(key), &key,
			       by_line);

	for (; i < s->ncomments && s->comments[i].line == key.line; i++)
		if (!s->comments[i].whole_file &&
		    by_comment(s, &s->comments[i], setting, finding))
			return;
	for (i = 0; i < s->nwhole_file; i++)
		if (by_comment(s, &s->comments[s->whole_file[i]], setting,
			       finding))
			return;
}

bool suppressions_any(const struct suppressions *s)
{
	return s && (s->ncomments || s->nannotations);
}

void suppressions_apply(struct suppressions *s, const struct object *object,
			const struct setting *setting, struct finding *finding)
{
	if (rule_is_fixed(finding->rule) || finding->suppressed)
		return;
	if (s->ncomments)
		by_comments(s, setting, finding);
	if (!finding->suppressed && object)
		suppress_by_annotation(s, object, setting, finding);
}

/* --- unused suppressions -------------------------------------------------- */

struct finish {
	struct suppressions *s;
	const struct rule_set *rules;
	void (*add)(void *context, const struct suppression_issue *issue);
	void *context;
};

static void add_trouble(struct finish *f, const struct suppress_clause *clause,
			enum suppression_trouble kind, const char *text)
{
	const struct suppression_issue issue = {
		.kind = kind,
		.start = clause->start,
		.end = clause->end,
		.pointer = clause->pointer,
		.document = clause->document,
		.named_path = clause->named_path,
		.id = clause->id,
		.text = text,
	};

	f->add(f->context, &issue);
}

/* Returns the user's text in a form that is safe in a message. */
static const char *printable(struct arena *arena, const char *text)
{
	char *copy = arena_printf(arena, "%.60s", text);

	text_mask_controls(copy);
	return copy;
}

/* Parses the word. Returns false, and reports it, if it names no rule that can
 * be suppressed. */
static bool check_word(struct finish *f, const struct suppress_clause *clause,
		       const char *text, struct rule_word *word)
{
	struct arena *arena = f->s->arena;
	const char *near;

	if (!rule_word_parse(f->rules, text, word)) {
		near = rule_word_nearest(f->rules, text);
		add_trouble(f, clause, SUPPRESSION_MALFORMED,
			    arena_printf(arena, "unknown rule `%s`%s%s%s",
					 printable(arena, text),
					 near ? "; did you mean `" : "",
					 near ? near : "", near ? "`?" : ""));
		return false;
	}
	if (word->rule && rule_is_fixed(word->rule)) {
		add_trouble(f, clause, SUPPRESSION_MALFORMED,
			    arena_printf(arena, "`%s` cannot be suppressed",
					 word->rule->name));
		return false;
	}
	return true;
}

static bool speaks_later(const struct rule *rule)
{
	return rule->needs & (NEEDS_SET | NEEDS_CLUSTER) ||
	       rule->check_workload || rule->check_set;
}

/* True if /mutate may have removed the cause of the finding. */
static bool is_patched(const struct finish *f, size_t index)
{
	const struct rule *rule = f->rules->items[index];
	const struct setting *setting;

	if (!f->s->is_admission || !f->s->settings)
		return false;
	setting = &f->s->settings[index];
	if (setting->action_set)
		return setting->action == ACTION_PATCH;
	return rule_action(rule, setting->severity) == ACTION_PATCH;
}

/* True if the word selects a rule that is on, and each such rule has reported
 * all its findings. Then a suppression by this word that matched nothing is
 * unused. */
static bool has_all_findings(const struct finish *f,
			     const struct rule_word *word)
{
	bool any = false;

	for (size_t i = 0; i < f->rules->n; i++) {
		const struct rule *rule = f->rules->items[i];

		if (!rule_word_covers(word, rule) ||
		    (f->s->settings && !f->s->settings[i].enabled))
			continue;
		if (speaks_later(rule) || is_patched(f, i))
			return false;
		any = true;
	}
	return any;
}

static void finish_words(struct finish *f, const struct suppress_clause *clause,
			 bool expired)
{
	struct arena *arena = f->s->arena;
	const char *unused = NULL;

	for (size_t i = 0; i < clause->words.n; i++) {
		const struct suppress_word *one = &clause->words.items[i];
		struct rule_word word;

		if (!check_word(f, clause, one->text, &word) || one->used ||
		    expired || !has_all_findings(f, &word))
			continue;
		unused = arena_printf(arena, "%s%s`%s`", unused ? unused : "",
				      unused ? ", " : "", one->text);
	}
	if (unused && !(clause->pointer ? f->s->unsure_annotations
					: f->s->unsure_comments))
		add_trouble(f, clause, SUPPRESSION_UNUSED,
			    arena_printf(arena,
					 "nothing here to suppress for %s",
					 unused));
}

static void finish_refused(struct finish *f,
			   const struct suppress_clause *clause)
{
	const struct suppress_refusal *one = clause->refused;

	for (; one; one = one->next)
		add_trouble(f, clause, SUPPRESSION_REFUSED, one->text);
}

static void finish_clause(struct finish *f,
			  const struct suppress_clause *clause)
{
	struct arena *arena = f->s->arena;
	bool expired = clause->until < f->s->today;
	char day[DATE_TEXT];

	if (clause->problem)
		add_trouble(f, clause, SUPPRESSION_MALFORMED, clause->problem);
	if (clause->broken)
		return;
	finish_words(f, clause, expired);
	finish_refused(f, clause);
	if (expired)
		add_trouble(f, clause, SUPPRESSION_EXPIRED,
			    arena_printf(arena, "the suppression expired on %s",
					 date_text(clause->until, day)));
}

static void finish_all(struct finish *f,
		       void (*finish)(struct finish *f,
				      const struct suppress_clause *clause))
{
	const struct suppressions *s = f->s;

	for (size_t i = 0; i < s->ncomments; i++)
		if (!s->comments[i].excluded)
			finish(f, &s->comments[i].clause);
	for (size_t i = 0; i < s->nannotations; i++)
		finish(f, &s->annotations[i].clause);
}

void suppressions_finish(struct suppressions *s, const struct rule_set *rules,
			 void (*add_issue)(void *context,
					   const struct suppression_issue *),
			 void *context)
{
	struct finish f = {s, rules, add_issue, context};

	finish_all(&f, finish_clause);
}

void suppressions_finish_refused(
	struct suppressions *s,
	void (*add_issue)(void *context, const struct suppression_issue *),
	void *context)
{
	struct finish f = {.s = s, .add = add_issue, .context = context};

	finish_all(&f, finish_refused);
}
