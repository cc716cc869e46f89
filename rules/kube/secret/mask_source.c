/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects secret values from trees and files. The bytes of a secret value in
 * its file are masked as a whole, however it is written (quoted, escaped,
 * folded, as a block). Another scalar that contains the value in a different
 * spelling is masked as a whole.
 */
#include "kube/secret/mask.h"

#include <string.h>

#include "base/array.h"
#include "doc/load.h"
#include "kube/secret/secret.h"

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
