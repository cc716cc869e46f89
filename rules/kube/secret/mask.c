/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks secrets in texts, and collects their values from trees and files.
 * Values are sorted, so that each position of a text is compared with only two
 * of them; an attacker may choose many texts and values. Only the first bytes
 * of a long value are compared, because messages cut quoted texts. A short
 * value must be a whole word, because otherwise too much would be masked.
 */
#include "kube/secret/secret.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "doc/load.h"

enum {
	/* shortest part of a value that is found in other texts */
	PIECE_LEAST = 4,
	WORD = 8,  /* shorter values must be whole words */
	HEAD = 12, /* bytes of a long value that are compared */
};

/* --- values -------------------------------------------------------------- */

static void add_piece(struct secrets *secrets, const char *text, size_t len)
{
	if (len < PIECE_LEAST)
		return;
	*VEC_PUSH(secrets->arena, secrets->values, secrets->n, secrets->size) =
		(struct secret_value){arena_strndup(secrets->arena, text, len),
				      len, 0};
}

/* Adds the value in the form that JSON and YAML write between double quotes, if
 * it differs, and in that between single quotes. */
static void add_quoted(struct secrets *secrets, const char *text, size_t len)
{
	struct buf quoted;

	buf_init(&quoted);
	text_json(text, len, &quoted);
	if (quoted.len != len + 2)
		add_piece(secrets, quoted.data + 1, quoted.len - 2);
	buf_reset(&quoted);
	for (size_t i = 0; i < len; i++) {
		buf_add(&quoted, text + i, 1);
		if (text[i] == '\'')
			buf_addc(&quoted, '\'');
	}
	if (quoted.len != len)
		add_piece(secrets, quoted.data, quoted.len);
	buf_release(&quoted);
}

void secrets_add(struct secrets *secrets, const char *value, size_t len)
{
	const char *end = value + len;

	while (value < end) {
		const char *lf = memchr(value, '\n', (size_t)(end - value));
		const char *stop = lf ? lf : end, *next = lf ? lf + 1 : end;

		while (value < stop && isspace((unsigned char)*value))
			value++;
		while (stop > value && isspace((unsigned char)stop[-1]))
			stop--;
		add_piece(secrets, value, (size_t)(stop - value));
		add_quoted(secrets, value, (size_t)(stop - value));
		value = next;
	}
}

static int cmp_values(const void *left, const void *right)
{
	const struct secret_value *a = left, *b = right;
	size_t len = a->len < b->len ? a->len : b->len;
	int c = memcmp(a->text, b->text, len);

	return c ? c : (a->len > b->len) - (a->len < b->len);
}

static bool begins_with(const struct secret_value *a,
			const struct secret_value *b)
{
	return a->len >= b->len && !memcmp(a->text, b->text, b->len);
}

void secrets_finish(struct secrets *secrets)
{
	struct secret_value *values = secrets->values;

	if (secrets->n)
		qsort(values, secrets->n, sizeof(*values), cmp_values);
	for (size_t i = 0; i < secrets->n; i++) {
		size_t before = i;

		while (before && !begins_with(&values[i], &values[before - 1]))
			before = values[before - 1].shorter;
		values[i].shorter = before;
		secrets->starts[(unsigned char)*values[i].text] = true;
	}
}

/* --- one position of a text ----------------------------------------------- */

static size_t same_bytes(const struct secret_value *value, const char *text,
			 size_t len)
{
	size_t n = 0;

	while (n < value->len && n < len && value->text[n] == text[n])
		n++;
	return n;
}

static bool is_whole_word(const char *text, size_t len, size_t at, size_t n)
{
	return (!at || !isalnum((unsigned char)text[at - 1])) &&
	       (at + n == len || !isalnum((unsigned char)text[at + n]));
}

/* Returns the number of bytes at the position that equal the value, or a value
 * that is a prefix of it. */
static size_t match(const struct secrets *secrets, size_t value,
		    const char *text, size_t len, size_t at)
{
	for (size_t i = value + 1; i; i = secrets->values[i - 1].shorter) {
		const struct secret_value *v = &secrets->values[i - 1];
		size_t n = same_bytes(v, text + at, len - at);

		if (n < v->len ? n >= HEAD
			       : n >= WORD || is_whole_word(text, len, at, n))
			return n;
	}
	return 0;
}

