/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the YAML reader. yaml.c drives libyaml, yaml_build.c builds the
 * tree, yaml_merge.c handles anchors and merge keys, yaml_error.c the messages
 * and converts libyaml's positions into byte offsets.
 *
 * A function that rejects the text returns false (or NULL) after reporting the
 * issue; reading then stops at once.
 */
#ifndef RULES_DOC_YAML_H
#define RULES_DOC_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

#include "doc/load.h"
#include "rules/doc/yaml/scalar/yaml_scalar.h"

enum frame_state {
	IN_SEQ,
	WANT_KEY,
	WANT_VALUE,
	WANT_MERGE, /* the next value belongs to a `<<` key */
};

/* An anchor by its name; a later anchor with the same name replaces it. */
struct anchor {
	/* in the anchors of struct yaml, with the name as its key */
	struct node entry;
	struct node *target;
	/* The value of a scalar, for aliases that are keys: the text of a key
	 * may differ from the text of the same value in JSON. */
	struct scalar value;
	/* number of values that go-yaml counts for the target */
	uint64_t decodes;
	uint32_t height; /* number of levels of the target, 0 for scalars */
};

/* A map or seq that is still open. */
struct frame {
	struct node *node;
	struct anchor *anchor;
	enum frame_state state;
	/* the node is the value of a `<<` key, not part of the tree */
	bool merge;
	bool flow;
	const char *key;
	size_t key_len;
	uint32_t key_start, key_end;
	/* value of struct yaml's counter when the frame was opened */
	uint64_t decodes;
	uint32_t height; /* number of levels inside so far */
};

struct yaml {
	struct loader *loader;
	struct arena *arena;
	const char *text;    /* first byte of the source */
	uint32_t start, end; /* part to read */
	yaml_parser_t parser;
	yaml_event_t event; /* last event; empty after deletion */
	/* offset up to which libyaml has received the text */
	uint32_t supplied;
	/* libyaml has received the whole text and the added line break */
	bool ended;

	bool cut;   /* some bytes are not passed to libyaml */
	bool ascii; /* each code point is one byte */
	size_t index;
	uint32_t byte; /* offset in text of code point number `index` */

	struct node *root;
	struct node anchors;
	struct frame *frames;
	size_t nframes, frames_size;
	uint32_t last_end; /* end of the last completed node */

	uint32_t nodes_max, nodes_left;
	uint64_t work_left;
	uint32_t flow_depth;
	/* the document contains a value that JSON cannot represent */
	bool unfit;
	uint64_t decodes, alias_decodes;
};

/* A scalar event and its position in the source. */
struct yaml_text {
	const char *text;
	size_t len;
	const char *tag;
	const char *anchor;
	uint32_t start, end;
	bool plain;  /* plain and without a tag: the text determines the type */
	bool absent; /* nothing is written, not even a tag or an anchor */
	uint8_t flags;
};

/* The first document in a range of bytes, and its tree. */
struct yaml_first {
	uint32_t start, end;
	uint32_t used; /* offset after the document; end if it is rejected */
	struct node *root; /* NULL: empty, or rejected */
};

bool yaml_read_first(struct loader *loader, struct yaml_first *first);
/* Reads with libyaml only, without the fast parser (yaml_block.h). */
bool yaml_read_events(struct loader *loader, struct yaml_first *first);

bool yaml_scalar(struct yaml *yaml, const struct yaml_text *text);
bool yaml_open(struct yaml *yaml, struct node *like, const char *anchor);
bool yaml_close(struct yaml *yaml, uint32_t end);

/* Returns a node for the next value and counts it; NULL if the limit is
 * reached. */
struct node *yaml_place(struct yaml *yaml, uint32_t at);
/* Records that the innermost frame has at least this many levels. */
void yaml_raise(struct yaml *yaml, uint32_t height);
/* Moves everything but key and links of *from into node. */
void yaml_graft(struct node *node, const struct node *from);
/* Returns the frame's child with this key, or NULL. */
struct node *yaml_member(struct yaml *yaml, struct frame *frame,
			 const char *key, size_t len);
/* Returns the member for a repeated key: the old one, cleared, or a new one. */
struct node *yaml_replace(struct yaml *yaml, struct frame *frame,
			  struct node *old);

/*
 * Begins a text that JSON cannot represent. The conversion to JSON rejects some
 * floats and keys, but only after decoding, when a later duplicate may have
 * replaced the value. Until then, such a float has no text, and such a key
 * starts with this byte, which no text contains.
 */
#define YAML_UNFIT "\xff"
bool yaml_check_fit(struct yaml *yaml);

/* Sets the frame's key; returns false for invalid base64. */
bool yaml_key(struct yaml *yaml, struct frame *frame,
	      const struct scalar *scalar, const char *text, size_t len);

struct anchor *yaml_anchor(struct yaml *yaml, const char *name,
			   struct node *target);
bool yaml_alias(struct yaml *yaml, const char *name, uint32_t start,
		uint32_t end);
/* Merges the complete value of a `<<` key, a map or a seq of maps, into the
 * frame's map. */
bool yaml_merge(struct yaml *yaml, const struct node *value, unsigned flag);
bool yaml_refuse_merge(struct yaml *yaml, uint32_t start, uint32_t end);

/* Reports an issue with this text. Returns false if its kind is LOAD_SYNTAX. */
bool yaml_issue(struct yaml *yaml, const struct load_issue *issue,
		const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Reports a LOAD_SYNTAX issue; returns false. */
bool yaml_refuse(struct yaml *yaml, uint32_t start, uint32_t end,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Reports the error of libyaml's parser; returns false. */
bool yaml_refuse_parser(struct yaml *yaml);
/* Returns the offset in the source of a code point of the text being read. */
uint32_t yaml_offset(struct yaml *yaml, size_t index);
/* True if the byte at this offset is not passed to libyaml. */
bool yaml_is_cut(const struct yaml *yaml, uint32_t at);
/* Returns the line number of an offset. */
unsigned yaml_line(struct yaml *yaml, uint32_t offset);
/* Subtracts steps from the work budget. Returns false if it is exceeded. */
bool yaml_spend(struct yaml *yaml, uint64_t steps, uint32_t at);

/* Returns the length of the YAML line break at p, 0 if there is none. */
size_t yaml_break(const char *p, const char *end);
/* True if a line begins at p in a text that begins at start. */
bool yaml_starts_line(const char *start, const char *p);

#endif
