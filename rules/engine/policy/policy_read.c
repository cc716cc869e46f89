/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the basic types of values in policy documents (maps with known keys,
 * lists, texts, patterns) and reports problems with their positions. The user's
 * text enters problems only through shown(), because it may contain any bytes.
 */
#include "policy_read.h"

#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { SHOWN_MAX = 80 };

/* --- problems ------------------------------------------------------------- */

/* NOLINTNEXTLINE(readability-function-size): what a problem says */
void problem_at(struct policy_reader *r, const char *file, struct position at,
		bool is_warning, const char *text)
{
	struct policy_problems *problems = r->problems;
	struct arena *arena = &problems->arena;
	struct policy_problem *added;

	added = VEC_PUSH(arena, problems->items, problems->n, problems->size);
	added->file = arena_strdup(arena, file);
	added->line = at.line;
	added->column = at.column;
	added->warning = is_warning;
	added->text = arena_strdup(arena, text);
	problems->errors += !is_warning;
}

void problem_offset(struct policy_reader *r, uint32_t offset, bool is_warning,
		    const char *text)
{
	problem_at(r, r->file, source_position(r->source, offset), is_warning,
		   text);
}

__attribute__((format(printf, 4, 0))) static void
problem_v(struct policy_reader *r, const struct node *node, uint32_t at,
	  const char *fmt, va_list ap)
{
	struct position whole = {r->source ? 1 : 0, r->source ? 1 : 0};
	char *text = arena_vprintf(&r->problems->arena, fmt, ap);

	if (node)
		problem_offset(r, at, false, text);
	else
		problem_at(r, r->file, whole, false, text);
}

void problem(struct policy_reader *r, const struct node *node, const char *fmt,
	     ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_v(r, node, node ? node->start : 0, fmt, ap);
	va_end(ap);
}

void problem_key(struct policy_reader *r, const struct node *node,
		 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_v(r, node, node->key_start, fmt, ap);
	va_end(ap);
}

void warning(struct policy_reader *r, const struct node *node, const char *fmt,
	     ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_offset(r, node->start, true,
		       arena_vprintf(&r->problems->arena, fmt, ap));
	va_end(ap);
}

const char *shown(struct policy_reader *r, const char *text)
{
	size_t len = strlen(text), cut = len, step;
	char *copy;

	if (len > SHOWN_MAX)
		for (cut = 0; cut < SHOWN_MAX; cut += step ? step : 1)
			step = utf8_length(text + cut, len - cut);
	copy = arena_printf(&r->problems->arena, "%.*s%s", (int)cut, text,
			    cut < len ? "..." : "");
	text_mask_controls(copy);
	return copy;
}

const char *did_you_mean(struct policy_reader *r, const char *nearest)
{
	if (!nearest)
		return "";
	return arena_printf(&r->problems->arena, "; did you mean `%s`?",
			    nearest);
}

const char *node_noun(const struct node *node)
{
	switch ((enum node_type)node->type) {
	case NODE_NULL:
		return "nothing";
	case NODE_BOOL:
		return "a boolean";
	case NODE_INT:
	case NODE_FLOAT:
		return "a number";
	case NODE_STRING:
		return "text";
	case NODE_MAP:
		return "a map";
	default:
		return "a list";
	}
}

/* --- shapes --------------------------------------------------------------- */

static const struct policy_field *find_field(const struct policy_field *fields,
					     const char *name)
{
	for (; fields->name; fields++)
		if (strcmp(fields->name, name) == 0)
			return fields;
	return NULL;
}

static void unknown_key(struct policy_reader *r, const struct node *node,
			const struct policy_field *fields)
{
	const char *names[32];
	size_t n = 0;

	for (; n < 32 && fields[n].name; n++)
		names[n] = fields[n].name;
	problem_key(r, node, "unknown key `%s`%s", shown(r, node->key),
		    did_you_mean(r, text_nearest(node->key, names, n)));
}

static void read_field(struct policy_reader *r, const struct node *node,
		       const struct policy_field *field, void *into)
{
	into = (char *)into + field->offset;
	if (field->flags & LIST)
		read_list(r, node, field->read, into);
	else
		field->read(r, node, into);
}

void read_fields(struct policy_reader *r, const struct node *map,
		 const struct policy_field *fields, void *into)
{
	if (!node_is_map(map)) {
		problem(r, map, "expected a map, found %s", node_noun(map));
		return;
	}
	FOR_EACH_CHILD(map, child) {
		const struct policy_field *field =
			find_field(fields, child->key);

		if (!field)
			unknown_key(r, child, fields);
		else if (!node_is_unset(child))
			read_field(r, child, field, into);
	}
	for (; fields->name; fields++)
		if (fields->flags & REQUIRED &&
		    node_is_unset(node_get(map, fields->name)))
			problem(r, map, "`%s` is missing", fields->name);
}

void read_list(struct policy_reader *r, const struct node *list,
	       void (*item)(struct policy_reader *r, const struct node *node,
			    void *into),
	       void *into)
{
	if (!node_is_seq(list)) {
		problem(r, list, "expected a list, found %s", node_noun(list));
		return;
	}
	if (!list->len)
		problem(r, list, "the list is empty");
	FOR_EACH_CHILD(list, child)
		item(r, child, into);
}

