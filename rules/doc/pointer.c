/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RFC 6901. A pointer is parsed once; each step then looks up a key or an
 * index. Unknown values (placeholders) have nothing below them here.
 */
#include "doc/pointer.h"

#include <string.h>

#include "index.h"

static size_t count_slashes(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '/';
	return n;
}

/* The token from `from` to the next slash; false: a bad escape. */
static bool take_token(struct arena *arena, const char *from, size_t len,
		       struct pointer_token *token)
{
	char *out = arena_alloc(arena, len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (from[i] != '~') {
			out[n++] = from[i];
			continue;
		}
		if (++i == len || (from[i] != '0' && from[i] != '1'))
			return false;
		out[n++] = from[i] == '0' ? '~' : '/';
	}
	out[n] = '\0';
	*token = (struct pointer_token){.text = out, .len = n};
	return true;
}

int pointer_parse(struct arena *arena, const char *text, size_t len,
		  struct pointer *pointer, struct err *err)
{
	const char *end = text + len;

	*pointer = (struct pointer){0};
	if (len && *text != '/')
		return err_set(err, 0, "pointer \"%.*s\" does not begin with /",
			       len < 100 ? (int)len : 100, text);
	pointer->tokens = ARENA_ARRAY(arena, struct pointer_token,
				      count_slashes(text, len));
	while (text < end) {
		const char *from = text + 1;
		const char *slash = memchr(from, '/', (size_t)(end - from));

		text = slash ? slash : end;
		if (!take_token(arena, from, (size_t)(text - from),
				&pointer->tokens[pointer->n++]))
			return err_set(err, 0,
				       "pointer with a ~ that is neither ~0 "
				       "nor ~1");
	}
	return 0;
}

bool pointer_index(const struct pointer_token *token, uint32_t *index)
{
	uint64_t value = 0;

	if (!token->len || token->len > 9 ||
	    (token->text[0] == '0' && token->len > 1))
		return false;
	for (size_t i = 0; i < token->len; i++) {
		char c = token->text[i];

		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (uint64_t)(c - '0');
	}
	*index = (uint32_t)value;
	return true;
}

const struct node *pointer_step(const struct node *node,
				const struct pointer_token *token)
{
	const struct node *child;
	uint32_t index;

	if (!node)
		return NULL;
	if (node->type == NODE_MAP)
		return node_lookup(node, token->text, token->len);
	if (node->type != NODE_SEQ || !pointer_index(token, &index) ||
	    index >= node->len)
		return NULL;
	for (child = node->first; index; index--)
		child = child->next;
	return child;
}

const struct node *pointer_resolve(const struct node *root,
				   const struct pointer *pointer)
{
	for (size_t i = 0; i < pointer->n; i++)
		root = pointer_step(root, &pointer->tokens[i]);
	return root;
}

void pointer_add(struct buf *out, const char *key, size_t len)
{
	buf_addc(out, '/');
	for (size_t i = 0; i < len; i++) {
		if (key[i] == '~')
			buf_adds(out, "~0");
		else if (key[i] == '/')
			buf_adds(out, "~1");
		else
			buf_addc(out, key[i]);
	}
}
