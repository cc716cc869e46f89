/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about the words of a command (words.c makes them): flags with
 * and without values, and commands by name or by path. A word that is not
 * known answers none of them.
 */
#include "kinds.h"

#include <string.h>

#include "base/text.h"

/* Do n bytes of a word spell the flag, with - and _ alike? */
static bool flag_is(const char *text, size_t n, const char *flag)
{
	size_t dashes = strspn(text, "-");

	if (dashes == 0 || dashes > n)
		return false;
	if (flag[0] != '-') {
		text += dashes;
		n -= dashes;
	}
	for (; n; n--, text++, flag++) {
		char a = *text == '_' ? '-' : *text;
		char b = *flag == '_' ? '-' : *flag;

		if (!b || a != b)
			return false;
	}
	return !*flag;
}

/* A word that cannot be a value: the next flag. */
static bool is_flag(const char *text)
{
	return text && text[0] == '-' && text[1] &&
	       !(text[1] >= '0' && text[1] <= '9') && text[1] != '.';
}

/*
 * The word that holds the flag's value when words[i] is the flag (value is
 * set then, NULL where it is not known), else NULL.
 */
static const struct word *flag_value(const struct words *words, size_t i,
				     const char *flag, const char **value)
{
	const struct word *word = &words->items[i];
	size_t n = word->text ? strcspn(word->text, "=") : 0;

	if (!n || !flag_is(word->text, n, flag))
		return NULL;
	if (word->text[n] == '=') {
		*value = word->unknown ? NULL : word->text + n + 1;
		return word;
	}
	/* A switch, or the value is missing. */
	if (i + 1 == words->n || is_flag(words->items[i + 1].text))
		return NULL;
	word++;
	*value = word->unknown ? NULL : word->text;
	return word;
}

const char *words_flag(const struct words *words, const char *flag,
		       const struct word **found)
{
	const char *value = NULL;

	if (found)
		*found = NULL;
	for (size_t i = 0; i < words->n; i++) {
		const struct word *word = flag_value(words, i, flag, &value);

		if (word && found)
			*found = word;
	}
	return value;
}

/* The word itself, or the last part of a path. */
static bool is_named(const struct word *word, const char *name)
{
	return text_eq(word->text, name) || text_eq(word->base, name);
}

bool words_have(const struct words *words, const char *wanted)
{
	for (size_t i = 0; i < words->n; i++) {
		const char *text = words->items[i].text;

		if (!text)
			continue;
		if (is_named(&words->items[i], wanted))
			return true;
		if (wanted[0] == '-' &&
		    flag_is(text, strcspn(text, "="), wanted))
			return true;
	}
	return false;
}

static bool is_one_of(const char *text, const char *const *names)
{
	for (; *names; names++)
		if (text_eq(*names, text))
			return true;
	return false;
}

bool words_have_name(const struct words *words, const char *const *names)
{
	for (size_t i = 0; i < words->n; i++) {
		const char *text = words->items[i].text;
		const char *base = words->items[i].base;

		if (text && (is_one_of(text, names) ||
			     (base != text && is_one_of(base, names))))
			return true;
	}
	return false;
}
