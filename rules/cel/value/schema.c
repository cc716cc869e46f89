/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts values by an OpenAPI schema: the objects of custom resources in the
 * rules of their definition (apiserver pkg/cel/common/valuesunstructured.go).
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "value_internal.h"

static bool is_of(const struct node *schema, const char *type)
{
	return node_eq(node_get(schema, "type"), type);
}

/* --- names of properties ------------------------------------------------- */

static const struct {
	const char *text, *name;
} escapes[] = {
	{"__", "underscores"},
	{".", "dot"},
	{"-", "dash"},
	{"/", "slash"},
};

bool cel_is_reserved(const char *name)
{
	static const char *const words[] = {
		"true",	  "false",    "null",  "in",	  "as",	       "break",
		"const",  "continue", "else",  "for",	  "function",  "if",
		"import", "let",      "loop",  "package", "namespace", "return",
		"var",	  "void",     "while",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (text_eq(words[i], name))
			return true;
	}
	return false;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/*
 * Returns the index in escapes of the escape with which the text begins, or -1.
 */
static int escape_at(const char *s, size_t len)
{
	for (int i = 0; i < (int)ARRAY_SIZE(escapes); i++) {
		size_t n = strlen(escapes[i].text);

		if (n <= len && memcmp(s, escapes[i].text, n) == 0)
			return i;
	}
	return -1;
}

static char *put_text(char *at, const char *text)
{
	size_t len = strlen(text);

	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
	memcpy(at, text, len);
	return at + len;
}

/* Escapes the name of a property. A name that cannot be escaped stays
 * unchanged; expressions cannot use it. */
static struct cel_value escape(struct arena *arena, struct cel_text name)
{
	char *out, *at;

	if (cel_is_reserved(name.data))
		return cel_string(arena_printf(arena, "__%s__", name.data));
	at = out = arena_alloc(arena, name.len * 8 + 16);
	for (size_t i = 0; i < name.len;) {
		int e = escape_at(name.data + i, name.len - i);

		if (e < 0 && !is_plain(name.data[i]))
			return cel_stringn(name.data, name.len);
		if (e < 0) {
			*at++ = name.data[i++];
			continue;
		}
		at = put_text(put_text(put_text(at, "__"), escapes[e].name),
			      "__");
		i += strlen(escapes[e].text);
	}
	return cel_stringn(out, (size_t)(at - out));
}

/* Returns the text for the word of an escape, or NULL. */
static const char *meaning(const char *word, bool whole)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		if (text_eq(word, escapes[i].name))
			return escapes[i].text;
	}
	return whole && cel_is_reserved(word) ? word : NULL;
}

/* Decodes an escaped name. Returns false if an escape is invalid. */
static bool unescape(struct arena *arena, struct cel_text key,
		     struct cel_text *out)
{
	char *text = arena_alloc(arena, key.len + 1), *at = text;

	for (size_t i = 0; i < key.len;) {
		size_t end = i + 2;
		const char *word, *stands_for;

		while (end < key.len && key.data[end] != '_')
			end++;
		if (end - i < 3 || end + 2 > key.len || key.data[i] != '_' ||
		    key.data[i + 1] != '_' || key.data[end + 1] != '_') {
			*at++ = key.data[i++];
			continue;
		}
		word = arena_strndup(arena, key.data + i + 2, end - i - 2);
		stands_for = meaning(word, end + 2 - i == key.len);
		if (!stands_for)
			return false;
		at = put_text(at, stands_for);
		i = end + 2;
	}
	*out = (struct cel_text){text, (size_t)(at - text)};
	return true;
}

/* --- lists and maps ------------------------------------------------------ */

const struct node *cel_schema_item(const struct node *schema)
{
	return node_get(schema, "items");
}

const struct node *cel_schema_field(const struct node *schema,
				    const char *field)
{
	const struct node *more, *properties;

	if (!schema)
		return NULL;
	properties = node_get(schema, "properties");
	more = node_get(schema, "additionalProperties");
	return properties	   ? node_get(properties, field)
	       : node_is_map(more) ? more
				   : NULL;
}

struct cel_value cel_schema_key(struct arena *arena, const struct node *schema,
				const struct node *child)
{
	struct cel_text key = {child->key, child->key_len};

	if (node_get(schema, "properties"))
		return escape(arena, key);
	return cel_stringn(key.data, key.len);
}

const struct node *cel_schema_find(struct arena *arena,
				   const struct node *schema,
				   const struct node *map, struct cel_text key)
{
	bool object = node_get(schema, "properties");
	const struct node *found;

	if (object && memmem(key.data, key.len, "__", 2) &&
	    !unescape(arena, key, &key))
		return NULL;
	found = node_getn(map, key.data, key.len);
	if (!schema || !found)
		return found;
	if (object && node_known(found, NODE_NULL))
		return NULL;
	return cel_schema_field(schema, found->key) ? found : NULL;
}

