/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON directly to a buffer, without a tree. The caller opens and closes
 * in pairs; commas are added automatically. Control characters and hidden
 * characters are written as escapes, which leaves the value unchanged, because
 * people also read JSON in terminals.
 */
#ifndef BASE_JSON_STREAM_H
#define BASE_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Begins a map or a list. bracket is '{' or '['. key is NULL for an item of a
 * list and for the outermost value. */
void stream_open(struct buf *out, const char *key, char bracket);
void stream_close(struct buf *out, char bracket);
/* Begins a member whose value the caller adds. */
void stream_key(struct buf *out, const char *key);
/* Add a string. Bytes that are not UTF-8 (a path may contain any) become
 * U+FFFD. */
void stream_text(struct buf *out, const char *key, const char *s);
void stream_bytes(struct buf *out, const char *key, const char *s, size_t len);
void stream_int(struct buf *out, const char *key, int64_t value);
void stream_bool(struct buf *out, const char *key, bool value);
/* Adds a number as a text of 16 hexadecimal digits. */
void stream_hex(struct buf *out, const char *key, uint64_t value);
/* Adds a value that is compact JSON already. */
void stream_json(struct buf *out, const char *key, const char *json);

/* Largest size of a character in a string, a pair of escapes and a NUL. */
enum { STREAM_CHARACTER = 13 };
/* Writes the first character of s (len > 0) to out; returns its length in
 * s. */
size_t stream_character(const char *s, size_t len, char out[STREAM_CHARACTER]);

#endif
