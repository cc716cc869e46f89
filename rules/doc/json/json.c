/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader: one RFC 8259 value into a node tree with the byte span of
 * every key and value. It accepts what Go's encoding/json accepts, with one
 * difference: bytes that are not UTF-8 are refused, not replaced.
 *
 * There is no recursion: the innermost open map or seq is at hand and its
 * parent pointers are the stack. Every count is checked before memory is taken.
 * An error is reported once, and reading ends there.
 *
 * Behind the text are NULs, which JSON does not have: where the next byte is what it
 * should be, nothing asks whether the text has ended before.
 */
#include <string.h>

#include "base/text.h"
#include "doc/build.h"
#include "json.h"

enum { PIECE = 1024 }; /* bytes */

/* What the API server writes, nearly always. */
#define usual(what) __builtin_expect(!!(what), 1)

static uint32_t json_offset(const struct json_reader *json, const char *p)
{
	return (uint32_t)(p - json->text);
}

static void json_issue(struct json_reader *json, enum load_issue_kind kind,
		       const char *start, const char *end, const char *text)
{
	struct load_issue issue = {
		.kind = kind,
		.start = json_offset(json, start),
		.end = json_offset(json, end),
		.text = text,
	};

	if (json->loader->issue)
		json->loader->issue(json->loader->context, &issue);
}

bool json_refuse(struct json_reader *json, const char *start, const char *end,
		 const char *text)
{
	json_issue(json, LOAD_SYNTAX, start, end, text);
	return false;
}

const char *json_behind(const struct json_reader *json, const char *p)
{
	size_t len;

	if (p == json->end)
		return p;
	len = utf8_length(p, (size_t)(json->end - p));
	return p + (len ? len : 1);
}

bool json_refuse_at(struct json_reader *json, const char *p, const char *text)
{
	return json_refuse(json, p, json_behind(json, p), text);
}

/* Reading ends at p. */
static char *refuse_at(struct json_reader *json, char *p, const char *text)
{
	json->at = p;
	json_refuse_at(json, p, text);
	return NULL;
}

static char *refuse_open(struct json_reader *json, const struct node *open,
			 char *p)
{
	const char *start = json->text + open->start; /* NOLINT: one is open */

	json->at = p;
	json_refuse(json, start, start + 1,
		    node_is_map(open)
			    ? "object is not closed before the text ends"
			    : "list is not closed before the text ends");
	return NULL;
}