bool cel_schema_unordered(const struct node *schema, const struct node **keys)
{
	const struct node *type = node_get(schema, "x-kubernetes-list-type");

	*keys = NULL;
	if (node_eq(type, "map"))
		*keys = node_get(schema, "x-kubernetes-list-map-keys");
	return *keys || node_eq(type, "set");
}

/* --- scalars ------------------------------------------------------------- */

static struct cel_value from_date(struct arena *arena, struct cel_text text)
{
	struct cel_value value = {.kind = CEL_TIMESTAMP};

	if (text.len != 10 || !cel_date_parse(text, &value.time.seconds))
		return cel_error(arena, "Invalid date formatted string %s",
				 text.data);
	return value;
}

static struct cel_value from_date_time(struct arena *arena,
				       struct cel_text text)
{
	struct cel_value value = {.kind = CEL_TIMESTAMP};

	if (text.len && (!cel_timestamp_parse(text, &value.time) ||
			 !cel_timestamp_valid(value.time)))
		return cel_error(arena, "Invalid date-time formatted string %s",
				 text.data);
	return value;
}

static struct cel_value from_duration(struct arena *arena, struct cel_text text)
{
	int64_t nanos;

	if (!cel_duration_parse(text, &nanos))
		return cel_error(arena, "Invalid duration %s", text.data);
	return cel_duration(nanos);
}

static int digit64(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes base64 in the URL alphabet with padding, like strfmt.Base64. */
static struct cel_value from_base64(struct arena *arena, struct cel_text text)
{
	char *out = arena_alloc(arena, text.len / 4 * 3 + 1);
	size_t n = 0, len = text.len;
	unsigned bits = 0;

	while (len && text.len - len < 2 && text.data[len - 1] == '=')
		len--;
	for (size_t i = 0; i < len; i++) {
		int digit = digit64(text.data[i]);

		if (digit < 0 || text.len % 4)
			return cel_error(arena,
					 "Invalid byte formatted string %s",
					 text.data);
		bits = bits << 6 | (unsigned)digit;
		if (i % 4)
			out[n++] = (char)(bits >> (6 - i % 4 * 2));
	}
	return (struct cel_value){.kind = CEL_BYTES, .text = {out, n}};
}

static struct cel_value from_string(struct arena *arena,
				    const struct node *node,
				    const struct node *schema)
{
	const struct node *format = node_get(schema, "format");
	struct cel_text text = {node->str, node->len};

	if (node_eq(format, "date-time"))
		return from_date_time(arena, text);
	if (node_eq(format, "date"))
		return from_date(arena, text);
	if (node_eq(format, "duration"))
		return from_duration(arena, text);
	if (node_eq(format, "byte"))
		return from_base64(arena, text);
	return cel_stringn(text.data, text.len);
}

static struct cel_value invalid(struct arena *arena, const char *expected)
{
	return cel_error(arena, "invalid data, expected %s", expected);
}

static struct cel_value from_scalar(struct arena *arena,
				    const struct node *node,
				    const struct node *schema)
{
	struct cel_value json = cel_from_node(arena, node, NULL);

	if (is_of(schema, "string"))
		return json.kind == CEL_STRING
			       ? from_string(arena, node, schema)
			       : invalid(arena, "string");
	if (is_of(schema, "boolean"))
		return json.kind == CEL_BOOL ? json : invalid(arena, "bool");
	if (is_of(schema, "integer"))
		return json.kind == CEL_INT ? json : invalid(arena, "int");
	if (is_of(schema, "number")) {
		if (json.kind == CEL_INT)
			return cel_double((double)json.integer);
		return json.kind == CEL_DOUBLE ? json : invalid(arena, "float");
	}
	/* a field that is preserved without a schema can only be compared */
	return json;
}

struct cel_value cel_from_schema(struct arena *arena, const struct node *node,
				 const struct node *schema)
{
	bool either =
		node_is_true(node_get(schema, "x-kubernetes-int-or-string"));

	if (node->type == NODE_NULL)
		return node_is_true(node_get(schema, "nullable"))
			       ? cel_null()
			       : cel_error(arena, "invalid data, got null for "
						  "schema with nullable=false");
	if (either && node->type != NODE_STRING && node->type != NODE_INT)
		return invalid(arena, "XIntOrString value to be either a "
				      "string or integer");
	if (either)
		return cel_from_node(arena, node, NULL);
	if (is_of(schema, "object"))
		return node->type == NODE_MAP
			       ? cel_items_of_node(arena, node, schema)
			       : invalid(arena, "a map for the provided schema "
						"with type=object");
	if (is_of(schema, "array"))
		return node->type == NODE_SEQ
			       ? cel_items_of_node(arena, node, schema)
			       : invalid(arena,
					 "an array for the provided schema "
					 "with type=array");
	return from_scalar(arena, node, schema);
}
