/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libraries of functions, and helpers that several of them need. Errors
 * equal those of cel-go 0.29 and Kubernetes 1.37, except for the messages about
 * rejected texts, which are gpugate's.
 */
#ifndef CEL_LIB_INTERNAL_H
#define CEL_LIB_INTERNAL_H

#include "cel/function.h"
#include "rules/cel/value/value_internal.h"

extern const struct cel_overload cel_operators_library[];
extern const struct cel_overload cel_conversions_library[];
extern const struct cel_overload cel_strings_library[];
extern const struct cel_overload cel_format_text_library[];
extern const struct cel_overload cel_regex_library[];
extern const struct cel_overload cel_lists_library[];
extern const struct cel_overload cel_aggregates_library[];
extern const struct cel_overload cel_optionals_library[];
extern const struct cel_overload cel_times_library[];
extern const struct cel_overload cel_time_fields_library[];
extern const struct cel_overload cel_urls_library[];
extern const struct cel_overload cel_addresses_library[];
extern const struct cel_overload cel_quantities_library[];
extern const struct cel_overload cel_semver_library[];
extern const struct cel_overload cel_named_formats_library[];
extern const struct cel_overload cel_authorizer_library[];

/* Returns the error "no such overload", for a value of a kind that the
 * signature allows as `dyn` but the function does not. */
struct cel_value cel_no_overload(const struct cel_call *call);
/* Returns the error "'x y' is not a URL", about the first argument. */
struct cel_value cel_is_not(const struct cel_call *call, const char *what);
/* Returns the error "type conversion error from ...", about the first
 * argument. */
struct cel_value cel_no_conversion(const struct cel_call *call, const char *to);
/* Moves the content of buf into a string of the arena and releases buf. */
struct cel_value cel_string_from(struct arena *arena, struct buf *buf);
struct cel_value cel_opaque(const struct cel_opaque_type *type,
			    const void *data);
/* Writes a text between double quotes. printable keeps printable characters,
 * like Go's %q. */
void cel_quote(struct cel_text text, bool printable, struct buf *out);
/* Returns a copy of the items of a list. If one of them is unknown or an error,
 * returns NULL and sets *abnormal, unless abnormal is NULL. */
struct cel_value *cel_items(const struct cel_call *call, struct cel_value list,
			    struct cel_value *abnormal);

/* Largest text that a function may build in one call; a larger one is an
 * error. */
enum { CEL_TEXT_MAX = 4 << 20 };

static inline struct cel_text cel_part(struct cel_text text, size_t start,
				       size_t end)
{
	return (struct cel_text){text.data + start, end - start};
}

static inline struct cel_value cel_string_part(struct cel_text text,
					       size_t start, size_t end)
{
	return cel_stringn(text.data + start, end - start);
}

/* True if values of this kind are ordered. */
static inline bool cel_is_ordered(struct cel_value value)
{
	return (value.kind >= CEL_BOOL && value.kind <= CEL_BYTES) ||
	       value.kind == CEL_TIMESTAMP || value.kind == CEL_DURATION;
}

void cel_timestamp_text(struct cel_time time, struct buf *out);
void cel_duration_text(struct cel_time time, struct buf *out);
/* Writes a double like Go's %g: the shortest text that is read as the same
 * number. */
void cel_double_text(double value, struct buf *out);
void cel_fixed_text(double value, struct buf *out); /* without an exponent */
/* Writes a value like %s of format(): as string() does, and lists and maps as
 * literals. Returns null, or the error if it has no text. */
struct cel_value cel_format_value(struct arena *arena, struct cel_value value,
				  struct buf *out);
/* Returns the text of %s for a message, or the name of the type if it has
 * none. */
const char *cel_value_text(struct arena *arena, struct cel_value value);

/* True if the text contains a match of regex, a constant pattern of the
 * program. */
bool cel_regex_matches(struct arena *arena, const char *regex,
		       struct cel_text text);
/* Returns the result of isGreaterThan(), isLessThan() or compareTo() for an
 * order. */
struct cel_value cel_order(const struct cel_call *call, int order);

int cel_hex_digit(int c); /* returns -1 for other characters */
/* Returns the number of decimal digits from a position on. */
size_t cel_digits_length(struct cel_text text, size_t at);
/* Reads a number of 64 bits; the text must contain only decimal digits. */
bool cel_digits(struct cel_text text, uint64_t *out);
/* Like cel_digits(), but the text may begin with a sign. */
bool cel_integer(struct cel_text text, int64_t *out);
/* Returns the position of a byte, or the length of the text. */
size_t cel_text_find(struct cel_text text, char byte);
/* True if part occurs in text at position `at`. */
bool cel_text_at(struct cel_text text, size_t at, const char *part);

#endif
