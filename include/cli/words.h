/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers for command lines, environment variables and help texts, used by the
 * options of both programs.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"

struct list {
	const char **items; /* NULL-terminated once it holds anything */
	size_t n, size;
};

void list_add(struct arena *arena, struct list *list, const char *item);
/* Appends each word between the separators. */
void list_split(struct arena *arena, struct list *list, const char *text,
		const char *separators);

/* True if word is one of the words, which are separated by blanks. */
bool word_among(const char *words, const char *word);
/* Returns 1 for yes, true, on and 1; 0 for their opposites and ""; else -1. */
int word_flag(const char *word);
/* Makes GPUGATE_FAIL_ON from "GPUGATE_" and "fail-on"; out has 64 bytes, enough
 * because option names are short. */
void word_variable(const char *prefix, const char *name, char *out);
/* Wraps to 78 columns. The first line starts at column; all others are indented
 * by indent blanks. A newline ends a paragraph. */
void words_wrap(struct buf *out, const char *text, size_t column,
		size_t indent);

#endif
