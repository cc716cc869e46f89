/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node tree: one document, immutable once read, in the arena it was read
 * into. YAML and JSON readers build the same tree, with the byte span of
 * every key and value in the author's file.
 *
 * All getters accept NULL and return NULL (or false) for it, so paths can be
 * chained without tests.
 *
 * Unknown values. A scalar that will be filled in later (`${GPUS}`) carries
 * NODE_UNKNOWN (files only; doc/placeholder.h). node_get() and node_at() on
 * an unknown node return that node, so "unknown" travels down every path:
 * test node_is_unknown() before judging a value or its absence.
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
	NODE_ALIASED = 2,    /* copied from an anchor: span is the anchor's */
	NODE_MERGED = 4,     /* merged by a `<<` key */
	NODE_FLOW = 8,	     /* { } or [ ] style, or JSON */
	NODE_QUOTED = 16,    /* single or double quoted */
	NODE_BLOCK = 32,     /* | or > block scalar */
	NODE_ANCHORED = 64,  /* carries an anchor (&name) */
	NODE_IMPLICIT = 128, /* empty plain scalar: null without any bytes */
	NODE_OPEN = 128,     /* a map: node_is_perhaps() of some child */
};

/* First the fields that a lookup reads from the children, then those it reads
 * from the map: so a lookup touches one cache line of most nodes. */
struct node {
	uint8_t type;	   /* enum node_type */
	uint8_t flags;	   /* enum node_flags */
	uint16_t tag;	   /* node_tag() of the key, set with the parent */
	uint32_t len;	   /* scalars: bytes of str; map, seq: children */
	struct node *next; /* sibling */
	const char *key;   /* NUL-terminated; NULL outside maps */
	uint32_t key_len;
	uint32_t index; /* position among the siblings */
	/*
	 * Scalars, NUL-terminated (but strings may contain NUL bytes: use len).
	 * Numbers: JSON text of the value (YAML `0x10` gives "16"); JSON input
	 * keeps its own digits. Booleans: "true", "false".
	 */
	const char *str;
	struct node *first, *last; /* children, in the author's order */
	uint64_t tags; /* bit tag % 64 of each key that was ever appended */
	struct node_index *map_index; /* large maps: hash, else NULL */
	struct node *parent;
	uint32_t start, end;	     /* bytes of the value in the source */
	uint32_t key_start, key_end; /* bytes of the key; equal without one */
};

#define FOR_EACH_CHILD(parent_, child)                                         \
	for (const struct node *child = node_first(parent_); child;            \
	     child = child->next)

/* First child of a map or seq; NULL for scalars and for unknown nodes. */
static inline const struct node *node_first(const struct node *node)
{
	return node && !(node->flags & NODE_UNKNOWN) ? node->first : NULL;
}

/*
 * Most lookups are for keys that a map does not have: its bits show that. The
 * tag of a literal key is known at compile time. The factors were chosen by
 * counts on 850 manifests and on pods from the API server, so that few keys of
 * a map, and few that are looked up in it, share a bit. rules/kube/data/tag.awk
 * has the same factors.
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

/* Finds a child by key; the node is unknown or has the bit of the tag, as only
 * maps have. tag is the key's node_tag(). */
const struct node *node_get_tagged(const struct node *map, const char *key,
				   size_t len, uint16_t tag);
/* Finds a child by tag and length alone; the caller compares the key. */
const struct node *node_get_likely(const struct node *map, size_t len,
				   uint16_t tag);

/*
 * Value of a key; keys match by bytes, case included (as the API server).
 * Always inline, as node_get() is: otherwise link-time optimization calls some
 * of them and computes the tag of a literal key each time. Comparing the bytes
 * inline saves 25 instructions.
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

/* Looks several keys up in turn: node_path(n, "spec.template.spec"). */
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

/* True if even the presence of the node is unknown (kube/typed.h). */
static inline bool node_is_perhaps(const struct node *node)
{
	return node_is_unknown(node) && node->type == NODE_NULL;
}

/* Text of a known string; NULL for anything else. */
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
/* Number of children of a map or seq, else 0. */
size_t node_count(const struct node *node);

/*
 * True if the node is a copy of its parent under another key, in a generated
 * tree (kube/pod.h): its place is the parent's.
 */
static inline bool node_is_view(const struct node *node)
{
	return node->key_start > node->key_end;
}

/* RFC 6901 pointer from the document's root, appended to out. */
void node_pointer(const struct node *node, struct buf *out);
/* Appends "/" and the escaped key. */
void pointer_add(struct buf *out, const char *key, size_t len);
/* Like node_pointer(), returned as a text of the arena. */
char *node_pointer_text(struct arena *arena, const struct node *node);
/* Returns the children in the order of their keys, to be freed: results must
 * not depend on an order that JSON readers need not keep. NULL if there are
 * none. */
const struct node **node_by_key(const struct node *map);
/* A hash of the path from root, which holds the node. List items are named by
 * their name if they have one, so an item inserted above does not change the
 * hash. */
uint64_t node_named_path(const struct node *node, const struct node *root);
/* The value as compact JSON (keys in the author's order), appended. */
void node_json(const struct node *node, struct buf *out);
/* Text as a JSON string, appended. */
void text_json(const char *text, size_t len, struct buf *out);
/* True for the same value; number spellings 1, 1.0 count as equal, key order
 * does not matter. */
bool node_same(const struct node *a, const struct node *b);

/* True if two maps have the same content, written alike: in the same order,
 * numbers with the same digits. */
bool node_repeats(const struct node *a, const struct node *b);

/*
 * The bytes to show for a finding at this node: a scalar's own value; for a
 * map or seq its key, or (list item) the value of its "name", or its first
 * scalar's key.
 */
void node_anchor(const struct node *node, uint32_t *start, uint32_t *end);

#endif
