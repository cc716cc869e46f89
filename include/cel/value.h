/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the Common Expression Language: small, passed by value. The data
 * that they point to is immutable and lives in the arena of the evaluation or
 * longer (documents, constants of the program). Errors and unknowns are values:
 * a function is called only if none of its arguments is one.
 *
 * A value that was read from a document keeps its node when it is compared,
 * passed on or put into a list, so that a failing rule can report its line. A
 * computed value has none.
 */
#ifndef CEL_VALUE_H
#define CEL_VALUE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/node.h"

/*
 * Types of the Common Expression Language. A type is immutable; it lives in
 * the arena of the environment or of the program that made it, and those
 * without parameters are constants. Texts are as cel-go prints them:
 * `list(int)`, `map(string, dyn)`, `optional_type(string)`.
 */

/* Kinds of values; from CEL_DYN on, kinds that only types can have. */
enum cel_kind {
	CEL_NULL,
	CEL_BOOL,
	CEL_INT,
	CEL_UINT,
	CEL_DOUBLE,
	CEL_STRING,
	CEL_BYTES,
	CEL_LIST,
	CEL_MAP,
	CEL_TYPE,
	CEL_TIMESTAMP,
	CEL_DURATION,
	CEL_OPTIONAL,
	CEL_OPAQUE, /* quantities, addresses, URLs, ...: known by the
		       type's name */
	CEL_OBJECT, /* fields declared by the host: `gpugate`, `variables` */
	CEL_ERROR,
	CEL_UNKNOWN,
	CEL_DYN,   /* types only: any kind, checked at run time */
	CEL_PARAM, /* types only: `A` of a signature */
};

enum { CEL_TYPE_PARAMS = 2 };

struct cel_field {
	const char *name;
	const struct cel_type *type;
};

struct cel_type {
	enum cel_kind kind;
	/* name of an opaque type, object or parameter, or NULL */
	const char *name;
	/* Parameters: one for a list or optional, key and value for a map, one
	 * or none for a type. */
	const struct cel_type *params[CEL_TYPE_PARAMS];
	const struct cel_field *fields; /* for an object; ends with {0} */
};

/* Returns the type of this kind without parameters: list(dyn) for CEL_LIST,
 * map(dyn, dyn) for CEL_MAP. */
const struct cel_type *cel_type_of_kind(enum cel_kind kind);
/* Returns a type with parameters: a map of a to b, or a list, optional or type
 * of a (b is NULL). */
const struct cel_type *cel_type_with(struct arena *arena, enum cel_kind kind,
				     const struct cel_type *a,
				     const struct cel_type *b);
/* Returns the name of the type as a value, without parameters:
 * `google.protobuf.Timestamp`, `list`, `null_type`, `net.IP`. */
const char *cel_type_name(const struct cel_type *type);
/* True if the types are equal, including all parameters. */
bool cel_type_same(const struct cel_type *a, const struct cel_type *b);
/*
 * Reads a type from a text: `int`, `list(string)`, `map(string,dyn)`,
 * `optional(A)`, `type(A)`, `timestamp`, `duration`, `A` (a capital letter is a
 * parameter). Any other name with a dot or a capital is an opaque type
 * (`kubernetes.Quantity`, `net.IP`). Advances *text past the type. Calls BUG()
 * on anything else, because only gpugate writes these texts.
 */
const struct cel_type *cel_type_parse(struct arena *arena, const char **text);
/* Returns an object type described by a row: its name, then fields such as
 * ` labels:map(string,string)`. A field type `@N` is the type of row N. */
const struct cel_type *cel_type_object(struct arena *arena,
				       const char *const *rows, unsigned row);
const char *cel_type_text(struct arena *arena, const struct cel_type *type);

/* Text or bytes, not NUL-terminated. Strings are valid UTF-8; sizes and indexes
 * in the language count code points. */
struct cel_text {
	const char *data;
	size_t len;
};

