/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inserts suppression comments. All comments are tried together. If they would
 * change the documents (because a line is inside of a block scalar), each is
 * tried alone, and those that change something are omitted.
 */
#include "lint.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/load.h"

static const char prefix[] = "# gpugate: ignore[";

/* Findings of one line. The names of rules are sorted and unique. */
struct comment_line {
	uint32_t number;
	const char **rules;
	size_t n, size;
	bool refused;
};

struct comment_plan {
	struct add_ignore *add;
	struct arena arena;
	struct comment_line *lines; /* sorted by number */
	size_t n, size;
};

/* --- selection of findings ------------------------------------------------ */

static bool is_eligible(const struct add_ignore *add, const struct finding *f)
{
	const struct rule_set *rules = policy_rules(add->policy);
	int index = rule_set_find(rules, f->rule->name);

	return !f->suppressed && !(f->rule->flags & RULE_INTERNAL) &&
	       index >= 0 && !policy_base(add->policy)[index].locked;
}

static void add_rule(struct comment_plan *plan, struct comment_line *line,
		     const char *name)
{
	size_t at = 0;

	while (at < line->n && strcmp(line->rules[at], name) < 0)
		at++;
	if (at < line->n && !strcmp(line->rules[at], name))
		return;
	*VEC_PUSH(&plan->arena, line->rules, line->n, line->size) = name;
	memmove(line->rules + at + 1, line->rules + at,
		(line->n - 1 - at) * sizeof(*line->rules));
	line->rules[at] = name;
}

/* Groups the findings by line; they are sorted by line. */
static void collect(struct comment_plan *plan)
{
	for (size_t i = 0; i < plan->add->n; i++) {
		const struct finding *f = &plan->add->findings[i];

		if (!is_eligible(plan->add, f))
			continue;
		if (!plan->n ||
		    plan->lines[plan->n - 1].number != f->place.line)
			*VEC_PUSH(&plan->arena, plan->lines, plan->n,
				  plan->size) =
				(struct comment_line){.number = f->place.line};
		add_rule(plan, &plan->lines[plan->n - 1], f->rule->name);
	}
}

/* --- the text ------------------------------------------------------------ */

static void add_names(struct buf *out, const struct comment_line *line)
{
	for (size_t i = 0; i < line->n; i++)
		buf_addf(out, "%s%s", i ? "," : "", line->rules[i]);
}

/* Returns the end of the list of rules in a line that is an ignore comment, or
 * NULL. */
static const char *list_end(const char *text, size_t len)
{
	size_t blank = 0;

	while (blank < len && (text[blank] == ' ' || text[blank] == '\t'))
		blank++;
	if (len - blank < strlen(prefix) ||
	    memcmp(text + blank, prefix, strlen(prefix)) != 0)
		return NULL;
	return memchr(text + blank, ']', len - blank);
}

static void add_comment(struct buf *out, const struct comment_plan *plan,
			const struct comment_line *line, const char *text,
			size_t len)
{
	size_t blank = 0;

	while (blank < len && (text[blank] == ' ' || text[blank] == '\t'))
		blank++;
	buf_add(out, text, blank);
	buf_adds(out, prefix);
	add_names(out, line);
	buf_addf(out, "] -- %s", plan->add->reason);
	/* Use the same line end as the next line. */
	if (len && memchr(text, '\r', len + 1))
		buf_addc(out, '\r');
	buf_addc(out, '\n');
}

/* Writes the file's text with a comment above each line with findings. If a
 * line already has a comment, adds the names of the rules to it. only is the
 * only line to change (NULL: all lines that are not rejected). */
