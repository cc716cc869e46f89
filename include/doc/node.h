/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node tree: one document, immutable once read, in the arena of the loader.
 * YAML and JSON readers build the same tree, with the byte span of every key
 * and value in the author's file.
 *
 * All getters accept NULL and return NULL (or false) for it, so paths can be
 * chained without tests.
 *
 * Unknown values. A scalar that will be filled in later (`${GPUS}`) carries
 * NODE_UNKNOWN (files only; doc/load.h). node_get() and node_at() on an
 * unknown node return that node, so "unknown" travels down every path: test
 * node_is_unknown() before checking a value or its absence.
 */
#ifndef DOC_NODE_H
#define DOC_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"

enum node_type {
	NODE_NULL,
	NODE_BOOL,
	NODE_INT,
	NODE_FLOAT,
	NODE_STRING,
	NODE_MAP,
	NODE_SEQ,
};

enum node_flags {
	NODE_UNKNOWN = 1,    /* placeholder: the value is unknown */
	NODE_ALIASED = 2,    /* copied from an anchor, whose span it has */
	NODE_MERGED = 4,     /* merged by a `<<` key */
	NODE_FLOW = 8,	     /* { } or [ ] style, or JSON */
	NODE_QUOTED = 16,    /* single or double quoted */
	NODE_BLOCK = 32,     /* | or > block scalar */
	NODE_ANCHORED = 64,  /* has an anchor (&name) */
	NODE_IMPLICIT = 128, /* null written as an empty plain scalar, without
				any bytes */
	/* for a map: node_is_perhaps() is true for some child */
	NODE_OPEN = 128,
};

/* Members that a lookup reads of the children come first, then those that it
 * reads of the map, so that a lookup touches one cache line of most nodes. */
struct node {
	uint8_t type;  /* enum node_type */
	uint8_t flags; /* enum node_flags */
	uint16_t tag;  /* node_tag() of the key, set with the parent */
	/* length of str of a scalar, number of children of a map or seq */
	uint32_t len;
	struct node *next; /* sibling */
	const char *key;   /* NUL-terminated; NULL outside maps */
	uint32_t key_len;
	uint32_t index; /* position among the siblings */
	/*
	 * Value of a scalar, NUL-terminated (but strings may contain NUL bytes:
	 * use len). Numbers: JSON text of the value (YAML `0x10` gives "16").
	 * JSON keeps the digits of the source. Booleans: "true", "false".
	 */
	const char *str;
	struct node *first, *last; /* children, in the author's order */
	uint64_t tags; /* bit tag % 64 for each key that was ever appended */
	struct node_index *map_index; /* hash index of a large map, else NULL */
	struct node *parent;
	uint32_t start, end; /* bytes of the value in the source */
	/* bytes of the key; equal if it has none */
	uint32_t key_start, key_end;
};

#define FOR_EACH_CHILD(parent_, child)                                         \
	for (const struct node *child = node_first(parent_); child;            \
	     child = child->next)

/* Returns the first child of a map or seq; NULL for scalars and for unknown
 * nodes. */
static inline const struct node *node_first(const struct node *node)
{
	return node && !(node->flags & NODE_UNKNOWN) ? node->first : NULL;
}

/*
 * Returns a 16-bit hash of a key. Most lookups are for keys that a map does not
 * have, which the bits in its tags show. The tag of a literal key is known at
 * compile time. The factors were chosen by counts on 850 manifests and on pods
 * from the API server, so that few keys of a map, and few keys that are looked
 * up in it, share a bit. rules/kube/data/tag.awk has the same factors.
 */
static inline uint16_t node_tag(const char *key, size_t len)
{
	const unsigned char *k = (const unsigned char *)key;

	if (!len)
		return 0;
	return (uint16_t)(len * 8 + k[0] + k[len / 2] * 5u + k[len - 1] * 4u);
}

static inline uint64_t node_tag_bit(uint16_t tag)
{
	return UINT64_C(1) << (tag & 63);
}

/* Finds a child by key; tag is the key's node_tag(). The node must be unknown,
 * or its tags must have the bit of the tag. */
const struct node *node_get_tagged(const struct node *map, const char *key,
				   size_t len, uint16_t tag);
/* Finds a child by tag and length alone; the caller compares the key. */
const struct node *node_get_likely(const struct node *map, size_t len,
				   uint16_t tag);

