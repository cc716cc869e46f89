/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader: one RFC 8259 value into a node tree with the byte span of
 * every key and value. It accepts the texts that Go's encoding/json accepts,
 * with one difference: bytes that are not UTF-8 are rejected, not replaced.
 *
 * It does not recurse: a variable points to the innermost open map or seq,
 * whose parent pointers are the stack. Every count is checked before memory is
 * allocated. The first error is reported and ends the read. The text is
 * followed by NULs, which JSON never contains, so that comparing a byte with an
 * expected one also detects the end.
 */
#include <string.h>

#include "base/text.h"
#include "doc/budget.h"
#include "doc/build.h"
#include "doc/load.h"
#include "json.h"

/* True on the usual path, the form that the API server writes. Rare cases are
 * in separate functions, to keep registers free in the loop of json_tree(). */
#define usual(what) __builtin_expect(!!(what), 1)
#define RARE	    __attribute__((noinline))

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

/* Reports an error at p and ends the read. */
static bool refuse_at(struct json_reader *json, const char *p, const char *text)
{
	json->at = json->text + json_offset(json, p);
	return json_refuse_at(json, p, text);
}

static bool refuse_open(struct json_reader *json, const struct node *open,
			char *p)
{
	const char *start = json->text + open->start; /* NOLINT: one is open */

	json->at = p;
	return json_refuse(json, start, start + 1,
			   node_is_map(open)
				   ? "object is not closed before the text ends"
				   : "list is not closed before the text ends");
}