static size_t match_at(const struct secrets *secrets, const char *text,
		       size_t len, size_t at)
{
	const struct secret_value key = {text + at, len - at, 0};
	size_t place = array_first(secrets->values, secrets->n, sizeof(key),
				   &key, cmp_values);
	size_t n = 0, other = 0;

	if (place < secrets->n)
		n = match(secrets, place, text, len, at);
	if (place)
		other = match(secrets, place - 1, text, len, at);
	return n > other ? n : other;
}

/* --- masking ------------------------------------------------------------- */

struct masking {
	const char *in;
	char *out; /* NULL: occurrences are only counted */
	size_t count;
};

static void mask_bytes(char *text, size_t len)
{
	size_t kept = secret_prefix(text, len);

	memset(text + kept, SECRET_MASK_BYTE, len - kept);
}

static void mask_found(void *context, size_t at, size_t len)
{
	struct masking *masking = context;

	masking->count++;
	if (masking->out)
		mask_bytes(masking->out + at, len);
}

static size_t mask_all(const struct secrets *secrets, const char *in,
		       size_t len, char *out)
{
	struct masking masking = {in, out, 0};

	for (size_t i = 0; secrets->n && i < len; i++) {
		size_t n = 0;

		if (secrets->starts[(unsigned char)in[i]])
			n = match_at(secrets, in, len, i);
		if (!n)
			continue;
		mask_found(&masking, i, n);
		i += n - 1;
	}
	secret_tokens(in, len, mask_found, &masking);
	secret_credentials(in, len, mask_found, &masking);
	return masking.count;
}

static char *copy_without_mask(struct arena *arena, const char *text,
			       size_t len)
{
	char *copy = arena_strndup(arena, text, len);

	for (char *at = copy; (at = memchr(at, (unsigned char)SECRET_MASK_BYTE,
					   (size_t)(copy + len - at)));)
		*at = '\xfe';
	return copy;
}

size_t secrets_count(const struct secrets *secrets, const char *text,
		     size_t len)
{
	return mask_all(secrets, text, len, NULL);
}

bool secrets_in(const struct secrets *secrets, const char *text, size_t len)
{
	return secrets_count(secrets, text, len) > 0;
}

void secrets_show(struct buf *out, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *at = memchr(text, (unsigned char)SECRET_MASK_BYTE,
					(size_t)(end - text));

		buf_add(out, text, (size_t)((at ? at : end) - text));
		if (!at)
			return;
		buf_adds(out, SECRET_STARS);
		while (at < end && *at == SECRET_MASK_BYTE)
			at++;
		text = at;
	}
}

const char *secrets_mask_in_place(const struct secrets *secrets,
				  struct arena *arena, const char *text,
				  size_t len)
{
	char *copy;

	if (!secrets_in(secrets, text, len))
		return text;
	copy = copy_without_mask(arena, text, len);
	mask_all(secrets, text, len, copy);
	return copy;
}

const char *secrets_mask(const struct secrets *secrets, struct arena *arena,
			 const char *text)
{
	size_t len = strlen(text);
	const char *in_place = secrets_mask_in_place(secrets, arena, text, len);
	const char *masked;
	struct buf out;

	if (in_place == text)
		return text;
	buf_init(&out);
	secrets_show(&out, in_place, len);
	masked = arena_strndup(arena, out.data, out.len);
	buf_release(&out);
	return masked;
}

/*
 * Collects secret values from trees and files. The bytes of a secret value in
 * its file are masked as a whole, however it is written (quoted, escaped,
 * folded, as a block). Another scalar that contains the value in a different
 * spelling is masked as a whole.
 */

static void add_span(struct secrets *secrets, const struct node *node)
{
	if (node->end > node->start)
		*VEC_PUSH(secrets->arena, secrets->spans, secrets->nspans,
			  secrets->spans_size) =
			(struct secret_span){node->start, node->end,
					     (node->flags & NODE_BLOCK) != 0};
}

