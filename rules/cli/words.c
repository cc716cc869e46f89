/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words as both programs read and print them. A list that is not empty ends in
 * NULL at any time, so that it can be passed to callers that do not use struct
 * list.
 */
#include "cli/words.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

enum { WIDTH = 78 };

void list_add(struct arena *arena, struct list *list, const char *item)
{
	*VEC_PUSH(arena, list->items, list->n, list->size) = item;
	*VEC_PUSH(arena, list->items, list->n, list->size) = NULL;
	list->n--; /* the next item replaces the NULL */
}

void list_split(struct arena *arena, struct list *list, const char *text,
		const char *separators)
{
	while (*text) {
		size_t len = strcspn(text, separators);

		if (len)
			list_add(arena, list, arena_strndup(arena, text, len));
		text += len;
		text += strspn(text, separators);
	}
}

bool word_among(const char *words, const char *word)
{
	size_t len = strlen(word);

	while (*words) {
		size_t n = strcspn(words, " ");

		if (n == len && !memcmp(words, word, n))
			return true;
		words += n;
		words += strspn(words, " ");
	}
	return false;
}

int word_flag(const char *word)
{
	static const char *const yes[] = {"1", "true", "yes", "on"};
	static const char *const no[] = {"", "0", "false", "no", "off"};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!strcmp(word, yes[i]))
			return 1;
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (!strcmp(word, no[i]))
			return 0;
	return -1;
}

void word_variable(const char *prefix, const char *name, char *out)
{
	out = stpcpy(out, prefix);
	for (; *name; name++)
		*out++ = *name == '-' ? '_'
				      : (char)toupper((unsigned char)*name);
	*out = '\0';
}

/* Wraps the words of one paragraph; returns its end. */
static const char *wrap_words(struct buf *out, const char *text, size_t column,
			      size_t indent)
{
	bool first = true;

	for (;;) {
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " \n");
		if (!len)
			return text;
		if (!first && column + 1 + len > WIDTH) {
			buf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, len);
		column += len;
		text += len;
		first = false;
	}
}

void words_wrap(struct buf *out, const char *text, size_t column, size_t indent)
{
	for (;;) {
		text = wrap_words(out, text, column, indent);
		buf_addc(out, '\n');
		if (!*text)
			return;
		text++;
		if (*text && *text != '\n')
			buf_addf(out, "%*s", (int)indent, "");
		column = indent;
	}
}
