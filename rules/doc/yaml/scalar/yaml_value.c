/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of plain scalars: floating point numbers, and base64 (`!!binary`).
 *
 * Numbers have the same digits as in Go, because the API server and other Go
 * programs see a YAML number as this text. These are the fewest digits that
 * are read as the same number (Go: strconv with precision -1). They equal the
 * correctly rounded digits of printf(), except just above a power of two,
 * where only the next larger decimal of that length may be read as the same
 * number; so both are tried.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "yaml_scalar.h"

enum {
	DIGITS_MAX = 17, /* enough for any float64 */
};

/* The number 0.D1D2D3... * 10^point. */
struct yaml_decimal {
	char digits[DIGITS_MAX + 3];
	int n, point;
	bool negative;
};

static bool reads_back(const struct yaml_decimal *d, double number, bool single)
{
	char text[64];

	snprintf(text, sizeof(text), "0.%se%d", d->digits, d->point);
	if (single)
		return strtof(text, NULL) == (float)number;
	return strtod(text, NULL) == number;
}

/* Replaces the digits by the next larger decimal of the same length. */
static void decimal_step(struct yaml_decimal *d)
{
	int i = d->n - 1;

	while (i >= 0 && d->digits[i] == '9')
		d->digits[i--] = '0';
	if (i >= 0) {
		d->digits[i]++;
		return;
	}
	d->digits[0] = '1';
	d->point++;
}

static void decimal_trim(struct yaml_decimal *d)
{
	while (d->n > 1 && d->digits[d->n - 1] == '0')
		d->digits[--d->n] = '\0';
}

/* Sets the fewest digits of a finite number that is not negative. */
static void decimal_shortest(struct yaml_decimal *d, double number, bool single)
{
	for (d->n = 1; d->n <= DIGITS_MAX; d->n++) {
		char text[64];

		/* The text has the form D.DDDe+XX. */
		snprintf(text, sizeof(text), "%.*e", d->n - 1, number);
		d->digits[0] = text[0];
		if (d->n > 1)
			memcpy(d->digits + 1, text + 2, (size_t)d->n - 1);
		d->digits[d->n] = '\0';
		d->point = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
		if (reads_back(d, number, single))
			break;
		decimal_step(d);
		if (reads_back(d, number, single))
			break;
	}
	if (number == 0)
		d->point = 1; /* the text was 0.0 */
	decimal_trim(d);
}

static void add_zeros(struct buf *out, int n)
{
	while (n-- > 0)
		buf_addc(out, '0');
}

/* Prints the form 123.45. The callers limit the number of zeros. */
static void print_plain(const struct yaml_decimal *d, struct buf *out)
{
	int whole = d->point < d->n ? d->point : d->n;

	if (d->negative)
		buf_addc(out, '-');
	if (d->point <= 0) {
		buf_adds(out, "0.");
		add_zeros(out, -d->point);
		buf_adds(out, d->digits);
		return;
	}
	buf_add(out, d->digits, (size_t)whole);
	add_zeros(out, d->point - whole);
	if (d->n > whole)
		buf_addf(out, ".%s", d->digits + whole);
}

/* Prints the form 1.2345e+67. */
static void print_exponent(const struct yaml_decimal *d, int width,
			   struct buf *out)
{
	int exponent = d->point - 1;

	if (d->negative)
		buf_addc(out, '-');
	buf_addc(out, d->digits[0]);
	if (d->n > 1)
		buf_addf(out, ".%s", d->digits + 1);
	buf_addf(out, "e%c%0*d", exponent < 0 ? '-' : '+', width,
		 abs(exponent));
}

void number_json(double number, struct buf *out)
{
	double size = fabs(number);
	struct yaml_decimal d;

	decimal_shortest(&d, size, false);
	d.negative = signbit(number);
	if (size != 0 && (size < 1e-6 || size >= 1e21))
		print_exponent(&d, d.point < 0 ? 1 : 2, out);
	else
		print_plain(&d, out);
}

void number_key(double number, struct buf *out)
{
	float single = (float)number;
	struct yaml_decimal d;

	if (isnan(single) || isinf(single)) {
		buf_adds(out, isnan(single) ? ".nan"
			      : single > 0  ? ".inf"
					    : "-.inf");
		return;
	}
	decimal_shortest(&d, fabs((double)single), true);
	d.negative = signbit(single);
	if (d.point - 1 < -4 || d.point - 1 >= 6)
		print_exponent(&d, 2, out);
	else
		print_plain(&d, out);
}

/*
 * Decodes values tagged !!binary: base64 as Go's base64.StdEncoding reads it
 * (line breaks anywhere, padding required, unused bits ignored), then as text
 * in the form that encoding/json writes (each byte that is not UTF-8 becomes
 * U+FFFD).
 */

static int base64_value(int c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const char *p = c > 0 ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

static char *replace_invalid(struct arena *arena, const char *text, size_t *len)
{
	char *out = arena_alloc(arena, 3 * *len + 1);
	char *to = out;
	size_t i = 0;

	while (i < *len) {
		size_t n = utf8_length(text + i, *len - i);

		memcpy(to, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
		to += n ? n : 3;
		i += n ? n : 1;
	}
	*to = '\0';
	*len = (size_t)(to - out);
	return out;
}

char *scalar_base64(struct arena *arena, const char *text, size_t *len)
{
	char *bytes = arena_alloc(arena, *len / 4 * 3 + 3);
	size_t n = 0, digits = 0, padding = 0;
	unsigned bits = 0;

	for (size_t i = 0; i < *len; i++) {
		int value = base64_value((unsigned char)text[i]);

		if (text[i] == '\r' || text[i] == '\n')
			continue;
		if (text[i] == '=') {
			padding++;
			continue;
		}
		if (value < 0 || padding)
			return NULL;
		bits = bits << 6 | (unsigned)value;
		if (digits % 4)
			bytes[n++] = (char)(bits >> (6 - digits % 4 * 2));
		digits++;
	}
	if (padding > 2 || (digits + padding) % 4)
		return NULL;
	*len = n;
	return replace_invalid(arena, bytes, len);
}
