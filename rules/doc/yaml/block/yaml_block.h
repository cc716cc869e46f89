/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second, fast YAML parser for the syntax of nearly all manifests: block maps
 * and lists, flow ones, scalars on one line, block scalars, comments, anchors
 * of scalars. It builds the tree in one pass, without events. For all other
 * syntax it stops without a report, and libyaml parses the text. It accepts
 * only texts that libyaml accepts, and the trees of both are equal;
 * tests/check/yaml-fast.sh compares them. For 850 manifests the linter needs
 * 173 million instructions with it and 514 million without.
 *
 * yaml_block.c handles lines, indentation, & and *, yaml_block_flow.c [ ] and
 * { }, yaml_block_scalar.c scalars, yaml_block_nesting.c | and >. Functions
 * return NULL or false to leave the text to libyaml.
 */
#ifndef RULES_DOC_YAML_BLOCK_H
#define RULES_DOC_YAML_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/load.h"
#include "doc/node.h"
#include "rules/doc/yaml/yaml.h"

enum {
	FAST_DEPTH = 64,
	FAST_KEY_MAX = 1000, /* libyaml: 1024 code points up to the ':' */
	FAST_ANCHORS = 8,
	FAST_ALIASES = 100, /* go-yaml never rejects this many aliases */
};

/* Classes of bytes with which a value may begin. */
enum fast_start {
	START_NEVER, /* cannot begin a value, or is left to libyaml */
	START_PLAIN,
	START_DASH, /* begins a plain scalar if the next byte allows it */
	START_SINGLE,
	START_DOUBLE,
	START_BLOCK,
	START_FLOW,
	START_ANCHOR,
	START_ALIAS,
};

/* A scalar; its bytes are copied to the strings of the tree. */
struct fast_text {
	const char *start, *end;
	const char *stop; /* first byte after the scalar that is not a blank */
	char *value;	  /* NUL-terminated */
	uint32_t len;
	uint8_t flags;
	bool plain;
	bool folded; /* has several lines, so it cannot be a key */
};

struct fast_key {
	char *text;
	uint32_t len;
	uint32_t start, end;
};

/* A block map or list that is still open. */
struct fast_frame {
	struct node *node;
	uint32_t column;
	bool pending;	 /* a key or dash was read, but no value yet */
	bool indentless; /* a list in the same column as its map */
	uint32_t mark;	 /* position after the ':' or '-' */
	struct fast_key key;
	uint64_t seen; /* key_bit() of each key */
};

struct fast_anchor {
	const char *name;
	size_t len;
	const struct node *node;
};

struct fast {
	struct arena *arena;
	const struct load_limits *limits;
	/* The last byte is a line end, at which every scan stops. */
	const char *text, *end;
	uint32_t start; /* offset of text in the source */

	char *strings; /* has space for the strings of all unread bytes */
	struct node *nodes;
	uint32_t nodes_ready, nodes_left;
	uint64_t work_left;

	struct node *root;
	uint32_t last_end; /* end of the last value */
	unsigned depth;	   /* number of open frames */
	unsigned nanchors, aliases_left;
	struct fast_anchor anchors[FAST_ANCHORS];
	struct fast_frame frames[FAST_DEPTH];
};

extern const uint8_t fast_starts[256];

/* Builds the tree of the document; returns false if libyaml has to parse it. */
bool yaml_fast_read(struct loader *loader, struct yaml_first *first);

/* Adds an empty member or item to parent. at is the start of a list item. */
struct node *fast_member(struct fast *fast, struct node *parent,
			 const struct fast_key *key);
struct node *fast_item(struct fast *fast, struct node *parent, uint32_t at);

/* Scans a plain or quoted scalar. flow is set inside of brackets. */
bool fast_scan(struct fast *fast, const char *p, bool flow,
	       struct fast_text *text);
/* Reads a block scalar (| or >). parent is the column relative to which it must
 * be indented. */
bool fast_block(struct fast *fast, const char *p, uint32_t parent,
		struct fast_text *text);
/* Returns the end of the text without blanks at its end, as libyaml defines
 * it. */
const char *fast_trim(const char *start, const char *end);
/* Sets type, value and span of a scalar's node. */
bool fast_fill(struct fast *fast, struct node *node,
	       const struct fast_text *text);
/* Makes a key of the text. Returns false if the map has the key already, or if
 * libyaml has to read it. */
bool fast_take_key(struct fast *fast, struct node *map, uint64_t *seen,
		   const struct fast_text *text, struct fast_key *key);

/* Reads from the bracket at p to the one that closes it. Returns the position
 * after it, or NULL if libyaml has to read the document. */
const char *fast_flow(struct fast *fast, const char *p, struct node *node,
		      unsigned depth);

static inline uint32_t fast_offset(const struct fast *fast, const char *p)
{
	return fast->start + (uint32_t)(p - fast->text);
}

static inline const char *fast_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

static inline const char *fast_line_end(const struct fast *fast, const char *p)
{
	return (const char *)memchr(p, '\n', (size_t)(fast->end - p));
}

#endif
