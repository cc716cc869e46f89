/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions on words, used by the options, environment variables and help texts
 * of both programs.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"

struct list {
	const char **items; /* NULL-terminated unless empty */
	size_t n, size;
};

void list_add(struct arena *arena, struct list *list, const char *item);
/* Appends each word between the separators. */
void list_split(struct arena *arena, struct list *list, const char *text,
		const char *separators);

/* True if word is one of the words, which are separated by blanks. */
bool word_among(const char *words, const char *word);
/* Returns 1 for yes, true, on and 1, and 0 for no, false, off, 0 and "".
 * Returns -1 for other words. */
int word_flag(const char *word);
/* Makes GPUGATE_FAIL_ON from "GPUGATE_" and "fail-on". out has 64 bytes, enough
 * for every option name. */
void word_variable(const char *prefix, const char *name, char *out);
/* Wraps text to 78 columns. The first line starts at column; the others are
 * indented by `indent` blanks. A newline ends a paragraph. */
void words_wrap(struct buf *out, const char *text, size_t column,
		size_t indent);

#endif