static void render(const struct comment_plan *plan,
		   const struct comment_line *only, struct buf *out)
{
	struct source *source = plan->add->source;
	const char *done = source->text - source->bom;
	size_t len, above_len;

	for (size_t i = 0; i < plan->n; i++) {
		const struct comment_line *line = &plan->lines[i];
		const char *text = source_line(source, line->number, &len);
		const char *above = NULL, *end = NULL;

		if (line->refused || (only && only != line))
			continue;
		if (line->number > 1)
			above = source_line(source, line->number - 1,
					    &above_len);
		if (above)
			end = list_end(above, above_len);
		buf_add(out, done, (size_t)((end ? end : text) - done));
		done = end ? end : text;
		if (end)
			buf_addc(out, ',');
		if (end)
			add_names(out, line);
		else
			add_comment(out, plan, line, text, len);
	}
	buf_add(out, done, (size_t)(source->text + source->len - done));
}

/* --- comparison of the documents ------------------------------------------ */

static void count_issue(void *context, const struct load_issue *issue)
{
	unsigned *count = context;

	(void)issue;
	(*count)++;
}

static bool same_documents(struct source *a, struct source *b)
{
	struct arena arena = ARENA_INIT;
	struct loader x, y;
	struct doc p, q;
	unsigned before = 0, after = 0;
	bool same = true;
	int more, others;

	loader_init(&x, a, &load_limits_default, &arena);
	loader_init(&y, b, &load_limits_default, &arena);
	x.issue = y.issue = count_issue;
	x.context = &before;
	y.context = &after;
	do {
		arena_reset(&arena);
		more = loader_next(&x, &p);
		others = loader_next(&y, &q);
		if (more != others)
			same = false;
		else if (more > 0)
			same = p.root && q.root ? node_same(p.root, q.root)
						: p.root == q.root;
	} while (same && more > 0);
	arena_release(&arena);
	return same && before == after;
}

static bool is_harmless(const struct comment_plan *plan, const struct buf *text)
{
	struct arena arena = ARENA_INIT;
	struct source copy, after;
	const struct source *before = plan->add->source;
	bool same;

	source_init(&copy, &arena, before->name, before->text, before->len);
	source_init(&after, &arena, before->name, text->data, text->len);
	same = same_documents(&copy, &after);
	arena_release(&arena);
	return same;
}

static void try_each(struct comment_plan *plan)
{
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < plan->n; i++) {
		buf_reset(&text);
		render(plan, &plan->lines[i], &text);
		plan->lines[i].refused = !is_harmless(plan, &text);
	}
	buf_release(&text);
}

/* --- the whole file ------------------------------------------------------- */

static bool is_json(struct source *source)
{
	struct arena arena = ARENA_INIT;
	struct loader loader;
	bool json;

	loader_init(&loader, source, &load_limits_default, &arena);
	json = loader.json;
	arena_release(&arena);
	return json;
}

static void mark(struct comment_plan *plan)
{
	struct add_ignore *add = plan->add;
	size_t at = 0;

	for (size_t i = 0; i < add->n; i++) {
		struct finding *f = &add->findings[i];

		if (!is_eligible(add, f))
			continue;
		while (plan->lines[at].number != f->place.line)
			at++;
		if (plan->lines[at].refused) {
			add->refused = "a comment there would change a value";
			continue;
		}
		f->suppressed = SUPPRESSED_COMMENT;
		f->suppression_reason = add->reason;
		add->added++;
	}
}

static void make(struct comment_plan *plan)
{
	struct add_ignore *add = plan->add;

	render(plan, NULL, &add->text);
	if (!is_harmless(plan, &add->text)) {
		try_each(plan);
		buf_reset(&add->text);
		render(plan, NULL, &add->text);
	}
	if (is_harmless(plan, &add->text))
		mark(plan);
	else
		add->refused = "comments would change its meaning";
	if (!add->added)
		buf_reset(&add->text);
}

void add_ignore_plan(struct add_ignore *add)
{
	struct comment_plan plan = {.add = add};

	buf_init(&add->text);
	add->added = 0;
	add->refused = NULL;
	collect(&plan);
	if (plan.n && !add->source)
		add->refused = "it can no longer be read";
	else if (plan.n && add->source->transcoded)
		add->refused = "its encoding is not UTF-8";
	else if (plan.n && is_json(add->source))
		add->refused = "JSON has no comments";
	else if (plan.n)
		make(&plan);
	arena_release(&plan.arena);
}