void read_elsewhere(struct policy_reader *r, const struct node *node,
		    void *unused)
{
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

const char *read_text(struct policy_reader *r, const struct node *node)
{
	const char *text = node_str(node);

	if (!text) {
		problem(r, node, "expected text, found %s%s", node_noun(node),
			node->type == NODE_INT || node->type == NODE_FLOAT ||
					node->type == NODE_BOOL
				? "; put it in quotes"
				: "");
		return NULL;
	}
	if (is_blank(text)) {
		problem(r, node, "the text is empty");
		return NULL;
	}
	if (strlen(text) != node->len) {
		problem(r, node, "the text contains a NUL byte");
		return NULL;
	}
	return arena_strdup(policy_arena(r->policy), text);
}

bool read_bool(struct policy_reader *r, const struct node *node, bool *out)
{
	if (node->type != NODE_BOOL) {
		problem(r, node, "expected true or false, found %s",
			node_noun(node));
		return false;
	}
	*out = node_is_true(node);
	return true;
}

bool read_int(struct policy_reader *r, const struct node *node, int64_t low,
	      int64_t high, int64_t *out)
{
	if (node->type != NODE_INT && node->type != NODE_FLOAT) {
		problem(r, node, "expected a whole number, found %s",
			node_noun(node));
		return false;
	}
	if (!node_int(node, out)) {
		problem(r, node, "expected a whole number from %lld to %lld",
			(long long)low, (long long)high);
		return false;
	}
	if (*out < low || *out > high) {
		problem(r, node, "%lld is not from %lld to %lld",
			(long long)*out, (long long)low, (long long)high);
		return false;
	}
	return true;
}

bool read_pattern(struct policy_reader *r, const struct node *node,
		  unsigned flags, struct path_pattern *out)
{
	struct err err = {0};

	out->text = read_text(r, node);
	if (!out->text)
		return false;
	out->glob =
		policy_keep(r->policy, glob_compile(out->text, flags, &err));
	if (!out->glob)
		problem(r, node, "%s", shown(r, err.text));
	return out->glob;
}

static void read_name_pattern(struct policy_reader *r, const struct node *node,
			      void *into)
{
	struct patterns *patterns = into;
	struct path_pattern pattern;

	if (read_pattern(r, node, GLOB_NAME, &pattern))
		*VEC_PUSH(policy_arena(r->policy), patterns->items, patterns->n,
			  patterns->size) = pattern;
}

void add_text(struct policy_reader *r, struct text_list *list, const char *text)
{
	*VEC_PUSH(policy_arena(r->policy), list->items, list->n, list->size) =
		text;
}

static void read_item(struct policy_reader *r, const struct node *node,
		      void *into)
{
	const char *text = read_text(r, node);

	if (text)
		add_text(r, into, text);
}

void read_rule_word(struct policy_reader *r, const struct node *node,
		    void *into)
{
	const char *text = read_text(r, node);
	struct rule_word word;
	bool *covered = into;

	if (!text)
		return;
	if (!rule_word_parse(r->rules, text, &word)) {
		const char *near = rule_word_nearest(r->rules, text);

		problem_offset(
			r, node->start, r->options.admission || r->unread,
			arena_printf(&r->problems->arena, "unknown rule `%s`%s",
				     shown(r, text), did_you_mean(r, near)));
		return;
	}
	if (word.check) {
		problem(r, node, "expected a rule, found the check `%s`",
			shown(r, text));
		return;
	}
	for (size_t i = 0; i < r->rules->n; i++)
		covered[i] |= rule_word_covers(&word, r->rules->items[i]);
}

/* --- fields --------------------------------------------------------------- */

void field_text(struct policy_reader *r, const struct node *node, void *into)
{
	*(const char **)into = read_text(r, node);
}

void field_flag(struct policy_reader *r, const struct node *node, void *into)
{
	read_bool(r, node, into);
}

void field_patterns(struct policy_reader *r, const struct node *node,
		    void *into)
{
	read_list(r, node, read_name_pattern, into);
}

void field_texts(struct policy_reader *r, const struct node *node, void *into)
{
	read_list(r, node, read_item, into);
}

void field_rules(struct policy_reader *r, const struct node *node, void *into)
{
	bool *covered =
		ARENA_ARRAY(policy_arena(r->policy), bool, r->rules->n + 1);

	read_list(r, node, read_rule_word, covered);
	*(bool **)into = covered;
}

/* --- positions and words -------------------------------------------------- */

const char *read_from(struct policy_reader *r, const struct node *node)
{
	uint32_t at = node->key ? node->key_start : node->start;

	return arena_printf(policy_arena(r->policy), "%s:%u", r->file,
			    source_position(r->source, at).line);
}

static const char *joined(struct policy_reader *r, const char *const *words,
			  size_t n)
{
	const char *list = words[0];

	for (size_t i = 1; i < n; i++)
		list = arena_printf(&r->problems->arena, "%s%s%s", list,
				    i + 1 == n ? " or " : ", ", words[i]);
	return list;
}

int read_choice(struct policy_reader *r, const struct node *node,
		const char *what, const char *const *words, size_t n)
{
	const char *text = node_str(node);

	for (size_t i = 0; text && i < n; i++)
		if (strcmp(words[i], text) == 0)
			return (int)i;
	if (text)
		problem(r, node, "unknown %s `%s`%s (%s)", what, shown(r, text),
			did_you_mean(r, text_nearest(text, words, n)),
			joined(r, words, n));
	else
		problem(r, node, "expected %s, found %s", joined(r, words, n),
			node_noun(node));
	return -1;
}
