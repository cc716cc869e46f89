/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds secret values in text that is not parsed: documents that cannot be
 * read, scripts, manifests inside strings, comments. Names are found by their
 * underscores. A text after or next to a name counts as its value if it looks
 * like one; in doubt it is masked.
 */
#include <ctype.h>
#include <string.h>

#include "kube/secret/secret.h"

enum {
	NAME_MOST = 128,
	/* most bytes between a value and the name after it */
	BEHIND_MOST = 4096,
	/* shortest text without a digit that may be a secret */
	RANDOM_LEAST = 20,
	VALUE_MOST = 16384, /* longest value in bytes */
	/* bytes of a line that are read around each name on it, which limits
	 * the work for long lines with many names */
	LINE_MOST = VALUE_MOST + 1,
	/* shortest credential that is masked in other texts */
	CREDENTIAL_LEAST = 8,
};

struct text {
	const char *s;
	size_t len;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static char char_at(const struct text *text, size_t at)
{
	return at < text->len ? text->s[at] : '\0';
}

static size_t skip_among(const struct text *text, size_t at, const char *among)
{
	while (at < text->len && text->s[at] && strchr(among, text->s[at]))
		at++;
	return at;
}

static size_t skip_line(const struct text *text, size_t at)
{
	size_t end = at + LINE_MOST < text->len ? at + LINE_MOST : text->len;
	const char *lf = at < end ? memchr(text->s + at, '\n', end - at) : NULL;

	return lf ? (size_t)(lf - text->s) : end;
}

/* --- values -------------------------------------------------------------- */

/* True for a text with a digit, a long text, or one with the prefix of a token.
 * False for code, which contains names of variables as well:
 * `HF_TOKEN=os.environ[...]`. */
static bool looks_random(const char *s, size_t len)
{
	if (memchr(s, '(', len) || memchr(s, '[', len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (isdigit((unsigned char)s[i]))
			return true;
	return len >= RANDOM_LEAST || secret_prefix(s, len);
}

static size_t indent_at(const struct text *text, size_t at)
{
	size_t low = at > LINE_MOST ? at - LINE_MOST : 0;
	const char *lf = memrchr(text->s + low, '\n', at - low);
	size_t start = lf ? (size_t)(lf - text->s) + 1 : low;

	return skip_among(text, start, " ") - start;
}

/* Returns the end of the lines of a block scalar, whose header is at `at`. */
static size_t block_end(const struct text *text, size_t at)
{
	size_t indent = indent_at(text, at), end = skip_line(text, at);
	size_t last = end + LINE_MOST;

	while (end < text->len && end < last) {
		size_t line = end + 1, first = skip_among(text, line, " ");

		if (first - line <= indent &&
		    (first >= text->len || !strchr("\r\n", text->s[first])))
			break;
		end = skip_line(text, line);
	}
	return end;
}

/* Returns the end of a value on one line. quote is its quote, or NUL. */
static size_t line_end(const struct text *text, size_t at, char quote)
{
	char ends[] = {'\n', quote, '\0'};

	while (at < text->len && text->s[at] &&
	       !strchr(quote ? ends : " \t\r\n,;&}\"'\\", text->s[at]))
		at += quote == '"' && text->s[at] == '\\' ? 2 : 1;
	return at < text->len ? at : text->len;
}

/* Finds the value at `at`, without quotes; returns its end. The value is empty
 * if it is a reference to another variable, whose name may be found next. */
static size_t read_value(const struct text *text, size_t at, struct text *value)
{
	size_t end;
	char quote;
	bool escaped;

	at = skip_among(text, at, " \t");
	if (char_at(text, at) == '|' || char_at(text, at) == '>') {
		end = block_end(text, at);
		at = skip_line(text, at);
		*value = (struct text){text->s + at, end - at};
		return end;
	}
	escaped = char_at(text, at) == '\\';
	at += escaped;
	quote = char_at(text, at);
	if (quote != '"' && quote != '\'')
		quote = '\0';
	at += quote != '\0';
	*value = (struct text){text->s + at, 0};
	if (char_at(text, at) == '$' || char_at(text, at) == '{')
		return at;
	/* For JSON in a string, the closing quote is escaped as well. */
	end = line_end(text, at, escaped ? '\0' : quote);
	*value = (struct text){text->s + at, end - at};
	return end;
}

static void collect_secret(struct secrets *secrets, const char *name,
			   const struct text *value)
{
	const char *copy;

	if (value->len > VALUE_MOST || !looks_random(value->s, value->len))
		return;
	copy = arena_strndup(secrets->arena, value->s, value->len);
	if (secret_may_be(name, copy))
		secrets_add(secrets, value->s, value->len);
}

/* --- positions of values -------------------------------------------------- */

/* Skips blanks, separators and comments between two entries of a map. */
static size_t skip_between(const struct text *text, size_t at)
{
	for (;;) {
		at = skip_among(text, at, " \t\r\n,\\\"'");
		if (char_at(text, at) != '#')
			return at;
		at = skip_line(text, at);
	}
}

/* Returns the position after the key and its colon at `at`; 0 if another text
 * is there. */
static size_t behind_key(const struct text *text, size_t at, const char *key)
{
	size_t len = strlen(key);

	if (at + len > text->len || memcmp(text->s + at, key, len) != 0)
		return 0;
	at = skip_among(text, at + len, "\\\"' \t");
	return char_at(text, at) == ':' ? at + 1 : 0;
}

static size_t skip_back(const struct text *text, size_t at, const char *among)
{
	while (at && text->s[at - 1] && strchr(among, text->s[at - 1]))
		at--;
	return at;
}

/* True if `name:` precedes the name. */
static bool is_of_entry(const struct text *text, size_t name)
{
	size_t at = skip_back(text, name, " \t\\\"'");

	if (!at || text->s[at - 1] != ':')
		return false;
	at = skip_back(text, at - 1, "\\\"' \t");
	return at >= 4 && !memcmp(text->s + at - 4, "name", 4);
}

/* Reads the value in `value: x` that precedes `name: NAME`. */
static bool read_before(const struct text *text, size_t name,
			struct text *value)
{
	size_t low = name > BEHIND_MOST ? name - BEHIND_MOST : 0;
	struct text before = {text->s, name};

	if (!is_of_entry(text, name))
		return false;
	for (size_t at = name; at-- > low;) {
		size_t end = 0;

		if (text->s[at] == 'v')
			end = behind_key(text, at, "value");
		if (!end)
			continue;
		end = skip_between(text, read_value(&before, end, value));
		end = behind_key(text, end, "name");
		return end && skip_among(text, end, " \t\\\"'") == name;
	}
	return false;
}

/* Collects the value of the name at [start, end). Returns the position at which
 * to continue. */
static size_t take_around(struct secrets *secrets, const char *name,
			  const struct text *text, size_t start, size_t end)
{
	size_t at = skip_among(text, end, "\\\"' \t"), behind = end;
	struct text value;

	if (char_at(text, at) == '=' || char_at(text, at) == ':')
		behind = at + 1;
	else
		behind = behind_key(text, skip_between(text, at), "value");
	if (behind)
		behind = read_value(text, behind, &value);
	else if (!read_before(text, start, &value))
		return end;
	if (value.len)
		collect_secret(secrets, name, &value);
	return value.len && behind > end ? behind : end;
}

/* Finds the next name of a secret from *at on, and sets *start and *at to its
 * start and end. Returns false if there is none. */
static bool next_name(const struct text *text, size_t *at, size_t *start)
{
	while (*at < text->len) {
		const char *found = memchr(text->s + *at, '_', text->len - *at);
		size_t from, end;

		if (!found)
			return false;
		from = end = (size_t)(found - text->s);
		while (from > *at && is_word(text->s[from - 1]))
			from--;
		while (end < text->len && is_word(text->s[end]))
			end++;
		*at = end;
		*start = from;
		if (end - from < NAME_MOST &&
		    secret_may_be_name(text->s + from, end - from))
			return true;
	}
	return false;
}

struct credential_text {
	struct secrets *secrets;
	const char *s;
};

/* Adds a credential, unless it is so short that it may be any word of the
 * text. */
static void add_credential(void *context, size_t at, size_t len)
{
	const struct credential_text *found = context;

	if (len >= CREDENTIAL_LEAST)
		secrets_add(found->secrets, found->s + at, len);
}

void secrets_of_text(struct secrets *secrets, const char *s, size_t len)
{
	struct text text = {s, len};
	struct credential_text found = {secrets, s};
	size_t at = 0, start;
	char name[NAME_MOST];

	secret_credentials(s, len, add_credential, &found);
	while (next_name(&text, &at, &start)) {
		memcpy(name, s + start, at - start);
		name[at - start] = '\0';
		at = take_around(secrets, name, &text, start, at);
	}
}

/* True if the text contains an escape, by which letters of names may be
 * written. */
static bool has_escape(const char *s, size_t len)
{
	const char *end = s + len, *at = s;

	while ((at = memchr(at, '\\', (size_t)(end - at))))
		if (++at < end && (*at == 'u' || *at == 'x' || *at == 'U'))
			return true;
	return false;
}

bool secrets_possible(const char *s, size_t len)
{
	struct text text = {s, len};
	size_t at = 0, start;

	return next_name(&text, &at, &start) || has_escape(s, len) ||
	       memmem(s, len, "PGPASSWORD", strlen("PGPASSWORD"));
}

bool secrets_plain(const char *s, size_t len)
{
	return secret_tokens(s, len, NULL, NULL) ||
	       secret_credentials(s, len, NULL, NULL) ||
	       memchr(s, (unsigned char)SECRET_MASK_BYTE, len);
}
