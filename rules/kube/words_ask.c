/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about the words of a command (words.c makes them): flags with
 * and without values, and commands by name or by path. A word that is not
 * known answers none of them.
 */
#include "kinds.h"

#include <string.h>

#include "base/text.h"

const char *base_name(const char *text)
{
	const char *slash = strrchr(text, '/');

	return slash ? slash + 1 : text;
}

/* -- beginnings ---------------------------------------------------------- */

/* Of the first two letters. */
static inline uint64_t start_bit(const char *text)
{
	unsigned first = (unsigned char)text[0];
	unsigned second = first ? (unsigned char)text[1] : 0;

	return UINT64_C(1) << ((first * 5 + second * 3) & 63);
}

/* The same of a flag's name, which may end in "=value". */
static uint64_t flag_bit(const char *flag)
{
	char start[2] = "";

	while (*flag == '-' || *flag == '_')
		flag++;
	for (int i = 0; i < 2 && flag[i] && flag[i] != '='; i++)
		start[i] = flag[i] == '_' ? '-' : flag[i];
	return start_bit(start);
}

struct words words_finish(struct words words)
{
	for (size_t i = 0; i < words.n; i++) {
		struct word *word = &words.items[i];

		if (!word->text)
			continue;
		word->base = base_name(word->text);
		words.starts |= start_bit(word->text) | start_bit(word->base);
		if (*word->text == '-' || *word->base == '-')
			words.flags |=
				flag_bit(word->text) | flag_bit(word->base);
	}
	return words;
}

static bool may_have(const struct words *words, const char *name)
{
	return *name == '-' ? words->flags & flag_bit(name)
			    : words->starts & start_bit(name);
}

/* -- questions ----------------------------------------------------------- */

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
	if (!(words->flags & flag_bit(flag)))
		return NULL;
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
	return text_eq(word->text, name) ||
	       (word->base != word->text && text_eq(word->base, name));
}

bool words_have(const struct words *words, const char *wanted)
{
	if (!may_have(words, wanted))
		return false;
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

bool words_have_name(const struct words *words, const char *const *names)
{
	for (; *names; names++)
		if (words->starts & start_bit(*names) &&
		    words_have(words, *names))
			return true;
	return false;
}