/*
 * Returns the value of a key; keys match by bytes, including case (as in the
 * API server). Always inline, as node_get() is: otherwise link-time
 * optimization turns some uses into calls and computes the tag of a literal key
 * each time. Comparing the bytes inline saves 25 instructions.
 */
static inline __attribute__((always_inline)) const struct node *
node_getn(const struct node *map, const char *key, size_t len)
{
	uint16_t tag = node_tag(key, len);

	if (!map ||
	    (!(map->tags & node_tag_bit(tag)) && !(map->flags & NODE_UNKNOWN)))
		return NULL;
	if (__builtin_constant_p(len)) {
		const struct node *child = node_get_likely(map, len, tag);

		if (!child || child == map || !memcmp(child->key, key, len))
			return child;
	}
	return node_get_tagged(map, key, len, tag);
}

static inline __attribute__((always_inline)) const struct node *
node_get(const struct node *map, const char *key)
{
	return node_getn(map, key, strlen(key));
}

/* Looks up several keys in turn: node_path(n, "spec.template.spec"). */
const struct node *node_path(const struct node *node, const char *dotted);
const struct node *node_at(const struct node *seq, size_t i);

static inline bool node_known(const struct node *node, enum node_type type)
{
	return node && node->type == type && !(node->flags & NODE_UNKNOWN);
}

static inline bool node_is_map(const struct node *node)
{
	return node_known(node, NODE_MAP);
}

static inline bool node_is_seq(const struct node *node)
{
	return node_known(node, NODE_SEQ);
}

static inline bool node_is_unknown(const struct node *node)
{
	return node && node->flags & NODE_UNKNOWN;
}

/* True for NULL or an explicit null: the API server treats both as unset. */
static inline bool node_is_unset(const struct node *node)
{
	return !node || node_known(node, NODE_NULL);
}

static inline const struct node *node_if_set(const struct node *node)
{
	return node_is_unset(node) ? NULL : node;
}

/* True if it is unknown even whether the node exists (kube/typed.h). */
static inline bool node_is_perhaps(const struct node *node)
{
	return node_is_unknown(node) && node->type == NODE_NULL;
}

/* Returns the text of a known string; NULL for anything else. */
static inline const char *node_str(const struct node *node)
{
	return node && node_known(node, NODE_STRING) ? node->str : NULL;
}

/* True if the node is a known string equal to text. */
static inline bool node_eq(const struct node *node, const char *text)
{
	const char *str = node_str(node);
	size_t len = strlen(text);

	return str && node->len == len && memcmp(str, text, len) == 0;
}

/* True if the node is a known boolean that is true. */
bool node_is_true(const struct node *node);
bool node_is_false(const struct node *node);
/* Reads a known integer (2.0 counts, as for the API server); false
 * otherwise. */
bool node_int(const struct node *node, int64_t *value);
/* Returns the number of children of a map or seq, else 0. */
size_t node_count(const struct node *node);

/*
 * True if the node is a copy of its parent under another key, in a generated
 * tree (kube/pod.h), so that its source position is the parent's.
 */
static inline bool node_is_view(const struct node *node)
{
	return node->key_start > node->key_end;
}

/* Appends the RFC 6901 pointer from the document's root. */
void node_pointer(const struct node *node, struct buf *out);
/* Appends "/" and the escaped key. */
void pointer_add(struct buf *out, const char *key, size_t len);
/* Like node_pointer(), but returns a text allocated in the arena. */
char *node_pointer_text(struct arena *arena, const struct node *node);
/* Returns the children in the order of their keys, in memory that the caller
 * frees; NULL if there are none. Use it where results must not depend on the
 * order of keys, which JSON readers need not keep. */
const struct node **node_by_key(const struct node *map);
/* Returns a hash of the path from root to the node. List items are identified
 * by their name if they have one, so an item inserted above does not change the
 * hash. */
uint64_t node_named_path(const struct node *node, const struct node *root);
/* Appends the value as compact JSON, with keys in the author's order. */
void node_json(const struct node *node, struct buf *out);
/* Appends a text as a JSON string. */
void text_json(const char *text, size_t len, struct buf *out);
/* True if the values are equal. The order of keys does not matter, and 1 equals
 * 1.0. */
bool node_same(const struct node *a, const struct node *b);

/*
 * Sets the range of bytes to show for a finding at this node. For a scalar it
 * is the value, for a map or seq its key. For a list item it is the value of
 * its "name", or else the key of its first field. Failing these, it is the
 * first byte of the node.
 */
void node_anchor(const struct node *node, uint32_t *start, uint32_t *end);

#endif