/* Returns the next byte that is not white space, or the end. */
static inline char *json_blank(char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

/* True if the byte is not white space, a control character or the end. */
static inline bool json_is_grammar(char c)
{
	return (unsigned char)c > ' ';
}

/*
 * State of the loop of json_tree(). It is a local variable whose address only
 * inline functions take, so that it stays in registers. The children of the
 * open map or seq are counted and linked here, and stored in the node when it
 * is closed.
 */
struct json_place {
	char *at;
	struct node *open;  /* the innermost map or seq */
	struct node **link; /* where the next child is stored */
	uint32_t index;	    /* index of the next child */
};

/* Reads the string whose quote is at place->at, at *offset of the text. Sets
 * *len to the length of the decoded text, and moves place->at and *offset past
 * the string. Most strings have no escapes. */
static inline bool json_string(struct json_reader *json,
			       struct json_place *place, uint32_t *len,
			       uint32_t *offset)
{
	char *text = place->at + 1;
	char *end = json_mark(text);
	uint32_t scanned;

	if (usual(*end == '"')) {
		*end = '\0';
		*len = (uint32_t)(end - text);
		*offset += *len + 2;
		place->at = end + 1;
		return true;
	}
	json->at = place->at;
	if (!scan_json_string(json, end, &scanned))
		return false;
	*len = scanned;
	*offset = json_offset(json, json->at);
	place->at = json->at;
	return true;
}

/* Reads the string at place->at as the node's value. */
static inline bool json_text(struct json_reader *json, struct json_place *place,
			     struct node *node)
{
	uint32_t len, offset = node->start;

	node->type = NODE_STRING;
	node->flags = NODE_QUOTED;
	node->str = place->at + 1;
	if (!json_string(json, place, &len, &offset))
		return false;
	node->len = len;
	node->end = offset;
	json->lengths |= len;
	return true;
}

static inline bool json_open(struct json_reader *json, struct json_place *place,
			     struct node *node)
{
	uint32_t limit = json->loader->limits->depth;

	if (json->depth >= limit)
		return refuse_at(json, place->at,
				 arena_printf(json->loader->arena,
					      "nested deeper than %u levels",
					      limit));
	json->depth++;
	json->keys += node->key_len;
	node->type = *place->at == '{' ? NODE_MAP : NODE_SEQ;
	node->flags = NODE_FLOW;
	node->str = NULL;
	place->open = node;
	place->link = &node->first;
	place->index = 0;
	place->at++;
	return true;
}

/* Stores the children read so far in the open map or seq. */
static inline void json_settle(const struct json_place *place)
{
	struct node *open = place->open;
	char *link = (char *)place->link;

	open->len = place->index;
	open->last = NULL;
	if (open->len)
		open->last =
			(struct node *)(void *)(link -
						offsetof(struct node, next));
}

static inline void json_close(struct json_reader *json,
			      struct json_place *place)
{
	struct node *node = place->open;

	json_settle(place);
	node->end = json_offset(json, ++place->at);
	json->breadth +=
		(uint64_t)node->len * node->len + work_of_keys(json->keys);
	json->keys -= node->key_len;
	json->depth--;
	place->open = node->parent;
	place->link = &node->next;
	place->index = node->index + 1;
	if (!usual(!node->next)) { /* json_again() reused the node */
		place->link = &place->open->last->next;
		place->index = place->open->len;
	}
}

/*
 * Returns the first of a new block of nodes; NULL if the limit is reached at p.
 * One more node is always allocated, json->spare, into which a key is written
 * before it is known whether the key has a value.
 */
RARE static struct node *json_refill(struct json_reader *json, const char *p)
{
	uint32_t limit = json->nodes_max;
	/* Allocate fewer nodes for small texts. */
	uint32_t n = json->nodes < 7 ? 7 : json->nodes < 128 ? 31 : 127;
	struct node *nodes;

	if (json->nodes >= limit) {
		json->loader->costly = true;
		refuse_at(json, p,
			  arena_printf(json->loader->arena,
				       "more than %u values", limit));
		return NULL;
	}
	if (n > limit - json->nodes)
		n = limit - json->nodes;
	json->nodes += n;
	nodes = arena_alloc(json->loader->arena, (n + 1) * sizeof(*nodes));
	if (json->spare)
		*nodes = *json->spare;
	json->spare = nodes + 1;
	json->spare_end = nodes + n;
	return nodes;
}

/* Returns the spare node for the value at place->at; NULL if there are too
 * many. The caller sets the members for key, value and index. */
static inline struct node *json_node(struct json_reader *json,
				     const struct json_place *place,
				     struct node *node, uint32_t start)
{
	if (usual(node != json->spare_end))
		json->spare = node + 1;
	else if (!(node = json_refill(json, place->at)))
		return NULL;
	node->next = NULL;
	node->first = node->last = NULL;
	node->tags = 0;
	node->map_index = NULL;
	node->start = start;
	return node;
}

/* Appends the node to the open map or seq. */
static inline void json_link(struct json_place *place, struct node *node)
{
	node->parent = place->open;
	node->index = place->index++;
	*place->link = node;
	place->link = &node->next;
}

static inline struct node *json_item(struct json_reader *json,
				     struct json_place *place)
{
	struct node *node = json_node(json, place, json->spare,
				      json_offset(json, place->at));

	if (!node)
		return NULL;
	node->tag = 0;
	node->key = NULL;
	node->key_len = 0;
	node->key_start = node->key_end = node->start;
	json_link(place, node);
	return node;
}

/*
 * Handles a repeated key: removes the old value and reuses its node, so that n
 * repetitions cost no more than n different keys.
 */
static struct node *json_again(struct json_reader *json,
			       const struct json_place *place, struct node *old)
{
	const struct node *key = json_node(json, place, json->spare,
					   json_offset(json, place->at));

	if (!key) /* the limit counts it nevertheless */
		return NULL;
	json_issue(json, LOAD_DUPLICATE_KEY, json->text + key->key_start,
		   json->text + key->key_end,
		   "key is given twice: the last value counts");
	*old = (struct node){
		.tag = old->tag,
		.start = key->start,
		.key_start = key->key_start,
		.key_end = key->key_end,
		.key = old->key,
		.key_len = old->key_len,
		.index = old->index,
		.next = old->next,
		.parent = old->parent,
	};
	return old;
}

/* Results of json_rare(). */
enum json_rare {
	JSON_REFUSED,
	JSON_SKIPPED, /* the value was skipped */
	JSON_AGAIN,   /* *node has the key already */
	JSON_FRESH,   /* none of the above */
};

/* Handles a key whose value may have to be left out, or which may exist
 * already. */
RARE static enum json_rare json_rare(struct json_reader *json,
				     struct json_place *place,
				     struct node **node)
{
	struct loader *loader = json->loader;
	const struct node *key = json->spare;

	if (json->skip_tags & node_tag_bit(key->tag) &&
	    loader->skip(loader->context, place->open, key->key,
			 key->key_len)) {
		place->at = json_skip(json, place->at);
		if (place->at < json->end)
			return JSON_SKIPPED;
		refuse_open(json, place->open, json->end);
		return JSON_REFUSED;
	}
	json_settle(place);
	*node = node_find(loader->arena, place->open, key->key, key->key_len);
	if (!*node)
		return JSON_FRESH;
	*node = json_again(json, place, *node);
	return *node ? JSON_AGAIN : JSON_REFUSED;
}

/* Moves from the end of a key, and *offset with it, to its value. */
static inline bool json_colon(struct json_reader *json,
			      struct json_place *place, uint32_t *offset)
{
	char *p = place->at;

	if (usual(*p == ':' && json_is_grammar(p[1]))) {
		place->at++;
		++*offset;
		return true;
	}
	p = json_blank(p);
	if (p == json->end)
		return refuse_open(json, place->open, p);
	if (*p != ':')
		return refuse_at(json, p, "expected ':' after a key");
	p = json_blank(p + 1);
	place->at = p;
	*offset = json_offset(json, p);
	return p < json->end || refuse_open(json, place->open, p);
}

/*
 * Reads the key whose opening quote is at place->at. Moves to its value and
 * sets *node to the node for it, or moves past the value and sets *node to NULL
 * if the value is left out. Returns false if the read ends.
 */
static inline bool json_pair(struct json_reader *json, struct json_place *place,
			     struct node **node)
{
	struct node *spare = json->spare;
	const char *key = place->at + 1;
	uint32_t len, offset = json_offset(json, place->at);
	uint64_t bit;

	spare->key_start = offset;
	if (!json_string(json, place, &len, &offset))
		return false;
	spare->key_end = offset;
	spare->key = key;
	spare->key_len = len;
	json->lengths |= len;
	spare->tag = node_tag(key, len);
	bit = node_tag_bit(spare->tag);
	if (!json_colon(json, place, &offset))
		return false;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (!usual(!((place->open->tags | json->skip_tags) & bit))) {
		struct json_place here = *place;
		struct node *old = NULL;
		enum json_rare rare = json_rare(json, &here, &old);

		place->at = here.at;
		*node = old;
		if (rare != JSON_FRESH)
			return rare != JSON_REFUSED;
	}
	*node = spare = json_node(json, place, spare, offset);
	if (!spare)
		return false;
	place->open->tags |= bit;
	json_link(place, spare);
	return true;
}

/* Handles the comma between two entries and moves to the next one. */
static inline bool json_comma(struct json_reader *json,
			      struct json_place *place)
{
	char *comma = place->at;
	char *p = comma + 1;

	if (*comma != ',')
		return refuse_at(json, comma,
				 node_is_map(place->open)
					 ? "expected ',' or '}' after a value "
					   "of the object"
					 : "expected ',' or ']' after an item "
					   "of the list");
	if (!usual(json_is_grammar(*p))) {
		p = json_blank(p);
		if (p == json->end)
			return refuse_open(json, place->open, p);
	}
	place->at = p;
	if (*p != '}' && *p != ']')
		return true;
	json->at = p;
	return json_refuse(json, comma, comma + 1,
			   "comma after the last value");
}

/*
 * Moves from the end of a value, or (fresh) of an opening bracket, to the next
 * key or item, and closes the maps and seqs that end before it. If none is
 * open, it is at the end of the top-level value. Returns false if the read
 * ends.
 */
static inline bool json_advance(struct json_reader *json,
				struct json_place *place, bool fresh)
{
	for (; place->open; fresh = false) {
		bool map = place->open->type == NODE_MAP;

		if (!usual(json_is_grammar(*place->at))) {
			place->at = json_blank(place->at);
			if (place->at == json->end)
				return refuse_open(json, place->open,
						   place->at);
		}
		if (*place->at == (map ? '}' : ']')) {
			json_close(json, place);
			continue;
		}
		if (!fresh && !json_comma(json, place))
			return false;
		if (map && *place->at != '"')
			return refuse_at(json, place->at,
					 "expected a key in double quotes");
		break;
	}
	return true;
}

/* Reads the value at place->at; of a map or seq, only the opening bracket. */
static inline bool json_value(struct json_reader *json,
			      struct json_place *place, struct node *node,
			      bool *opened)
{
	char first = *place->at;

	if (usual(first == '"'))
		return json_text(json, place, node);
	*opened = first == '{' || first == '[';
	if (*opened)
		return json_open(json, place, node);
	json->at = place->at;
	json->open = place->open;
	if (!scan_json_other(json, node))
		return false;
	place->at = json->at;
	return true;
}

/* Moves to the next key and returns true if it directly follows the bracket or
 * the member's value, as the API server writes it. */
static inline bool json_key_is_next(struct json_place *place,
				    const struct node *node, bool opened)
{
	const char *p = place->at;

	if (opened)
		return *p == '"' && p[-1] == '{';
	if (memcmp(p, ",\"", 2) != 0)
		return false;
	place->at++;
	return true;
}

/*
 * Reads adjacent members, starting at a key. Sets *opened if the value of the
 * last one is a map or seq, which is then open. Returns false if the read ends.
 */
static inline bool json_members(struct json_reader *json,
				struct json_place *place, bool *opened)
{
	struct node *node;

	do {
		*opened = false;
		if (!json_pair(json, place, &node))
			return false;
		if (!node)
			return true;
		if (!json_value(json, place, node, opened))
			return false;
	} while (json_key_is_next(place, node, *opened));
	return true;
}

/* Moves from the end of the node's value, or of its opening bracket, over all
 * members to the next item, or until no map or seq is open. */
static inline bool json_to_item(struct json_reader *json,
				struct json_place *place,
				const struct node *node, bool opened)
{
	bool key = opened && json_key_is_next(place, node, true);

	for (;; key = false) {
		if (!key && !json_advance(json, place, opened))
			return false;
		if (!place->open || place->open->type != NODE_MAP)
			return true;
		if (!json_members(json, place, &opened))
			return false;
	}
}

/* Reads the whole value at *at into the node and moves *at past it. */
static bool json_tree(struct json_reader *json, uint32_t *at, struct node *node)
{
	struct json_place place = {
		.at = json->text + *at,
	};
	bool opened = false;

	while (node && json_value(json, &place, node, &opened) &&
	       json_to_item(json, &place, node, opened)) {
		if (!place.open) {
			*at = json_offset(json, place.at);
			return true;
		}
		node = json_item(json, &place);
		opened = false;
	}
	return false;
}

struct node *json_read(struct loader *loader, uint32_t start, uint32_t end,
		       uint32_t *used)
{
	struct json_reader json = {.loader = loader,
				   .nodes_max = cost_nodes(loader)};
	struct node *root;
	char *p;
	bool whole;

	*used = start;
	if (loader->skip)
		json.skip_tags =
			loader->skip_tags ? loader->skip_tags : ~UINT64_C(0);
	if (start == end)
		return NULL;
	json.text = json_reader_text(loader, end);
	json.end = json.text + end;
	p = json_blank(json.text + start);
	*used = json_offset(&json, p);
	if (p == json.end)
		return NULL;
	root = json_refill(&json, p);
	if (root) {
		node_clear(root);
		root->start = *used;
	}
	whole = root && json_tree(&json, used, root);
	if (!whole)
		*used = json_offset(&json, json.at);
	loader->breadth = json.breadth;
	loader->long_text = json.lengths >= WORK_TEXT;
	cost_spend(loader, json.nodes, 0);
	return whole ? root : NULL;
}
