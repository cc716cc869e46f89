/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of the Common Expression Language. A type is immutable; it lives in
 * the arena of the environment or of the program that made it, and those
 * without parameters are constants. Texts are as cel-go prints them:
 * `list(int)`, `map(string, dyn)`, `optional_type(string)`.
 */
#ifndef CEL_TYPE_H
#define CEL_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

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

#endif
