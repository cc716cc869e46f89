/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks secrets in texts. Values are sorted, so that each position of a text is
 * compared with only two of them; an attacker may choose many texts and values.
 * Only the first bytes of a long value are compared, because messages cut
 * quoted texts. A short value must be a whole word, because otherwise too much
 * would be masked.
 */
#include "kube/secret/mask.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kube/secret/secret.h"

enum {
	/* shortest part of a value that is found in other texts */
	PIECE_LEAST = 4,
	WORD = 8,  /* shorter values must be whole words */
	HEAD = 12, /* bytes of a long value that are compared */
};

/* --- values -------------------------------------------------------------- */

static void add_piece(struct secrets *secrets, const char *text, size_t len)
{
	if (len < PIECE_LEAST)
		return;
	*VEC_PUSH(secrets->arena, secrets->values, secrets->n, secrets->size) =
		(struct secret_value){arena_strndup(secrets->arena, text, len),
				      len, 0};
}

/* Adds the value in the form that JSON and YAML write between double quotes, if
 * it differs, and in that between single quotes. */
static void add_quoted(struct secrets *secrets, const char *text, size_t len)
{
	struct buf quoted;

	buf_init(&quoted);
	text_json(text, len, &quoted);
	if (quoted.len != len + 2)
		add_piece(secrets, quoted.data + 1, quoted.len - 2);
	buf_reset(&quoted);
	for (size_t i = 0; i < len; i++) {
		buf_add(&quoted, text + i, 1);
		if (text[i] == '\'')
			buf_addc(&quoted, '\'');
	}
	if (quoted.len != len)
		add_piece(secrets, quoted.data, quoted.len);
	buf_release(&quoted);
}

void secrets_add(struct secrets *secrets, const char *value, size_t len)
{
	const char *end = value + len;

	while (value < end) {
		const char *lf = memchr(value, '\n', (size_t)(end - value));
		const char *stop = lf ? lf : end, *next = lf ? lf + 1 : end;

		while (value < stop && isspace((unsigned char)*value))
			value++;
		while (stop > value && isspace((unsigned char)stop[-1]))
			stop--;
		add_piece(secrets, value, (size_t)(stop - value));
		add_quoted(secrets, value, (size_t)(stop - value));
		value = next;
	}
}

static int cmp_values(const void *left, const void *right)
{
	const struct secret_value *a = left, *b = right;
	size_t len = a->len < b->len ? a->len : b->len;
	int c = memcmp(a->text, b->text, len);

	return c ? c : (a->len > b->len) - (a->len < b->len);
}

static bool begins_with(const struct secret_value *a,
			const struct secret_value *b)
{
	return a->len >= b->len && !memcmp(a->text, b->text, b->len);
}

void secrets_finish(struct secrets *secrets)
{
	struct secret_value *values = secrets->values;

	if (secrets->n)
		qsort(values, secrets->n, sizeof(*values), cmp_values);
	for (size_t i = 0; i < secrets->n; i++) {
		size_t before = i;

		while (before && !begins_with(&values[i], &values[before - 1]))
			before = values[before - 1].shorter;
		values[i].shorter = before;
		secrets->starts[(unsigned char)*values[i].text] = true;
	}
}

/* --- one position of a text ----------------------------------------------- */

static size_t same_bytes(const struct secret_value *value, const char *text,
			 size_t len)
{
	size_t n = 0;

	while (n < value->len && n < len && value->text[n] == text[n])
		n++;
	return n;
}

static bool is_whole_word(const char *text, size_t len, size_t at, size_t n)
{
	return (!at || !isalnum((unsigned char)text[at - 1])) &&
	       (at + n == len || !isalnum((unsigned char)text[at + n]));
}

/* Returns the number of bytes at the position that equal the value, or a value
 * that is a prefix of it. */
static size_t match(const struct secrets *secrets, size_t value,
		    const char *text, size_t len, size_t at)
{
	for (size_t i = value + 1; i; i = secrets->values[i - 1].shorter) {
		const struct secret_value *v = &secrets->values[i - 1];
		size_t n = same_bytes(v, text + at, len - at);

		if (n < v->len ? n >= HEAD
			       : n >= WORD || is_whole_word(text, len, at, n))
			return n;
	}
	return 0;
}

static size_t match_at(const struct secrets *secrets, const char *text,
		       size_t len, size_t at)
{
	const struct secret_value key = {text + at, len - at, 0};
	size_t place = array_first(secrets->values, secrets->n, sizeof(key),
				   &key, cmp_values);
	size_t n = 0, other = 0;

	if (place < secrets->n)
		n = match(secrets, place, text, len, at);
	if (place)
		other = match(secrets, place - 1, text, len, at);
	return n > other ? n : other;
}

/* --- masking ------------------------------------------------------------- */

struct masking {
	const char *in;
	char *out; /* NULL: occurrences are only counted */
	size_t count;
};

static void mask_bytes(char *text, size_t len)
{
	size_t kept = secret_prefix(text, len);

	memset(text + kept, SECRET_MASK_BYTE, len - kept);
}

static void mask_found(void *context, size_t at, size_t len)
{
	struct masking *masking = context;

	masking->count++;
	if (masking->out)
		mask_bytes(masking->out + at, len);
}

static size_t mask_all(const struct secrets *secrets, const char *in,
		       size_t len, char *out)
{
	struct masking masking = {in, out, 0};

	for (size_t i = 0; secrets->n && i < len; i++) {
		size_t n = 0;

		if (secrets->starts[(unsigned char)in[i]])
			n = match_at(secrets, in, len, i);
		if (!n)
			continue;
		mask_found(&masking, i, n);
		i += n - 1;
	}
	secret_tokens(in, len, mask_found, &masking);
	secret_credentials(in, len, mask_found, &masking);
	return masking.count;
}

static char *copy_without_mask(struct arena *arena, const char *text,
			       size_t len)
{
	char *copy = arena_strndup(arena, text, len);

	for (char *at = copy; (at = memchr(at, (unsigned char)SECRET_MASK_BYTE,
					   (size_t)(copy + len - at)));)
		*at = '\xfe';
	return copy;
}

size_t secrets_count(const struct secrets *secrets, const char *text,
		     size_t len)
{
	return mask_all(secrets, text, len, NULL);
}

bool secrets_in(const struct secrets *secrets, const char *text, size_t len)
{
	return secrets_count(secrets, text, len) > 0;
}

void secrets_show(struct buf *out, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *at = memchr(text, (unsigned char)SECRET_MASK_BYTE,
					(size_t)(end - text));

		buf_add(out, text, (size_t)((at ? at : end) - text));
		if (!at)
			return;
		buf_adds(out, SECRET_STARS);
		while (at < end && *at == SECRET_MASK_BYTE)
			at++;
		text = at;
	}
}

const char *secrets_mask_in_place(const struct secrets *secrets,
				  struct arena *arena, const char *text,
				  size_t len)
{
	char *copy;

	if (!secrets_in(secrets, text, len))
		return text;
	copy = copy_without_mask(arena, text, len);
	mask_all(secrets, text, len, copy);
	return copy;
}

const char *secrets_mask(const struct secrets *secrets, struct arena *arena,
			 const char *text)
{
	size_t len = strlen(text);
	const char *in_place = secrets_mask_in_place(secrets, arena, text, len);
	const char *masked;
	struct buf out;

	if (in_place == text)
		return text;
	buf_init(&out);
	secrets_show(&out, in_place, len);
	masked = arena_strndup(arena, out.data, out.len);
	buf_release(&out);
	return masked;
}