/* Time since the epoch, or a duration; 0 <= nanos < 1e9, for a negative
 * duration too (-0.5 s is -1 s + 5e8 ns). */
struct cel_time {
	int64_t seconds;
	int32_t nanos;
	/* Time zone in which a timestamp was written, in seconds east of UTC.
	 * Only its text shows the zone. */
	int32_t offset;
};

struct cel_value;
struct cel_eval;

/* Operations of an opaque type, one constant for each type. */
struct cel_opaque_type {
	struct cel_type type;
	bool (*equal)(const void *a, const void *b);
	uint64_t (*size)(
		const void *data); /* for costs (NULL: the size is 1) */
};

struct cel_value {
	enum cel_kind kind;
	union {
		bool boolean;
		int64_t integer;
		uint64_t uinteger;
		double real;
		struct cel_text text; /* string, bytes, message of an error */
		const struct cel_items *list;
		const struct cel_items *map; /* map, object */
		const struct cel_type *type;
		struct cel_time time;		  /* timestamp, duration */
		const struct cel_value *optional; /* NULL: optional.none() */
		struct {
			const struct cel_opaque_type *type;
			const void *data;
		} opaque;
	};
	/* Source of the value, or NULL. For an unknown value: the placeholder,
	 * or NULL if an input is missing. */
	const struct node *node;
};

/* The child that was read last, so that reading children in order needs no
 * search. A list or map over nodes belongs to one evaluation, hence to one
 * thread. */
struct cel_cursor {
	const struct node *node;
	size_t index;
};

struct cel_entry {
	struct cel_value key, value;
};

/*
 * The items of a list or map: nodes of a document, which are converted when
 * they are read, or values. schema is the node's OpenAPI schema if the object's
 * kind has one (CRDs). It determines timestamps, durations, bytes,
 * int-or-string, and lists of type set and map; without it the JSON types
 * apply.
 */
struct cel_items {
	const struct node *node; /* a seq or a map, or NULL */
	const struct node *schema;
	size_t n;
	struct cel_cursor *cursor; /* if node is not NULL */
	/* Items of a list or entries of a map, if node and field are NULL. */
	const struct cel_value *values;
	const struct cel_entry *entries;
	const uint32_t *index; /* hash index of the keys, for large maps only */
	/*
	 * Reads a field of an object whose fields the host computes on demand
	 * (`variables`, `gpugate`); set only in values of kind CEL_OBJECT. Sets
	 * *out and returns true, or returns false if the object lacks the
	 * field.
	 */
	bool (*field)(struct cel_eval *eval, void *context,
		      struct cel_text name, struct cel_value *out);
	/* Stores the nodes that decide the result of field(), as
	 * cel_eval_blame() does. NULL: the node of the value decides. */
	size_t (*blame)(void *context, struct cel_text name,
			const struct node **nodes, size_t max);
	void *context;
};

/* --- making values ------------------------------------------------------- */

static inline struct cel_value cel_bool(bool b)
{
	return (struct cel_value){.kind = CEL_BOOL, .boolean = b};
}

static inline struct cel_value cel_int(int64_t i)
{
	return (struct cel_value){.kind = CEL_INT, .integer = i};
}

static inline struct cel_value cel_uint(uint64_t u)
{
	return (struct cel_value){.kind = CEL_UINT, .uinteger = u};
}

static inline struct cel_value cel_double(double d)
{
	return (struct cel_value){.kind = CEL_DOUBLE, .real = d};
}

/* Refers to the bytes without copying them. */
static inline struct cel_value cel_stringn(const char *data, size_t len)
{
	return (struct cel_value){.kind = CEL_STRING, .text = {data, len}};
}

static inline struct cel_value cel_null(void)
{
	return (struct cel_value){.kind = CEL_NULL};
}

static inline struct cel_value cel_unknown(const struct node *node)
{
	return (struct cel_value){.kind = CEL_UNKNOWN, .node = node};
}

