/* SPDX-License-Identifier: Apache-2.0 */
/* Creates types and converts them from and to text. */
#include "cel/value.h"

#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"

enum { FIELDS_MAX = 16 };

static const struct cel_type plain[];
#define PLAIN(k) [k] = {.kind = (k)}

static const struct cel_type plain[] = {
	PLAIN(CEL_NULL),
	PLAIN(CEL_BOOL),
	PLAIN(CEL_INT),
	PLAIN(CEL_UINT),
	PLAIN(CEL_DOUBLE),
	PLAIN(CEL_STRING),
	PLAIN(CEL_BYTES),
	[CEL_LIST] = {.kind = CEL_LIST, .params = {&plain[CEL_DYN]}},
	[CEL_MAP] = {.kind = CEL_MAP,
		     .params = {&plain[CEL_DYN], &plain[CEL_DYN]}},
	PLAIN(CEL_TYPE),
	PLAIN(CEL_TIMESTAMP),
	PLAIN(CEL_DURATION),
	[CEL_OPTIONAL] = {.kind = CEL_OPTIONAL, .params = {&plain[CEL_DYN]}},
	PLAIN(CEL_ERROR),
	PLAIN(CEL_UNKNOWN),
	PLAIN(CEL_DYN),
};

/* Names of kinds that do not depend on the type. */
static const struct kind_names {
	const char *signature; /* in signatures */
	const char *printed;   /* as cel-go checker/format.go prints it */
	const char *name;      /* of the type as a value */
} kind_names[] = {
	[CEL_NULL] = {"null", "null", "null_type"},
	[CEL_BOOL] = {"bool", "bool", "bool"},
	[CEL_INT] = {"int", "int", "int"},
	[CEL_UINT] = {"uint", "uint", "uint"},
	[CEL_DOUBLE] = {"double", "double", "double"},
	[CEL_STRING] = {"string", "string", "string"},
	[CEL_BYTES] = {"bytes", "bytes", "bytes"},
	[CEL_LIST] = {"list", "list", "list"},
	[CEL_MAP] = {"map", "map", "map"},
	[CEL_TYPE] = {"type", "type", "type"},
	[CEL_TIMESTAMP] = {"timestamp", "timestamp",
			   "google.protobuf.Timestamp"},
	[CEL_DURATION] = {"duration", "duration", "google.protobuf.Duration"},
	[CEL_OPTIONAL] = {"optional", "optional_type", "optional_type"},
	[CEL_ERROR] = {"!error!", "!error!", "error"},
	[CEL_UNKNOWN] = {"!unknown!", "unknown", "unknown"},
	[CEL_DYN] = {"dyn", "dyn", "dyn"},
};

const struct cel_type *cel_type_of_kind(enum cel_kind kind)
{
	if (kind > CEL_DYN || kind == CEL_OPAQUE || kind == CEL_OBJECT)
		BUG("kind %d is not a type of its own", kind);
	return &plain[kind];
}

const struct cel_type *cel_type_with(struct arena *arena, enum cel_kind kind,
				     const struct cel_type *a,
				     const struct cel_type *b)
{
	struct cel_type *type = ARENA_NEW(arena, struct cel_type);

	*type = (struct cel_type){.kind = kind, .params = {a, b}};
	return type;
}

const char *cel_type_name(const struct cel_type *type)
{
	return type->name ? type->name : kind_names[type->kind].name;
}

bool cel_type_same(const struct cel_type *a, const struct cel_type *b)
{
	if (a == b)
		return true;
	if (!a || !b || a->kind != b->kind || !text_eq(a->name, b->name))
		return false;
	for (int i = 0; i < CEL_TYPE_PARAMS; i++)
		if (!cel_type_same(a->params[i], b->params[i]))
			return false;
	return true;
}

/* --- texts --------------------------------------------------------------- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
	       c == '_' || c == '!';
}

static const struct cel_type *named(struct arena *arena, const char *word,
				    size_t len)
{
	struct cel_type *type = ARENA_NEW(arena, struct cel_type);
	bool capital = word[0] >= 'A' && word[0] <= 'Z';

	if (!capital && !memchr(word, '.', len))
		BUG("no type: %s", word);
	type->kind = capital && len == 1 ? CEL_PARAM : CEL_OPAQUE;
	type->name = arena_strndup(arena, word, len);
	return type;
}

static const struct cel_type *type_of_word(struct arena *arena,
					   const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_names); i++) {
		const char *name = kind_names[i].signature;

		if (name && strlen(name) == len && !memcmp(name, word, len))
			return &plain[i];
	}
	return named(arena, word, len);
}

const struct cel_type *cel_type_parse(struct arena *arena, const char **text)
{
	const char *word = *text;
	const struct cel_type *type, *params[CEL_TYPE_PARAMS] = {0};
	unsigned n = 0;

	/* The dot in the signature of a member function is not part of the
	 * receiver's type. */
	while (is_word(**text) && strncmp(*text, ".(", 2) != 0)
		++*text;
	type = type_of_word(arena, word, (size_t)(*text - word));
	if (**text != '(')
		return type;
	do {
		*text += 1 + strspn(*text + 1, " ");
		if (n == CEL_TYPE_PARAMS)
			BUG("no type: %s", word);
		params[n++] = cel_type_parse(arena, text);
	} while (**text == ',');
	if (**text != ')')
		BUG("no type: %s", word);
	++*text;
	return cel_type_with(arena, type->kind, params[0], params[1]);
}

const struct cel_type *cel_type_object(struct arena *arena,
				       const char *const *rows, unsigned row)
{
	struct cel_type *type = ARENA_NEW(arena, struct cel_type);
	struct cel_field *fields =
		ARENA_ARRAY(arena, struct cel_field, FIELDS_MAX);
	const char *text = rows[row];
	size_t len = strcspn(text, " ");

	*type = (struct cel_type){.kind = CEL_OBJECT,
				  .name = arena_strndup(arena, text, len),
				  .fields = fields};
	for (text += len; *text; fields++) {
		len = strcspn(++text, ":");
		fields->name = arena_strndup(arena, text, len);
		text += len + 1;
		if (*text != '@')
			fields->type = cel_type_parse(arena, &text);
		else
			fields->type = cel_type_object(arena, rows,
						       (unsigned)text[1] - '0');
		text += strcspn(text, " ");
	}
	return type;
}

const char *cel_type_text(struct arena *arena, const struct cel_type *type)
{
	const char *name =
		type->name ? type->name : kind_names[type->kind].printed;

	if (!type->params[0])
		return name;
	if (!type->params[1])
		return arena_printf(arena, "%s(%s)", name,
				    cel_type_text(arena, type->params[0]));
	return arena_printf(arena, "%s(%s, %s)", name,
			    cel_type_text(arena, type->params[0]),
			    cel_type_text(arena, type->params[1]));
}
