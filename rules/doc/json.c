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
		       const struct json_token *span, const char *text)
{
	struct load_issue issue = {
		.kind = kind,
		.start = json_offset(json, span->start),
		.end = json_offset(json, span->end),
		.text = text,
	};

	if (json->loader->issue)
		json->loader->issue(json->loader->context, &issue);
}

bool json_refuse(struct json *json, const char *start, const char *end,
		 const char *text)
{
	struct json_token span = {.start = start, .end = end};

	json_issue(json, LOAD_SYNTAX, &span, text);
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

static bool json_refuse_open(struct json *json)
{
	const char *start = json->text + json->open->start;

	return json_refuse(json, start, start + 1,
			   node_is_map(json->open)
				   ? "object is not closed before the text ends"
				   : "list is not closed before the text ends");
}

/* The next byte that is no white space, or -1 at the end. */
static int json_peek(struct json *json)
{
	const char *p = json->at;

	while (p < json->end &&
	       (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
		p++;
	json->at = p;
	return p < json->end ? (unsigned char)*p : -1;
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

static bool json_text(struct json *json, struct node *node)
{
	struct json_token token;

	if (!scan_json_string(json, &token))
		return false;
	node->type = NODE_STRING;
	node->flags = NODE_QUOTED;
	node->str = token.str;
	node->len = token.len;
	return true;
}

static bool json_open(struct json *json, struct node *node, enum node_type type)
{
	uint32_t limit = json->loader->limits->depth;

	if (json->depth >= limit)
		return json_refuse_at(
			json, json->at,
			arena_printf(json->loader->arena,
				     "nested deeper than %u levels", limit));
	json->depth++;
	node->type = type;
	node->flags = NODE_FLOW;
	json->open = node;
	json->fresh = true;
	json->at++;
	return true;
}

static void json_close(struct json *json)
{
	json->at++;
	json->open->end = json_offset(json, json->at);
	json->open = json->open->parent;
	json->depth--;
	json->fresh = false;
}

/* The value at json->at; a map or seq is only opened. */
static bool json_value(struct json *json, struct node *node)
{
	bool good;

	node->start = json_offset(json, json->at);
	json->fresh = false;
	switch (*json->at) {
	case '{':
		return json_open(json, node, NODE_MAP);
	case '[':
		return json_open(json, node, NODE_SEQ);
	case '"':
		good = json_text(json, node);
		break;
	default:
		good = starts_number(*json->at) ? scan_json_number(json, node)
						: json_word(json, node);
	}
	if (!good)
		return false;
	node->end = json_offset(json, json->at);
	return true;
}

static struct node *json_node(struct json *json)
{
	uint32_t limit = json->loader->limits->nodes;

	if (json->nodes >= limit) {
		json_refuse_at(json, json->at,
			       arena_printf(json->loader->arena,
					    "more than %u values", limit));
		return NULL;
	}
	json->nodes++;
	return node_new(json->loader->arena, NODE_NULL);
}

static bool json_item(struct json *json)
{
	struct node *node = json_node(json);

	if (!node)
		return false;
	node->key_start = node->key_end = json_offset(json, json->at);
	node_append(json->open, node);
	return json_value(json, node);
}

/*
 * The node for a key. A key that is there already gives up its value and
 * keeps its place, so that n repetitions cost no more than n keys.
 */
static struct node *json_member(struct json *json, const struct json_token *key)
{
	struct arena *arena = json->loader->arena;
	struct node *old = node_find(arena, json->open, key->str, key->len);
	struct node *node = json_node(json);

	if (!node)
		return NULL;
	if (old) {
		json_issue(json, LOAD_DUPLICATE_KEY, key,
			   "key is given twice: the last value counts");
		node->key = old->key;
		node->key_len = old->key_len;
		node->index = old->index;
		node->next = old->next;
		node->parent = old->parent;
		*old = *node;
		node = old;
	} else {
		node->key = key->str;
		node->key_len = key->len;
		node_append(json->open, node);
	}
	node->key_start = json_offset(json, key->start);
	node->key_end = json_offset(json, key->end);
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

/* Move behind the value at json->at without a look at what it is. */
static bool json_skip(struct json *json)
{
	const char *p = json->at;
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
	json->at = p;
	json->fresh = false;
	return p < json->end || json_refuse_open(json);
}

static bool json_skips(const struct json *json, const struct json_token *key)
{
	const struct loader *loader = json->loader;

	return loader->skip &&
	       loader->skip(loader->context, json->open, key->str, key->len);
}

static bool json_pair(struct json *json)
{
	struct json_token key;
	struct node *node;
	int c = json_peek(json);

	if (c != '"')
		return json_refuse_at(json, json->at,
				      "expected a key in double quotes");
	if (!scan_json_string(json, &key))
		return false;
	c = json_peek(json);
	if (c < 0)
		return json_refuse_open(json);
	if (c != ':')
		return json_refuse_at(json, json->at,
				      "expected ':' after a key");
	json->at++;
	if (json_peek(json) < 0)
		return json_refuse_open(json);
	if (json_skips(json, &key))
		return json_skip(json);
	node = json_member(json, &key);
	return node && json_value(json, node);
}

/* One more value inside of the innermost map or seq, or its end. */
static bool json_step(struct json *json)
{
	bool map = json->open->type == NODE_MAP;
	int c = json_peek(json);
	const char *comma = json->at;

	if (c == (map ? '}' : ']')) {
		json_close(json);
		return true;
	}
	if (c >= 0 && !json->fresh) {
		if (c != ',')
			return json_refuse_at(
				json, comma,
				map ? "expected ',' or '}' after a value of "
				      "the object"
				    : "expected ',' or ']' after an item of "
				      "the list");
		json->at++;
		c = json_peek(json);
		if (c == '}' || c == ']')
			return json_refuse(json, comma, comma + 1,
					   "comma behind the last value");
	}
	if (c < 0)
		return json_refuse_open(json);
	return map ? json_pair(json) : json_item(json);
}

struct node *json_read(struct loader *loader, uint32_t start, uint32_t end,
		       uint32_t *used)
{
	const char *text = loader->source->text;
	struct json json = {
		.loader = loader,
		.text = text,
		.at = text + start,
		.end = text + end,
	};
	struct node *root = NULL;
	bool good = true;

	*used = start;
	if (start == end)
		return NULL;
	if (json_peek(&json) >= 0) {
		root = json_node(&json);
		good = root && json_value(&json, root);
	}
	while (good && json.open)
		good = json_step(&json);
	*used = json_offset(&json, json.at);
	return good ? root : NULL;
}
