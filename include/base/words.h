/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of a command line, of the environment and of help: what the options
 * of both programs are made of. The tables and their parsers are each
 * program's own.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"

struct list {
	const char **items; /* NULL-terminated once it holds anything */
	size_t n, size;
};

void list_add(struct arena *arena, struct list *list, const char *item);
/* Each word between the separators. */
void list_split(struct arena *arena, struct list *list, const char *text,
		const char *separators);

/* Is it one of the words, which are separated by blanks? */
bool word_among(const char *words, const char *word);
/* 1 for yes, true, on and 1; 0 for their opposites and ""; else -1. */
int word_flag(const char *word);
/* GPUGATE_FAIL_ON for "GPUGATE_" and "fail-on"; out is a buffer of 64 bytes,
 * and option names are short. */
void word_variable(const char *prefix, const char *name, char *out);
/* Wrapped to 78 columns; every line behind indent blanks but the first, which
 * starts at column. A newline ends a paragraph. */
void words_wrap(struct buf *out, const char *text, size_t column,
		size_t indent);

#endif
