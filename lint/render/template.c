/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a template as YAML after replacing each action by the same number of
 * bytes: blanks if it is alone on a line, else a text that is marked as
 * unknown. Every node therefore has its position in the template. To find the
 * source of a value that an action inserts, the values to which the action
 * refers are searched for the same value.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "render.h"

/* U+E000, a private-use character. */
static const char mark[] = {'\xee', '\x80', '\x80', '\0'};

bool render_is_marked(const char *text)
{
	return text && strstr(text, mark);
}

/* --- reading -------------------------------------------------------------- */

/* True if only blanks, which may have replaced actions, precede `at` on its
 * line. */
static bool begins_line(const char *text, const char *at)
{
	while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at == text || at[-1] == '\n';
}

static bool ends_line(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at == end || *at == '\n';
}

static void blank(char *from, const char *to, char fill)
{
	for (; from < to; from++)
		if (*from != '\n')
			*from = fill;
}

/* Replaces the actions in a text without NUL bytes. */
static void replace_actions(char *text, size_t len)
{
	char *at = text, *end = text + len;

	while ((at = strstr(at, "{{"))) {
		char *close = strstr(at, "}}");
		bool alone, lines;

		if (!close)
			break;
		close += 2;
		alone = begins_line(text, at) && ends_line(close, end);
		lines = memchr(at, '\n', (size_t)(close - at)) != NULL;
		blank(at, close, alone || lines ? ' ' : 'x');
		if (!alone && !lines)
			memcpy(at, mark, sizeof(mark) - 1);
		at = close;
	}
}

struct render_text *render_template_of(struct render *r, const char *path)
{
	struct render_text *text = render_text_of(r, path), *read;
	struct source original;
	char *copy;

	if (!text || text->template || text->source.transcoded ||
	    memchr(text->source.text, '\0', text->source.len))
		return text;
	original = text->source;
	copy = arena_strndup(&r->arena, original.text, original.len);
	replace_actions(copy, original.len);
	read = render_text_make(r, path, copy, original.len);
	read->bytes = text->bytes;
	read->source = original;
	read->template = true;
	return read;
}

/* --- inserted values ------------------------------------------------------ */

struct reference {
	const char *path; /* "image.tag", not NUL-terminated */
	size_t len;
};

/* Finds the next `.Values.a.b` before end. */
static bool next_reference(const char **at, const char *end,
			   struct reference *out)
{
	static const char word[] = ".Values.";
	const char *found =
		*at < end ? text_find(*at, (size_t)(end - *at), word) : NULL;

	if (!found)
		return false;
	out->path = found + strlen(word);
	out->len = 0;
	while (out->path + out->len < end &&
	       (strchr("._", out->path[out->len]) ||
		(out->path[out->len] | 32) - 'a' + 0u < 26 ||
		out->path[out->len] - '0' + 0u < 10))
		out->len++;
	*at = out->path + out->len;
	return out->len > 0;
}

static const struct node *value_at(struct render *r, const struct node *root,
				   struct reference reference)
{
	return node_path(
		root, arena_strndup(&r->arena, reference.path, reference.len));
}

static uint32_t indent_at(const struct source *s, uint32_t at)
{
	uint32_t start = at;

	while (start && s->text[start - 1] != '\n')
		start--;
	return at - start;
}

/* Returns the end of the node's lines: the next line that is not indented
 * further and is not an action. */
static uint32_t extent(const struct source *s, const struct node *node)
{
	uint32_t indent =
		indent_at(s, node->key_end > node->key_start ? node->key_start
							     : node->start);
	uint32_t at = node->key_end > node->end ? node->key_end : node->end;

	for (;;) {
		uint32_t line;

		while (at < s->len && s->text[at] != '\n')
			at++;
		line = at;
		if (at == s->len)
			return at;
		at++;
		while (at < s->len && s->text[at] == ' ')
			at++;
		if (at >= s->len ||
		    (s->text[at] != '{' && s->text[at] != '\n' &&
		     at - line - 1 <= indent))
			return line;
	}
}

/* Finds the last line before the offset `before` with this action (`with` or
 * `range`), and sets *out to the reference in it, such as .Values.a. Returns
 * false if there is none. */
