/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the files of this folder share. */
#ifndef CEL_VALUE_INTERNAL_H
#define CEL_VALUE_INTERNAL_H

#include "cel/value.h"

/* Makes a list or map from the children of a seq or map, which must be
 * known. */
struct cel_value cel_items_of_node(struct arena *arena, const struct node *node,
				   const struct node *schema);

/* True for a word that cannot be the name of a variable (cel-go
 * parser/parser.go). */
bool cel_is_reserved(const char *name);
static inline bool cel_is_number(struct cel_value v)
{
	return v.kind == CEL_INT || v.kind == CEL_UINT || v.kind == CEL_DOUBLE;
}

/* Returns the integer that is exactly equal to a number. Returns false if there
 * is none of 64 bits. */
__extension__ bool cel_whole(struct cel_value key, __int128 *out);
/*
 * Converts a known node by its OpenAPI schema (apiserver
 * pkg/cel/common/valuesunstructured.go). Returns an error if the schema does
 * not match.
 */
struct cel_value cel_from_schema(struct arena *arena, const struct node *node,
				 const struct node *schema);
/* Return the schema of a list's items, or of a map's field; NULL if there is
 * none. schema may be NULL. */
const struct node *cel_schema_item(const struct node *schema);
const struct node *cel_schema_field(const struct node *schema,
				    const char *field);
/* Returns a map's child for a CEL key, or NULL if there is none. */
const struct node *cel_schema_find(struct arena *arena,
				   const struct node *schema,
				   const struct node *map, struct cel_text key);
/* True for a list of type `set` or `map`, whose order does not matter. Sets
 * *keys to the names of the fields that identify items, or to NULL. */
bool cel_schema_unordered(const struct node *schema, const struct node **keys);
/* True if two items of a list of type `map` have the same keys. */
bool cel_same_keys(struct arena *arena, struct cel_value a, struct cel_value b,
		   const struct node *keys);

/* Conversions of times and durations from and to the forms that Go uses. */

/* Converts a duration to nanoseconds, which fit into 64 bits, as in cel-go. */
int64_t cel_duration_nanos(struct cel_time duration);
struct cel_value cel_duration(int64_t nanos);
/* Parse the texts that time.ParseDuration() and time.RFC3339 accept. */
bool cel_duration_parse(struct cel_text text, int64_t *nanos);
bool cel_timestamp_parse(struct cel_text text, struct cel_time *out);
/* True for times in the years 1 to 9999. */
bool cel_timestamp_valid(struct cel_time time);
/* Reads a date "2006-01-02" (10 bytes) at the start of a text. Returns false if
 * it does not exist. */
bool cel_date_parse(struct cel_text text, int64_t *seconds);

#endif