/* Returns the text of a scalar that may be a value, including numbers. */
static const char *text_of(const struct node *node)
{
	bool scalar = node_known(node, NODE_STRING) ||
		      node_known(node, NODE_INT) ||
		      node_known(node, NODE_FLOAT);

	return scalar ? node->str : NULL;
}

static void collect_secret(struct secrets *secrets, const char *name,
			   const struct node *value)
{
	const char *text = text_of(value);

	if (!text || !secret_may_be(name, text))
		return;
	secrets_add(secrets, text, value->len);
	add_span(secrets, value);
}

void secrets_of_tree(struct secrets *secrets, const struct node *root)
{
	const char *name = node_str(node_get(root, "name"));
	const char *text = node_str(root);

	if (name)
		collect_secret(secrets, name, node_get(root, "value"));
	if (text)
		secrets_of_text(secrets, text, root->len);
	FOR_EACH_CHILD(root, child) {
		if (child->key)
			collect_secret(secrets, child->key, child);
		secrets_of_tree(secrets, child);
	}
}

/* --- a file -------------------------------------------------------------- */

/* Adds scalars that contain a value in a spelling that differs from their
 * bytes. */
static void add_other_forms(struct secrets *secrets, const struct node *node,
			    const struct source *source)
{
	const char *text = node_str(node);
	size_t n = text ? secrets_count(secrets, text, node->len) : 0;

	if (n && n > secrets_count(secrets, source->text + node->start,
				   node->end - node->start))
		add_span(secrets, node);
	FOR_EACH_CHILD(node, child)
		add_other_forms(secrets, child, source);
}

static void ignore_issue(void *context, const struct load_issue *issue)
{
	(void)context;
	(void)issue;
}

static void read_documents(struct secrets *secrets, struct source *source)
{
	const struct node **roots = NULL;
	size_t n = 0, size = 0;
	struct loader loader;
	struct doc doc;

	loader_init(&loader, source, &load_limits_default, secrets->arena);
	loader.issue = ignore_issue;
	while (loader_next(&loader, &doc) > 0) {
		if (!doc.root)
			continue;
		placeholder_mark(&doc);
		secrets_of_tree(secrets, doc.root);
		*VEC_PUSH(secrets->arena, roots, n, size) = doc.root;
	}
	secrets_of_text(secrets, source->text, source->len);
	secrets_finish(secrets);
	for (size_t i = 0; i < n; i++)
		add_other_forms(secrets, roots[i], source);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Masks one line of a value, without the blanks around it. */
static void cover_line(char *text, size_t len)
{
	size_t kept;

	while (len && is_blank(*text)) {
		text++;
		len--;
	}
	while (len && is_blank(text[len - 1]))
		len--;
	kept = secret_prefix(text, len);
	memset(text + kept, SECRET_MASK_BYTE, len - kept);
}

static void cover_span(char *text, const struct secret_span *span)
{
	char *at = text + span->start, *end = text + span->end;
	bool quoted =
		end - at > 1 && (*at == '"' || *at == '\'') && end[-1] == *at;

	if (quoted) {
		at++;
		end--;
	}
	if (span->block && at < end && (*at == '|' || *at == '>')) {
		char *lf = memchr(at, '\n', (size_t)(end - at));

		at = lf ? lf : end;
	}
	while (at < end) {
		char *lf = memchr(at, '\n', (size_t)(end - at));
		char *stop = lf ? lf : end;

		cover_line(at, (size_t)(stop - at));
		at = lf ? lf + 1 : end;
	}
}

struct source *secrets_of_source(struct secrets *secrets,
				 const struct source *source)
{
	struct source *masked = ARENA_NEW(secrets->arena, struct source);
	size_t len = source->len + source->bom;
	const char *text = source->text - source->bom;
	char *copy;

	*masked = *source;
	masked->arena = secrets->arena;
	masked->lines = NULL;
	masked->nlines = 0;
	read_documents(secrets, masked);
	copy = arena_strndup(
		secrets->arena,
		secrets_mask_in_place(secrets, secrets->arena, text, len), len);
	masked->text = copy + source->bom;
	for (size_t i = 0; i < secrets->nspans; i++)
		cover_span(copy + source->bom, &secrets->spans[i]);
	return memchr(copy, (unsigned char)SECRET_MASK_BYTE, len) ? masked
								  : NULL;
}
