/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches texts against glob patterns. A pattern is a list of alternatives:
 * braces are expanded here, because pcre2_pattern_convert() treats them as
 * literals. An alternative without wildcards is compared as text. Compiled code
 * is read-only and each call creates its own match data, so that threads may
 * share a glob. Bytes that are not UTF-8 match no wildcard.
 */
#include "base/glob.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/array.h"
#include "base/buf.h"

enum {
	/* {a,b}{c,d}... multiplies the number of alternatives */
	ALTERNATIVES_MAX = 256,
	PATTERN_MAX = 4096,
};

struct alternative {
	char *text;	  /* compared as text; NULL if code is set */
	pcre2_code *code; /* NULL if text is set */
};

struct glob {
	unsigned flags;
	struct alternative *alternatives;
	size_t n, size;
};

static int pcre2_err(struct err *err, const char *pattern, int code)
{
	char text[200];

	if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED)
		OUT_OF_MEMORY();
	pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof(text));
	return err_set(err, 0, "pattern \"%s\": %s", pattern, text);
}

static pcre2_code *compile(const char *pattern, unsigned flags, struct err *err)
{
	uint32_t options = PCRE2_CONVERT_GLOB | PCRE2_CONVERT_UTF;
	PCRE2_UCHAR *converted = NULL;
	PCRE2_SIZE len = 0, offset = 0;
	pcre2_code *code;
	int status;

	if (flags & GLOB_NAME)
		options |= PCRE2_CONVERT_GLOB_NO_WILD_SEPARATOR;
	status = pcre2_pattern_convert((PCRE2_SPTR)pattern, strlen(pattern),
				       options, &converted, &len, NULL);
	if (status) {
		pcre2_err(err, pattern, status);
		return NULL;
	}
	code = pcre2_compile(converted, len,
			     PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &status,
			     &offset, NULL);
	if (!code)
		pcre2_err(err, pattern, status);
	pcre2_converted_pattern_free(converted);
	return code;
}

static int add_alternative(struct glob *glob, const char *pattern,
			   struct err *err)
{
	struct alternative *added;

	if (glob->n == ALTERNATIVES_MAX)
		return err_set(err, 0, "pattern has more than %d alternatives",
			       ALTERNATIVES_MAX);
	added = ARRAY_PUSH(glob->alternatives, glob->n, glob->size);
	*added = (struct alternative){0};
	if (strpbrk(pattern, "*?[\\"))
		added->code = compile(pattern, glob->flags, err);
	else if (!(added->text = strdup(pattern)))
		OUT_OF_MEMORY();
	return added->code || added->text ? 0 : -1;
}

/*
 * Returns the end of the alternative that starts at s: the ',' or '}' of this
 * level, or the NUL. A backslash makes the next byte literal.
 */
static const char *alternative_end(const char *s)
{
	unsigned depth = 0;

	for (; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		else if (*s == '{')
			depth++;
		else if (depth == 0 && (*s == ',' || *s == '}'))
			break;
		else if (*s == '}')
			depth--;
	}
	return s;
}

/*
 * Returns the first '{' that is followed by a ',' and its closing '}', or NULL.
 */
static const char *brace(const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' && s[1]) {
			s++;
		} else if (*s == '{') {
			const char *end = alternative_end(s + 1);
			bool several = false;

			for (; *end == ','; end = alternative_end(end + 1))
				several = true;
			if (*end == '}' && several)
				return s;
		}
	}
	return NULL;
}

static const char *brace_end(const char *open)
{
	const char *end = alternative_end(open + 1);

	while (*end == ',')
		end = alternative_end(end + 1);
	return end;
}

static int expand(struct glob *glob, const char *pattern, struct err *err)
{
	const char *open = brace(pattern), *close, *start;
	struct buf one;
	int status = 0;

	if (!open)
		return add_alternative(glob, pattern, err);
	close = brace_end(open);
	buf_init(&one);
	for (start = open + 1; start <= close && !status;) {
		const char *end = alternative_end(start);

		buf_reset(&one);
		buf_add(&one, pattern, (size_t)(open - pattern));
		buf_add(&one, start, (size_t)(end - start));
		buf_adds(&one, close + 1);
		status = expand(glob, one.data, err);
		start = end + 1;
	}
	buf_release(&one);
	return status;
}

struct glob *glob_compile(const char *pattern, unsigned flags, struct err *err)
{
	struct glob *glob;

	if (strlen(pattern) > PATTERN_MAX) {
		err_set(err, 0, "pattern is longer than %d bytes", PATTERN_MAX);
		return NULL;
	}
	glob = array_zalloc(1, sizeof(*glob));
	glob->flags = flags;
	if (expand(glob, pattern, err)) {
		glob_free(glob);
		return NULL;
	}
	return glob;
}

static bool matches(const pcre2_code *code, const char *text)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int status;

	if (!data)
		OUT_OF_MEMORY();
	status = pcre2_match(code, (PCRE2_SPTR)text, strlen(text), 0, 0, data,
			     NULL);
	if (status == PCRE2_ERROR_NOMEMORY)
		OUT_OF_MEMORY();
	pcre2_match_data_free(data);
	return status >= 0;
}

bool glob_match(const struct glob *glob, const char *text)
{
	for (size_t i = 0; i < glob->n; i++) {
		const struct alternative *one = &glob->alternatives[i];

		if (one->text ? strcmp(one->text, text) == 0
			      : matches(one->code, text))
			return true;
	}
	return false;
}

void glob_free(struct glob *glob)
{
	if (!glob)
		return;
	for (size_t i = 0; i < glob->n; i++) {
		free(glob->alternatives[i].text);
		pcre2_code_free(glob->alternatives[i].code);
	}
	free(glob->alternatives);
	free(glob);
}