/* The next byte that is not white space, or the end. */
static inline char *json_blank(char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

static bool starts_number(char c)
{
	return c == '-' || (c >= '0' && c <= '9');
}

static bool is_letter(char c)
{
	c |= 0x20;
	return c >= 'a' && c <= 'z';
}

/* Is the word at p, with no letter after it? After a value at the top level
 * another one may follow at once. */
static inline bool json_spells(const struct json_reader *json, const char *p,
			       const char *word)
{
	size_t len = strlen(word);

	return memcmp(p, word, len) == 0 && (!json->open || !is_letter(p[len]));
}

static bool refuse_word(struct json_reader *json)
{
	const char *p = json->at;

	while (is_letter(*p))
		p++;
	if (p == json->at)
		return json_refuse_at(json, p, "expected a value");
	return json_refuse(json, json->at, p,
			   "unknown word: strings need double quotes");
}

static bool json_word(struct json_reader *json, struct node *node)
{
	char *p = json->at;

	node->type = NODE_BOOL;
	if (json_spells(json, p, "true")) {
		node->str = "true";
	} else if (json_spells(json, p, "false")) {
		node->str = "false";
	} else if (json_spells(json, p, "null")) {
		node->type = NODE_NULL;
		node->str = "null";
	} else {
		return refuse_word(json);
	}
	node->len = (uint32_t)strlen(node->str);
	json->at = p + node->len;
	return true;
}

/*
 * What the loop of json_tree() changes at each byte of grammar: a variable of
 * its own, whose address only inline functions take, so that it is in
 * registers.
 */
struct json_place {
	struct node *open; /* the innermost map or seq */
	struct json_marks marks;
};

/* p is at the opening quote; the byte after the string. Most strings are plain
 * to their end. */
static inline char *json_string(struct json_reader *json,
				struct json_place *place, char *p,
				struct json_token *token)
{
	char *end = json_mark(&place->marks, p + 1);

	if (usual(*end == '"')) {
		*end = '\0';
		token->str = p + 1;
		token->len = (uint32_t)(end - p - 1);
		return end + 1;
	}
	json->at = p;
	*token = scan_json_string(json, end);
	return token->str ? json->at : NULL;
}

/* The string at p as the node's value. */
static inline char *json_text(struct json_reader *json,
			      struct json_place *place, char *p,
			      struct node *node)
{
	struct json_token token;

	p = json_string(json, place, p, &token);
	if (!p)
		return NULL;
	node->type = NODE_STRING;
	node->flags = NODE_QUOTED;
	node->str = token.str;
	node->len = token.len;
	node->end = json_offset(json, p);
	return p;
}

static inline char *json_open(struct json_reader *json,
			      struct json_place *place, char *p,
			      struct node *node)
{
	uint32_t limit = json->loader->limits->depth;

	if (json->depth >= limit)
		return refuse_at(json, p,
				 arena_printf(json->loader->arena,
					      "nested deeper than %u levels",
					      limit));
	json->depth++;
	node->type = *p == '{' ? NODE_MAP : NODE_SEQ;
	node->flags = NODE_FLOW;
	node->len = 0;
	node->str = NULL;
	place->open = node;
	return p + 1;
}

static inline char *json_close(struct json_reader *json,
			       struct json_place *place, char *p)
{
	struct node *node = place->open;

	node->end = json_offset(json, p + 1);
	json->breadth += (uint64_t)node->len * node->len;
	place->open = node->parent;
	json->depth--;
	return p + 1;
}

/* The number or word at p as the node's value. */
static char *json_other(struct json_reader *json, struct node *open, char *p,
			struct node *node)
{
	json->at = p;
	json->open = open;
	node->flags = 0;
	if (starts_number(*p) ? !scan_json_number(json, node)
			      : !json_word(json, node))
		return NULL;
	node->end = json_offset(json, json->at);
	return json->at;
}

/* The first of some more nodes; NULL when the limit is reached at p. */
static struct node *json_refill(struct json_reader *json, char *p)
{
	uint32_t limit = json->loader->limits->nodes;
	uint32_t n = json->nodes < 8 ? 8 : 32; /* small texts take few */
	struct node *nodes;

	if (json->nodes >= limit) {
		refuse_at(json, p,
			  arena_printf(json->loader->arena,
				       "more than %u values", limit));
		return NULL;
	}
	if (n > limit - json->nodes)
		n = limit - json->nodes;
	json->nodes += n;
	nodes = arena_alloc(json->loader->arena, n * sizeof(*nodes));
	json->spare = nodes + 1;
	json->spare_end = nodes + n;
	return nodes;
}

/* A node for the value at p; NULL when there are too many. What its value and
 * its place among others set later is not set here. */
static inline struct node *json_node(struct json_reader *json, char *p)
{
	struct node *node = json->spare;

	if (usual(node != json->spare_end))
		json->spare++;
	else if (!(node = json_refill(json, p)))
		return NULL;
	node->next = NULL;
	node->first = node->last = NULL;
	node->tags = 0;
	node->map_index = NULL;
	node->start = json_offset(json, p);
	return node;
}

/* After the last child of the open map or seq. */
static inline void json_link(struct json_place *place, struct node *node)
{
	struct node *parent = place->open;

	node->parent = parent;
	node->index = parent->len++;
	if (node->index)
		parent->last->next = node;
	else
		parent->first = node;
	parent->last = node;
}

static inline struct node *json_item(struct json_reader *json,
				     struct json_place *place, char *p)
{
	struct node *node = json_node(json, p);

	if (!node)
		return NULL;
	node->tag = 0;
	node->key = NULL;
	node->key_len = 0;
	node->key_start = node->key_end = node->start;
	json_link(place, node);
	return node;
}

struct json_key {
	char *start, *end; /* quotes included */
	struct json_token token;
	uint16_t tag;
};

/*
 * A key that exists already loses its value and keeps its place, so that n
 * repetitions cost no more than n keys.
 */
static struct node *json_again(struct json_reader *json, struct node *old,
			       const struct json_key *key, char *p)
{
	if (!json_node(json, p)) /* it counts nevertheless */
		return NULL;
	json_issue(json, LOAD_DUPLICATE_KEY, key->start, key->end,
		   "key is given twice: the last value counts");
	*old = (struct node){
		.tag = old->tag,
		.start = json_offset(json, p),
		.key_start = json_offset(json, key->start),
		.key_end = json_offset(json, key->end),
		.key = old->key,
		.key_len = old->key_len,
		.index = old->index,
		.next = old->next,
		.parent = old->parent,
	};
	return old;
}

/* The node for the value at p. */
static inline struct node *json_member(struct json_reader *json,
				       struct json_place *place,
				       struct json_key key, char *p)
{
	struct node *node;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (place->open->tags & node_tag_bit(key.tag)) {
		struct json_key perhaps = key;
		struct node *old = node_find(json->loader->arena, place->open,
					     key.token.str, key.token.len);

		if (old)
			return json_again(json, old, &perhaps, p);
	}
	node = json_node(json, p);
	if (!node)
		return NULL;
	node->tag = key.tag;
	node->key_start = json_offset(json, key.start);
	node->key_end = json_offset(json, key.end);
	node->key = key.token.str;
	node->key_len = key.token.len;
	place->open->tags |= node_tag_bit(key.tag);
	json_link(place, node);
	return node;
}

/* After the string whose opening quote is at p, or the text's end. */
static inline char *json_skip_string(struct json_reader *json,
				     struct json_marks *marks, char *p)
{
	for (;;) {
		p = json_mark(marks, p + 1);
		if (*p == '"')
			return p + 1;
		if (p >= json->end)
			return json->end;
		if (*p == '\\' && p + 1 < json->end)
			p++;
	}
}

/* After the value at p, without parsing it. */
static char *json_skip(struct json_reader *json, const struct node *open,
		       char *p)
{
	struct json_marks marks = {0};
	static const signed char steps[256] = {
		['{'] = 1, ['['] = 1, ['}'] = -1, [']'] = -1};
	int64_t depth = 0;

	while (p < json->end) {
		if (*p == '"') {
			p = json_skip_string(json, &marks, p);
			continue;
		}
		depth += steps[(unsigned char)*p];
		if (depth < 0 || (*p == ',' && !depth))
			return p;
		p++;
	}
	return refuse_open(json, open, p);
}

static inline bool json_skips(const struct json_reader *json,
			      const struct node *open, struct json_token key)
{
	const struct loader *loader = json->loader;

	return json->skip_lengths >> (key.len & 63) & 1 &&
	       loader->skip(loader->context, open, key.str, key.len);
}

/* From the end of a key to its value. */
static inline char *json_colon(struct json_reader *json,
			       const struct node *open, char *p)
{
	if (usual(*p == ':' && (unsigned char)p[1] > ' '))
		return p + 1;
	p = json_blank(p);
	if (p == json->end)
		return refuse_open(json, open, p);
	if (*p != ':')
		return refuse_at(json, p, "expected ':' after a key");
	p = json_blank(p + 1);
	return p < json->end ? p : refuse_open(json, open, p);
}

/*
 * The key whose opening quote is at p: the node for its value, which *value
 * points to. NULL where the value is left out (*value is after it) or where
 * reading ends (*value is NULL).
 */
static inline struct node *json_pair(struct json_reader *json,
				     struct json_place *place, char *p,
				     char **value)
{
	struct json_key key = {.start = p};
	struct node *node;

	*value = NULL;
	key.end = json_string(json, place, p, &key.token);
	p = key.end ? json_colon(json, place->open, key.end) : NULL;
	if (!p)
		return NULL;
	if (!usual(!json_skips(json, place->open, key.token))) {
		*value = json_skip(json, place->open, p);
		return NULL;
	}
	key.tag = node_tag(key.token.str, key.token.len);
	node = json_member(json, place, key, p);
	if (node)
		*value = p;
	return node;
}

/* The comma at p is between two entries: the next one. */
static inline char *json_comma(struct json_reader *json,
			       const struct node *open, char *p)
{
	char *comma = p;

	if (*p != ',')
		return refuse_at(json, p,
				 open->type == NODE_MAP
					 ? "expected ',' or '}' after a value "
					   "of the object"
					 : "expected ',' or ']' after an item "
					   "of the list");
	p = json_blank(p + 1);
	if (p == json->end)
		return refuse_open(json, open, p);
	if (*p != '}' && *p != ']')
		return p;
	json->at = p;
	json_refuse(json, comma, comma + 1, "comma after the last value");
	return NULL;
}

/*
 * From the end of a value, or (fresh) of an opening bracket, to the next key or
 * item; closes the maps and seqs that end before it. Without an open one, the
 * end of the top-level value; NULL where reading ends.
 */
static inline char *json_advance(struct json_reader *json,
				 struct json_place *place, char *p, bool fresh)
{
	for (; place->open; fresh = false) {
		bool map = place->open->type == NODE_MAP;

		p = json_blank(p);
		if (p == json->end)
			return refuse_open(json, place->open, p);
		if (*p == (map ? '}' : ']')) {
			p = json_close(json, place, p);
			continue;
		}
		if (!fresh)
			p = json_comma(json, place->open, p);
		if (p && map && *p != '"')
			return refuse_at(json, p,
					 "expected a key in double quotes");
		return p;
	}
	return p;
}

/* The value at p, of which a map or seq is only opened. */
static inline char *json_value(struct json_reader *json,
			       struct json_place *place, char *p,
			       struct node *node, bool *opened)
{
	if (usual(*p == '"'))
		return json_text(json, place, p, node);
	*opened = *p == '{' || *p == '[';
	return *opened ? json_open(json, place, p, node)
		       : json_other(json, place->open, p, node);
}

/* The key that follows the bracket, or the value of a member, at once, as the
 * API server writes; or NULL. */
static inline char *json_next_key(char *p, const struct node *node, bool opened)
{
	if (opened)
		return *p == '"' && p[-1] == '{' ? p : NULL;
	return *p == ',' && p[1] == '"' && node->key ? p + 1 : NULL;
}

/*
 * The node for the next value, to which *p is moved from behind that of node,
 * or from the bracket that opens it. NULL: there is none, *p is as above.
 */
static inline struct node *json_next(struct json_reader *json,
				     struct json_place *place, char **p,
				     struct node *node, bool opened)
{
	char *key = json_next_key(*p, node, opened);

	for (;; key = NULL, opened = false) {
		if (!key) {
			key = *p = json_advance(json, place, *p, opened);
			if (!key || !place->open)
				return NULL;
			if (place->open->type != NODE_MAP)
				return json_item(json, place, key);
		}
		node = json_pair(json, place, key, p);
		if (node || !*p)
			return node;
	}
}

/* The whole value at p, whose node exists: the byte after it, or NULL. */
static char *json_tree(struct json_reader *json, char *p, struct node *node)
{
	struct json_place place = {0};

	while (node) {
		bool opened = false;

		p = json_value(json, &place, p, node, &opened);
		if (!p)
			return NULL;
		node = json_next(json, &place, &p, node, opened);
	}
	return place.open ? NULL : p;
}

/* The copy that is read: one for all values in a row. It is made in pieces: a
 * long memcpy() is a string instruction, which counts for each byte. */
static char *json_copy(struct loader *loader, uint32_t end)
{
	const char *text = loader->source->text;
	uint32_t n;

	if (!loader->own || loader->own_end != end) {
		loader->own = arena_take(loader->source->arena,
					 (size_t)end + JSON_BLOCK, 1);
		loader->own_end = end;
		for (uint32_t at = 0; at < end; at += n) {
			n = (end - at - 1) % PIECE + 1;
			memcpy(loader->own + at, text + at, n);
		}
		memset(loader->own + end, 0, JSON_BLOCK);
	}
	return loader->own;
}

struct node *json_read(struct loader *loader, uint32_t start, uint32_t end,
		       uint32_t *used)
{
	struct json_reader json = {
		.loader = loader,
		.skip_lengths = loader->skip ? loader->skip_lengths : 0,
	};
	struct node *root;
	char *p;

	*used = start;
	if (loader->skip && !loader->skip_lengths)
		json.skip_lengths = ~UINT64_C(0);
	if (start == end)
		return NULL;
	json.text = json_copy(loader, end);
	json.end = json.text + end;
	p = json_blank(json.text + start);
	if (p == json.end) {
		*used = end;
		return NULL;
	}
	root = json_node(&json, p);
	if (root) {
		node_clear(root);
		root->start = json_offset(&json, p);
	}
	p = root ? json_tree(&json, p, root) : NULL;
	*used = json_offset(&json, p ? p : json.at);
	loader->breadth = json.breadth;
	return p ? root : NULL;
}