struct cel_value cel_string(const char *text); /* the text is not copied */
/* Return a list or map of items, which are not copied. */
struct cel_value cel_list(struct arena *arena, const struct cel_value *items,
			  size_t n);
struct cel_value cel_map(struct arena *arena, const struct cel_entry *entries,
			 size_t n);
/* A map under construction, initially zero. Earlier entries stay valid when it
 * grows. */
struct cel_map_builder {
	struct cel_entry *entries;
	uint32_t *index;
	size_t n, size;
};
/* Adds an entry and returns true. Returns false if the key exists already; with
 * replace, its value is then replaced. With replace, keys of different kinds (1
 * and 1u) are different, as in a literal. */
bool cel_map_put(struct arena *arena, struct cel_map_builder *builder,
		 struct cel_entry entry, bool replace);
struct cel_value cel_map_built(struct arena *arena,
			       const struct cel_map_builder *builder);
/* Returns an optional with a copy of the value. */
struct cel_value cel_optional(struct arena *arena, struct cel_value value);
struct cel_value cel_optional_none(void);
struct cel_value cel_error(struct arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Converts a node: as apimachinery reads JSON into unstructured (an integer
 * beyond 64 bits is a double), or as the schema says. A placeholder is unknown.
 * NULL gives null.
 */
struct cel_value cel_from_node(struct arena *arena, const struct node *node,
			       const struct node *schema);

/* Returns the CEL key for a child of a map, or of its `properties`, whose names
 * are escaped (apiserver pkg/cel/escaping.go). */
struct cel_value cel_schema_key(struct arena *arena, const struct node *schema,
				const struct node *child);

/* --- reading values ------------------------------------------------------ */

static inline bool cel_is(struct cel_value v, enum cel_kind kind)
{
	return v.kind == kind;
}

static inline bool cel_is_true(struct cel_value v)
{
	return v.kind == CEL_BOOL && v.boolean;
}

static inline bool cel_is_false(struct cel_value v)
{
	return v.kind == CEL_BOOL && !v.boolean;
}

/* True for an error or unknown, which functions never receive. */
static inline bool cel_is_abnormal(struct cel_value v)
{
	return v.kind == CEL_ERROR || v.kind == CEL_UNKNOWN;
}

/* Returns the number of items of a list or of entries of a map. */
static inline size_t cel_size(struct cel_value v)
{
	return v.list->n;
}

/* Returns item i (i < size). Items of a document's list keep their nodes. */
struct cel_value cel_list_at(struct arena *arena, struct cel_value list,
			     size_t i);
/* Returns the items of both lists as one list; an error beyond a million items.
 * In a list of type set or map, an item of b replaces the item of a with the
 * same value or keys. */
struct cel_value cel_list_add(struct arena *arena, struct cel_value a,
			      struct cel_value b);
/* Returns entry i in the document's order (i < size). */
struct cel_entry cel_map_at(struct arena *arena, struct cel_value map,
			    size_t i);
/* Finds the value of a key; keys compare as in the language (1 == 1u == 1.0).
 * Returns false if there is none. */
bool cel_map_find(struct arena *arena, struct cel_value map,
		  struct cel_value key, struct cel_value *out);
/* Evaluates `==`: returns a bool, or unknown if it depends on a placeholder.
 * Numbers compare across types; values of different other types are unequal. */
struct cel_value cel_equal(struct arena *arena, struct cel_value a,
			   struct cel_value b);
/* Compares two numbers, strings, bytes, bools or times; sets *order to <0, 0 or
 * >0. Returns false if they cannot be ordered (NaN, different types). */
bool cel_compare(struct cel_value a, struct cel_value b, int *order);
/* Returns the type of a value, as type() does. */
const struct cel_type *cel_type_of(struct cel_value value);
/* Returns the number of code points. */
size_t cel_text_size(struct cel_text text);
bool cel_text_eq(struct cel_text text, const char *other);

#endif