static bool named_before(const struct source *s, uint32_t before,
			 const char *action, struct reference *out)
{
	const char *at = s->text, *last = NULL, *end = s->text + before;

	while ((at = text_find(at, (size_t)(end - at), action)))
		last = at++;
	end = last ? memchr(last, '\n', (size_t)(end - last)) : NULL;
	return end && next_reference(&last, end, out);
}

/* A search in the values by the path below an inserted node. */
struct value_search {
	struct render *r;
	const struct render_place *own;
	const struct render_want *want;
	struct render_place best;
};

static void try_reference(struct value_search *s,
			  const struct render_values *values,
			  struct reference reference)
{
	const struct node *at = value_at(s->r, values->root, reference);
	const struct node *want = s->want->node;
	struct render_match match = {at, 0, true};

	if (!at)
		return;
	if (s->want->below != want)
		match = render_match(want, s->want->below, at);
	if (match.whole ? !node_same(match.node, want) &&
				  !(node_str(want) && at->str && at->len &&
				    text_contains(want->str, at->str))
			: !match.depth || s->best.whole)
		return;
	s->best = (struct render_place){.whole = match.whole,
					.depth = s->want->depth + match.depth};
	render_place_in(&s->best, values->text, values->item, match.node);
}

/* `range $name, $value := .Values.a` makes list items of a map, with its keys
 * as names. want is a node in such an item. */
static void try_entry(struct value_search *s,
		      const struct render_values *values,
		      struct reference reference)
{
	const struct node *map = value_at(s->r, values->root, reference);
	const struct node *want = s->want->node;
	const char *name = node_str(node_get(want->parent, "name"));
	const struct node *entry =
		node_is_map(map) && name ? node_get(map, name) : NULL;

	if (!entry || !entry->str || !text_eq(entry->str, want->str))
		return;
	s->best = (struct render_place){.whole = true, .depth = s->want->depth};
	render_place_in(&s->best, values->text, values->item, entry);
}

/* Searches values. For a chart in charts/, prefix is the path of its values. */
static void try_values(struct value_search *s, struct render_values values,
		       const char *prefix)
{
	const struct source *source = &s->own->text->source;
	const struct node *node = s->own->node;
	uint32_t start =
		node->key_end > node->key_start ? node->key_start : node->start;
	const char *end = source->text + extent(source, node);
	const char *at = source->text + start;
	struct reference reference;

	if (*prefix)
		values.root = node_path(values.root, prefix);
	while (next_reference(&at, end, &reference))
		try_reference(s, &values, reference);
	if (!s->best.text && named_before(source, start, "with", &reference))
		try_reference(s, &values, reference);
	if (!s->best.text && named_before(source, start, "range", &reference))
		try_entry(s, &values, reference);
}

/* Returns the path of a chart in charts/ as it occurs in values, such as "a.b".
 * Sets folder to its folder. */
static const char *names_of(struct render *r, const struct render_root *root,
			    const char *template, struct buf *folder)
{
	static const char charts[] = "/charts/";
	const char *at = template + strlen(root->chart), *begin = at;
	struct buf names;

	buf_init(&names);
	while (text_starts(at, charts)) {
		const char *name = at + strlen(charts);
		size_t len = strcspn(name, "/");

		buf_adds(&names, names.len ? "." : "");
		buf_add(&names, name, len);
		at = name + len;
	}
	buf_adds(folder, root->chart);
	buf_add(folder, begin, (size_t)(at - begin));
	begin = arena_strdup(&r->arena, names.data);
	buf_release(&names);
	return begin;
}

bool render_value_of(struct render *r, struct render_root *root,
		     const struct render_place *own,
		     const struct render_want *want, struct render_place *out)
{
	struct value_search s = {.r = r, .own = own, .want = want};
	struct render_text *text = NULL;
	const char *names;
	struct buf folder;

	buf_init(&folder);
	names = names_of(r, root, own->text->path, &folder);
	for (size_t i = 0; i < root->nvalues && !s.best.text; i++)
		try_values(&s, root->values[i], names);
	buf_adds(&folder, "/values.yaml");
	if (*names && !s.best.text)
		text = render_text_of(r, folder.data);
	if (text && text->n)
		try_values(&s,
			   (struct render_values){text, &text->items[0],
						  text->items[0].root, false},
			   "");
	buf_release(&folder);
	if (s.best.text)
		*out = s.best;
	return s.best.text != NULL;
}
