/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader: one RFC 8259 value into a node tree with the byte span of
 * every key and value. It accepts what Go's encoding/json accepts, with one
 * difference: bytes that are not UTF-8 are refused, not replaced.
 *
 * There is no recursion: the innermost open map or seq is at hand and its
 * parent pointers are the stack. Every count is checked before memory is
 * taken. A text that refuses is reported once, and reading ends there.
 */
#include <string.h>

#include "base/text.h"
#include "doc/build.h"
#include "json.h"

static uint32_t json_offset(const struct json *json, const char *p)
{
	return (uint32_t)(p - json->text);
}

static void json_issue(struct json *json, enum load_issue_kind kind,
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

bool json_refuse(struct json *json, const char *start, const char *end,
		 const char *text)
{
	json_issue(json, LOAD_SYNTAX, start, end, text);
	return false;
}

const char *json_behind(const struct json *json, const char *p)
{
	size_t len;

	if (p == json->end)
		return p;
	len = utf8_length(p, (size_t)(json->end - p));
	return p + (len ? len : 1);
}

bool json_refuse_at(struct json *json, const char *p, const char *text)
{
	return json_refuse(json, p, json_behind(json, p), text);
}

/* Reading ends at p. */
static const char *refuse_at(struct json *json, const char *p, const char *text)
{
	json->at = p;
	json_refuse_at(json, p, text);
	return NULL;
}

static const char *refuse_open(struct json *json, const char *p)
{
	const char *start = json->text + json->open->start;

	json->at = p;
	json_refuse(json, start, start + 1,
		    node_is_map(json->open)
			    ? "object is not closed before the text ends"
			    : "list is not closed before the text ends");
	return NULL;
}

/* The next byte that is no white space, or the end. */
static inline const char *json_blank(const struct json *json, const char *p)
{
	if (p < json->end && (unsigned char)*p > ' ')
		return p;
	while (p < json->end &&
	       (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
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

static bool json_word(struct json *json, struct node *node)
{
	static const char *const words[] = {"true", "false", "null"};
	static const uint8_t types[] = {NODE_BOOL, NODE_BOOL, NODE_NULL};
	const char *p = json->at;

	while (p < json->end && is_letter(*p))
		p++;
	node->len = (uint32_t)(p - json->at);
	for (size_t i = 0; i < sizeof(types); i++) {
		if (node->len != strlen(words[i]) ||
		    memcmp(json->at, words[i], node->len) != 0)
			continue;
		node->type = types[i];
		node->str = words[i];
		json->at = p;
		return true;
	}
	if (p == json->at)
		return json_refuse_at(json, p, "expected a value");
	return json_refuse(json, json->at, p,
			   "unknown word: strings need double quotes");
}

/* p is at the opening quote; the byte behind the string. */
static inline const char *json_string(struct json *json, const char *p,
				      struct json_token *token)
{
	const char *end = json_plain(p + 1, json->end);

	if (end < json->end && *end == '"') {
		token->len = (uint32_t)(end - p - 1);
		token->str = json_keep(json, p + 1, token->len);
		return end + 1;
	}
	json->at = p;
	return scan_json_string(json, token) ? json->at : NULL;
}

static inline const char *json_text(struct json *json, const char *p,
				    struct node *node)
{
	struct json_token token;

	p = json_string(json, p, &token);
	if (!p)
		return NULL;
	node->type = NODE_STRING;
	node->flags = NODE_QUOTED;
	node->str = token.str;
	node->len = token.len;
	return p;
}

static inline const char *json_open(struct json *json, const char *p,
				    struct node *node, enum node_type type)
{
	uint32_t limit = json->loader->limits->depth;

	if (json->depth >= limit)
		return refuse_at(json, p,
				 arena_printf(json->loader->arena,
					      "nested deeper than %u levels",
					      limit));
	json->depth++;
	node->type = (uint8_t)type;
	node->flags = NODE_FLOW;
	json->open = node;
	json->fresh = true;
	return p + 1;
}

static inline const char *json_close(struct json *json, const char *p)
{
	json->open->end = json_offset(json, p + 1);
	json->open = json->open->parent;
	json->depth--;
	json->fresh = false;
	return p + 1;
}

static const char *json_other(struct json *json, const char *p,
			      struct node *node)
{
	json->at = p;
	if (starts_number(*p) ? scan_json_number(json, node)
			      : json_word(json, node))
		return json->at;
	return NULL;
}

/* The value at p; a map or seq is only opened. */
static inline const char *json_value(struct json *json, const char *p,
				     struct node *node)
{
	node->start = json_offset(json, p);
	json->fresh = false;
	if (*p == '{')
		return json_open(json, p, node, NODE_MAP);
	if (*p == '[')
		return json_open(json, p, node, NODE_SEQ);
	p = *p == '"' ? json_text(json, p, node) : json_other(json, p, node);
	if (p)
		node->end = json_offset(json, p);
	return p;
}

/* Small texts take few, large ones blocks. */
static void json_refill(struct json *json)
{
	uint32_t n = json->nodes < 8 ? 8 : 32;

	json->spare =
		arena_alloc(json->loader->arena, n * sizeof(*json->spare));
	json->spare_end = json->spare + n;
}

/* The node of the value at p. */
static inline struct node *json_node(struct json *json, const char *p)
{
	uint32_t limit = json->loader->limits->nodes;

	if (json->nodes >= limit) {
		refuse_at(json, p,
			  arena_printf(json->loader->arena,
				       "more than %u values", limit));
		return NULL;
	}
	json->nodes++;
	if (json->spare == json->spare_end)
		json_refill(json);
	*json->spare = (struct node){.type = NODE_NULL};
	return json->spare++;
}

static inline const char *json_item(struct json *json, const char *p)
{
	struct node *node = json_node(json, p);

	if (!node)
		return NULL;
	node->key_start = node->key_end = json_offset(json, p);
	node_append(json->open, node);
	return json_value(json, p, node);
}

/*
 * The node for a key. A key that is there already gives up its value and
 * keeps its place, so that n repetitions cost no more than n keys.
 */
static struct node *json_again(struct node *old, struct node *node)
{
	node->key = old->key;
	node->key_len = old->key_len;
	node->tag = old->tag;
	node->index = old->index;
	node->next = old->next;
	node->parent = old->parent;
	*old = *node;
	return old;
}

/* The key lies from start to end; node is new. */
static inline struct node *json_member(struct json *json, struct node *node,
				       const struct json_token *key)
{
	uint16_t tag = node_tag(key->str, key->len);
	struct node *old = NULL;

	if (json->open->tags & node_tag_bit(tag))
		old = node_find(json->loader->arena, json->open, key->str,
				key->len);
	if (old)
		return json_again(old, node);
	node->key = key->str;
	node->key_len = key->len;
	node_append(json->open, node);
	return node;
}

/* Behind the string whose opening quote is at p, or the text's end. */
static const char *json_skip_string(const struct json *json, const char *p)
{
	for (p++; p < json->end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < json->end ? p + 1 : json->end;
}

/* Behind the value at p, without a look at what it is. */
static const char *json_skip(struct json *json, const char *p)
{
	uint32_t depth = 0;

	for (; p < json->end; p++) {
		if (*p == '"')
			p = json_skip_string(json, p) - 1;
		else if (*p == '{' || *p == '[')
			depth++;
		else if (*p == ',' && !depth)
			break;
		else if ((*p == '}' || *p == ']') && !depth--)
			break;
	}
	json->fresh = false;
	return p < json->end ? p : refuse_open(json, p);
}

static inline bool json_skips(const struct json *json,
			      const struct json_token *key)
{
	const struct loader *loader = json->loader;

	return loader->skip &&
	       loader->skip(loader->context, json->open, key->str, key->len);
}

/* p is where a key should be. */
static const char *json_pair(struct json *json, const char *p)
{
	const char *start = p, *end;
	struct json_token key;
	struct node *fresh, *node;

	if (*p != '"')
		return refuse_at(json, p, "expected a key in double quotes");
	end = json_string(json, p, &key);
	if (!end)
		return NULL;
	p = json_blank(json, end);
	if (p == json->end)
		return refuse_open(json, p);
	if (*p != ':')
		return refuse_at(json, p, "expected ':' after a key");
	p = json_blank(json, p + 1);
	if (p == json->end)
		return refuse_open(json, p);
	if (json_skips(json, &key))
		return json_skip(json, p);
	fresh = json_node(json, p);
	if (!fresh)
		return NULL;
	node = json_member(json, fresh, &key);
	if (node != fresh)
		json_issue(json, LOAD_DUPLICATE_KEY, start, end,
			   "key is given twice: the last value counts");
	node->key_start = json_offset(json, start);
	node->key_end = json_offset(json, end);
	return json_value(json, p, node);
}

/* The comma at p lies between two entries: the next one. */
static inline const char *json_comma(struct json *json, const char *p)
{
	const char *comma = p;

	if (*p != ',')
		return refuse_at(json, p,
				 json->open->type == NODE_MAP
					 ? "expected ',' or '}' after a value "
					   "of the object"
					 : "expected ',' or ']' after an item "
					   "of the list");
	p = json_blank(json, p + 1);
	if (p == json->end)
		return refuse_open(json, p);
	if (*p != '}' && *p != ']')
		return p;
	json->at = p;
	json_refuse(json, comma, comma + 1, "comma behind the last value");
	return NULL;
}

/* One more value inside of the innermost map or seq, or its end. */
static inline const char *json_step(struct json *json, const char *p)
{
	bool map = json->open->type == NODE_MAP;

	p = json_blank(json, p);
	if (p == json->end)
		return refuse_open(json, p);
	if (*p == (map ? '}' : ']'))
		return json_close(json, p);
	if (!json->fresh)
		p = json_comma(json, p);
	if (!p)
		return NULL;
	return map ? json_pair(json, p) : json_item(json, p);
}

struct node *json_read(struct loader *loader, uint32_t start, uint32_t end,
		       uint32_t *used)
{
	const char *text = loader->own ? loader->own : loader->source->text;
	struct json json = {
		.loader = loader,
		.text = text,
		.own = loader->own,
		.end = text + end,
	};
	const char *p = text + start;
	struct node *root = NULL;

	*used = start;
	if (start == end)
		return NULL;
	p = json_blank(&json, p);
	if (p < json.end) {
		root = json_node(&json, p);
		p = root ? json_value(&json, p, root) : NULL;
	}
	while (p && json.open)
		p = json_step(&json, p);
	*used = json_offset(&json, p ? p : json.at);
	return p ? root : NULL;
}
