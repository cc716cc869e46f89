/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies JSON Patch (RFC 6902) to node trees, to test the patches of
 * edits_patch(): each operation changes one copy of the document. Every
 * inserted value is copied, so that no value is in two places; the copies are
 * counted, since `copy` can double a document.
 */
#ifndef TESTS_JSON_PATCH_H
#define TESTS_JSON_PATCH_H

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "doc/build.h"
#include "rules/doc/index.h"

/* --- JSON Pointer (RFC 6901) ---------------------------------------------- */

/* One step of a pointer, unescaped; NUL-terminated, but keys may contain NUL
 * bytes, so use len. */
struct pointer_token {
	const char *text;
	size_t len;
};

struct pointer {
	struct pointer_token *tokens;
	size_t n;
};

static size_t count_slashes(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '/';
	return n;
}

/* Reads the token from `from` to the next slash; false for a bad escape. */
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

static int pointer_parse(struct arena *arena, const char *text, size_t len,
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

static bool pointer_index(const struct pointer_token *token, uint32_t *index)
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

static const struct node *pointer_step(const struct node *node,
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

/* --- JSON Patch ----------------------------------------------------------- */

enum {
	/* maximum number of values made by one patch_apply() */
	PATCH_NODES = 4000000,
	PATCH_DEPTH = 1000, /* maximum nesting of the result */
};

struct patch {
	struct arena *arena;
	struct node *root;
	uint32_t budget;
	struct err *err;
};

/* One operation after its members were looked up and parsed. */
struct operation {
	struct pointer path, from;
	const struct node *value;
};

/* A place that a pointer names, with or without a value. */
struct spot {
	struct node *parent; /* NULL: the whole document */
	const struct pointer_token *token;
	struct node *node; /* the current value, or NULL */
	uint32_t index;	   /* index in a list; the list's length for "-" */
};

static bool reaches(const struct node *node, uint32_t levels)
{
	if (!levels)
		return true;
	for (const struct node *child = node->first; child; child = child->next)
		if (reaches(child, levels - 1))
			return true;
	return false;
}

/* Makes a copy that will be `depth` levels below the root. */
static struct node *copy_value(struct patch *patch, const struct node *value,
			       size_t depth)
{
	struct node *copy;

	if (depth > PATCH_DEPTH ||
	    reaches(value, PATCH_DEPTH + 1 - (uint32_t)depth)) {
		err_set(patch->err, 0, "nests deeper than %d levels",
			PATCH_DEPTH);
		return NULL;
	}
	copy = node_copy(patch->arena, value, 0, &patch->budget);
	if (!copy)
		err_set(patch->err, 0, "makes more than %d values",
			PATCH_NODES);
	else
		copy->key = NULL;
	return copy;
}

/* --- the tree ------------------------------------------------------------ */

static struct node *child_at(const struct node *seq, uint32_t index)
{
	struct node *child = seq->first;

	while (child && index--)
		child = child->next;
	return child;
}

static void insert_at(struct node *seq, struct node *child, uint32_t index)
{
	struct node *before, *node;

	if (index >= seq->len) {
		node_append(seq, child);
		return;
	}
	before = index ? child_at(seq, index - 1) : NULL;
	child->parent = seq;
	child->index = index;
	child->next = before ? before->next : seq->first;
	if (before)
		before->next = child;
	else
		seq->first = child;
	seq->len++;
	for (node = child->next; node; node = node->next)
		node->index++;
}

/* Replaces the value of a node. The key stays, so the map's index stays
 * valid. */
static void overwrite(struct node *node, const struct node *with)
{
	node->type = with->type;
	node->flags = with->flags;
	node->len = with->len;
	node->str = with->str;
	node->first = with->first;
	node->last = with->last;
	node->map_index = with->map_index;
	node->tags = with->tags;
	for (struct node *child = node->first; child; child = child->next)
		child->parent = node;
}

/* --- places -------------------------------------------------------------- */

static int fail_spot(const struct patch *patch, const struct pointer *path,
		     size_t step, const char *why)
{
	struct buf at;

	buf_init(&at);
	for (size_t i = 0; i < step && i < path->n; i++)
		pointer_add(&at, path->tokens[i].text, path->tokens[i].len);
	err_set(patch->err, 0, "\"%.200s\" %s", at.data, why);
	buf_release(&at);
	return -1;
}

/* Finds the place of the last step, which need not exist. */
static int spot_last(const struct patch *patch, const struct pointer *path,
		     struct spot *spot)
{
	const struct pointer_token *token = spot->token;

	if (spot->parent->type == NODE_MAP) {
		spot->node = node_lookup(spot->parent, token->text, token->len);
		return 0;
	}
	if (spot->parent->type != NODE_SEQ)
		return fail_spot(patch, path, path->n - 1,
				 "is neither a map nor a list");
	spot->index = spot->parent->len;
	if (token->len == 1 && *token->text == '-')
		return 0;
	if (!pointer_index(token, &spot->index))
		return fail_spot(patch, path, path->n,
				 "is not an index of a list");
	spot->node = child_at(spot->parent, spot->index);
	return 0;
}

static int find_spot(const struct patch *patch, const struct pointer *path,
		     struct spot *spot)
{
	struct node *node = patch->root;

	*spot = (struct spot){0};
	if (!path->n) {
		spot->node = node;
		return 0;
	}
	for (size_t i = 0; i + 1 < path->n; i++) {
		/* The caller owns the tree, so its values may be changed. */
		node = (struct node *)(uintptr_t)pointer_step(node,
							      &path->tokens[i]);
		if (!node)
			return fail_spot(patch, path, i + 1, "does not exist");
	}
	spot->parent = node;
	spot->token = &path->tokens[path->n - 1];
	return spot_last(patch, path, spot);
}

static int find_value(const struct patch *patch, const struct pointer *path,
		      struct spot *spot)
{
	if (find_spot(patch, path, spot))
		return -1;
	if (!spot->node)
		return fail_spot(patch, path, path->n, "does not exist");
	return 0;
}

/* --- operations ---------------------------------------------------------- */

static int put(struct patch *patch, const struct pointer *path,
	       const struct node *value)
{
	struct node *made;
	struct spot spot;

	if (find_spot(patch, path, &spot))
		return -1;
	if (spot.parent && spot.parent->type == NODE_SEQ &&
	    spot.index > spot.parent->len)
		return fail_spot(patch, path, path->n,
				 "is past the end of the list");
	made = copy_value(patch, value, path->n);
	if (!made)
		return -1;
	if (!spot.parent) {
		patch->root = made;
	} else if (spot.parent->type == NODE_SEQ) {
		insert_at(spot.parent, made, spot.index);
	} else if (spot.node) {
		overwrite(spot.node, made);
	} else {
		made->key = spot.token->text;
		made->key_len = (uint32_t)spot.token->len;
		node_append(spot.parent, made);
	}
	return 0;
}

static int op_add(struct patch *patch, const struct operation *op)
{
	return put(patch, &op->path, op->value);
}

static int op_remove(struct patch *patch, const struct operation *op)
{
	struct spot spot;

	if (find_value(patch, &op->path, &spot))
		return -1;
	if (!spot.parent)
		return err_set(patch->err, 0,
			       "the whole document cannot be removed");
	node_unlink(spot.parent, spot.node);
	return 0;
}

static int op_replace(struct patch *patch, const struct operation *op)
{
	struct node *made;
	struct spot spot;

	if (find_value(patch, &op->path, &spot))
		return -1;
	made = copy_value(patch, op->value, op->path.n);
	if (!made)
		return -1;
	overwrite(spot.node, made);
	return 0;
}

static int op_copy(struct patch *patch, const struct operation *op)
{
	struct spot from;

	if (find_value(patch, &op->from, &from))
		return -1;
	return put(patch, &op->path, from.node);
}

static bool is_prefix(const struct pointer *a, const struct pointer *b)
{
	if (a->n > b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->tokens[i].len != b->tokens[i].len ||
		    memcmp(a->tokens[i].text, b->tokens[i].text,
			   a->tokens[i].len) != 0)
			return false;
	return true;
}

static int op_move(struct patch *patch, const struct operation *op)
{
	struct spot from;

	if (find_value(patch, &op->from, &from))
		return -1;
	if (is_prefix(&op->from, &op->path)) {
		if (op->from.n == op->path.n)
			return 0;
		return err_set(patch->err, 0,
			       "a value cannot be moved into itself");
	}
	node_unlink(from.parent, from.node);
	return put(patch, &op->path, from.node);
}

static int op_test(struct patch *patch, const struct operation *op)
{
	struct spot spot;

	if (find_value(patch, &op->path, &spot))
		return -1;
	if (!node_same(spot.node, op->value))
		return fail_spot(patch, &op->path, op->path.n,
				 "differs from the value of the test");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct patch *patch, const struct operation *op);
	bool value, from;
} operations[] = {
	{"add", op_add, true, false},
	{"remove", op_remove, false, false},
	{"replace", op_replace, true, false},
	{"move", op_move, false, true},
	{"copy", op_copy, false, true},
	{"test", op_test, true, false},
};

static int take_pointer(struct patch *patch, const struct node *item,
			const char *member, struct pointer *pointer)
{
	const struct node *text = node_get(item, member);

	if (!node_str(text))
		return err_set(patch->err, 0, "\"%s\" must be a string",
			       member);
	return pointer_parse(patch->arena, text->str, text->len, pointer,
			     patch->err);
}

static int run_operation(struct patch *patch, const struct node *item)
{
	struct operation op = {.value = node_get(item, "value")};
	const struct node *name = node_get(item, "op");
	size_t i = 0;

	if (!node_str(name))
		return err_set(patch->err, 0, "\"op\" must be a string");
	while (i < sizeof(operations) / sizeof(*operations) &&
	       !node_eq(name, operations[i].name))
		i++;
	if (i == sizeof(operations) / sizeof(*operations))
		return err_set(patch->err, 0, "unknown op \"%.40s\"",
			       name->str);
	if (take_pointer(patch, item, "path", &op.path))
		return -1;
	if (operations[i].value && !op.value)
		return err_set(patch->err, 0, "\"value\" is missing");
	if (operations[i].from && take_pointer(patch, item, "from", &op.from))
		return -1;
	return operations[i].run(patch, &op);
}

/*
 * Returns the document after the patch (a list of operations), in the arena;
 * NULL and err if the patch is malformed or does not apply. Copies with too
 * many values, or nested too deeply, are rejected.
 */
static struct node *patch_apply(struct arena *arena,
				const struct node *document,
				const struct node *list, struct err *err)
{
	struct err ignored = {0};
	struct patch patch = {
		.arena = arena,
		.budget = PATCH_NODES,
		.err = err ? err : &ignored,
	};

	if (!node_is_seq(list)) {
		err_set(patch.err, 0, "a patch is a list of operations");
		return NULL;
	}
	patch.root = copy_value(&patch, document, 0);
	if (!patch.root)
		return NULL;
	FOR_EACH_CHILD(list, item) {
		if (run_operation(&patch, item)) {
			err_wrap(patch.err, "operation %u of the patch",
				 item->index);
			return NULL;
		}
	}
	return patch.root;
}

#endif
