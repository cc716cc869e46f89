/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hover: the text of `gpugate explain` for the rules of the findings at the
 * position, or for the rule whose name is there. Completion: names of rules, in
 * comments that suppress and in policies.
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "lint/commands/commands.h"
#include "session.h"

enum { RULES_SHOWN = 3 };

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '-';
}

struct line {
	const char *text;
	size_t len, at; /* length of the line, and the position in it */
};

static struct line line_at(const struct lsp_document *d, uint32_t offset)
{
	const char *s = d->text.bytes.data;
	size_t start = offset, end = start;

	while (start && s[start - 1] != '\n')
		start--;
	while (end < d->text.bytes.len && s[end] != '\n')
		end++;
	return (struct line){s + start, end - start, offset - start};
}

/* True if `# gpugate: ignore[` precedes the position, without a `]` between
 * them. */
static bool in_comment(const struct line *line)
{
	const char *marker = text_find(line->text, line->at, "gpugate:");
	size_t left = marker ? (size_t)(line->text + line->at - marker) : 0;
	const char *open = marker ? memchr(marker, '[', left) : NULL;

	return open && !memchr(open, ']', left - (size_t)(open - marker));
}

/* --- hover --------------------------------------------------------------- */

static const struct rule *rule_named(const struct lsp_document *d,
				     const struct line *line)
{
	size_t start = line->at, end = start;
	struct rule_set rules = lsp_rules(d);
	struct buf name;
	int index;

	while (start && is_name(line->text[start - 1]))
		start--;
	while (end < line->len && is_name(line->text[end]))
		end++;
	buf_init(&name);
	buf_add(&name, line->text + start, end - start);
	index = rule_set_find(&rules, name.data);
	buf_release(&name);
	return index < 0 ? NULL : rules.items[index];
}

/* True if the rule is one of the n rules in shown. */
static bool is_shown(const struct rule *const *shown, size_t n,
		     const struct rule *rule)
{
	for (size_t i = 0; i < n; i++)
		if (shown[i] == rule)
			return true;
	return false;
}

static size_t rules_at(const struct lsp_document *d, uint32_t offset,
		       const struct rule **rules)
{
	uint32_t start, end;
	size_t n = 0;

	for (size_t i = 0; i < d->n && n < RULES_SHOWN; i++) {
		const struct lsp_finding *f = &d->findings[i];

		lsp_finding_place(d, f, &start, &end);
		if (offset >= start && offset <= end &&
		    !is_shown(rules, n, f->rule))
			rules[n++] = f->rule;
	}
	return n;
}

json_t *lsp_hover(struct lsp_document *d, uint32_t offset)
{
	const struct rule *rules[RULES_SHOWN];
	struct line line = line_at(d, offset);
	struct buf text;
	json_t *hover;
	size_t n = 0;

	if (in_comment(&line) || lsp_is_policy(d)) {
		rules[0] = rule_named(d, &line);
		n = rules[0] != NULL;
	}
	if (!n)
		n = rules_at(d, offset, rules);
	if (!n)
		return json_null();
	buf_init(&text);
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_adds(&text, "\n---\n\n");
		explain_markdown(&text, rules[i]);
	}
	hover = json_pack("{s:{s:s, s:s}}", "contents", "kind", "markdown",
			  "value", text.data);
	buf_release(&text);
	return hover;
}

/* --- completion ---------------------------------------------------------- */

static size_t indent_of(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] == ' ')
		n++;
	return n;
}

static bool begins_list(const char *text, size_t len)
{
	static const char *const keys[] = {"rules:", "locked:"};
	size_t at = indent_of(text, len);

	if (len > at + 2 && !memcmp(text + at, "- ", 2))
		at += 2;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (len - at >= strlen(keys[i]) &&
		    !memcmp(text + at, keys[i], strlen(keys[i])))
			return true;
	return false;
}

/* Returns the nearest line above that is indented less; NULL if there is
 * none. */
static const char *parent_of(const struct lsp_document *d,
			     const struct line *line, size_t *len)
{
	const char *s = d->text.bytes.data, *at = line->text;
	size_t indent = indent_of(line->text, line->len);

	while (at > s) {
		const char *end = at - 1;

		for (at = end; at > s && at[-1] != '\n';)
			at--;
		*len = (size_t)(end - at);
		if (indent_of(at, *len) < *len && indent_of(at, *len) < indent)
			return at;
	}
	return NULL;
}

/* True for a key or an item below `rules:` or `locked:`, or in their [ ]. */
static bool in_policy_list(const struct lsp_document *d,
			   const struct line *line)
{
	const char *open = memchr(line->text, '[', line->at), *parent;
	size_t start = line->at, len;

	if (open && !memchr(open, ']', (size_t)(line->text + line->at - open)))
		return begins_list(line->text, line->len);
	while (start && is_name(line->text[start - 1]))
		start--;
	if (strspn(line->text, " -") < start)
		return false;
	parent = parent_of(d, line, &len);
	return parent && begins_list(parent, len);
}

static json_t *completion_item(const struct lsp_document *d, uint32_t start,
			       uint32_t end, const struct rule *rule)
{
	/* Kind 20 is EnumMember (CompletionItemKind). */
	return json_pack("{s:s, s:i, s:s, s:{s:o, s:s}}", "label", rule->name,
			 "kind", 20, "detail", rule->summary, "textEdit",
			 "range", lsp_range(d, start, end), "newText",
			 rule->name);
}

json_t *lsp_complete(struct lsp_document *d, uint32_t offset)
{
	struct line line = line_at(d, offset);
	struct rule_set rules;
	uint32_t start = offset, end = start;
	json_t *items;

	if (!in_comment(&line) &&
	    !(lsp_is_policy(d) && in_policy_list(d, &line)))
		return json_null();
	while (start && is_name(d->text.bytes.data[start - 1]))
		start--;
	while (end < d->text.bytes.len && is_name(d->text.bytes.data[end]))
		end++;
	items = json_array();
	rules = lsp_rules(d);
	for (size_t i = 0; i < rules.n; i++)
		json_array_append_new(
			items, completion_item(d, start, end, rules.items[i]));
	return items;
}
