/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes quantities, after ParseQuantity and CanonicalizeBytes of
 * k8s.io/apimachinery pkg/api/resource. A value is stored in nano units of 128
 * bits. Results are capped at the limits of that type (1.7e29), which are far
 * above the amounts in any cluster.
 *
 * The parser is as permissive as the original: digits may be missing ("Ki" and
 * "." are zero). But "Pi" and "Ei" without a digit are rejected, as in the
 * original, whose fast path does not handle them.
 */
#include "kube/quantity.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NANO 1000000000

/* A quantity split into parts, which point into the text. */
struct parts {
	const char *whole, *fraction, *suffix;
	size_t nwhole, nfraction, nsuffix;
	bool negative;
	bool digits; /* has a digit, including leading zeros */
};

struct suffix {
	enum quantity_format format;
	int32_t exponent; /* power of ten; for QUANTITY_BINARY of two */
};

/* 2^127 - 1 */
static const __int128 nano_max = (__int128)(~(unsigned __int128)0 >> 1);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits_at(const char *s, const char *end)
{
	const char *start = s;

	while (s < end && is_digit(*s))
		s++;
	return (size_t)(s - start);
}

/* Splits the text into its parts. Returns false if the rest after the number
 * has a character that occurs in no suffix; whether the suffix itself is valid
 * is not checked. */
static bool split(const char *s, size_t len, struct parts *out)
{
	static const char letters[] = "eEinumkKMGTP";
	const char *end = s + len, *first;

	memset(out, 0, sizeof(*out));
	if (s < end && (*s == '-' || *s == '+'))
		out->negative = *s++ == '-';
	first = s;
	while (s < end && *s == '0')
		s++;
	out->whole = s;
	out->nwhole = digits_at(s, end);
	s += out->nwhole;
	out->digits = s > first;
	out->fraction = s;
	if (s < end && *s == '.') {
		out->fraction = ++s;
		out->nfraction = digits_at(s, end);
		s += out->nfraction;
		out->digits |= out->nfraction > 0;
	}
	out->suffix = s;
	out->nsuffix = (size_t)(end - s);
	while (s < end && *s && strchr(letters, *s))
		s++;
	if (s < end && (*s == '-' || *s == '+'))
		s++;
	return s + digits_at(s, end) == end;
}

/*
 * Reads an exponent such as "e-3". The original reads 64 bits and keeps the low
 * 32 of them. Returns false and leaves *out if it is not a number of 64 bits.
 */
static bool read_exponent(const char *s, size_t len, int32_t *out)
{
	bool negative = *s == '-';
	uint64_t limit = (uint64_t)INT64_MAX + negative, n = 0;

	if (*s == '-' || *s == '+') {
		s++;
		len--;
	}
	if (!len || digits_at(s, s + len) != len)
		return false;
	for (; len; s++, len--) {
		unsigned digit = (unsigned)(*s - '0');

		if (n > (limit - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	n = negative ? -n : n;
	*out = (int32_t)(uint32_t)n;
	return true;
}

static bool read_suffix(const char *s, size_t len, struct suffix *out)
{
	static const char decimal[] = "num kMGTPE", binary[] = "KMGTPE";
	const char *at;

	out->format = QUANTITY_DECIMAL;
	out->exponent = 0;
	if (!len)
		return true;
	if (len == 1) {
		at = strchr(decimal, *s);
		out->exponent = at ? (int32_t)(at - decimal) * 3 - 9 : 0;
		return at != NULL;
	}
	if (*s == 'e' || *s == 'E') {
		out->format = QUANTITY_EXPONENT;
		if (read_exponent(s + 1, len - 1, &out->exponent))
			return true;
	}
	at = strchr(binary, *s);
	if (len != 2 || s[1] != 'i' || !at)
		return false;
	out->format = QUANTITY_BINARY;
	out->exponent = (int32_t)(at - binary + 1) * 10;
	return true;
}

/* Computes acc * 10 + digit, capped at nano_max. */
static void push_digit(__int128 *acc, unsigned digit)
{
	if (*acc > (nano_max - digit) / 10)
		*acc = nano_max;
	else
		*acc = *acc * 10 + digit;
}

/*
 * Returns (whole and fraction) times ten to the exponent, in nano units. Digits
 * after the ninth decimal place are rounded up.
 */
static __int128 decimal_nano(const struct parts *p, int32_t exponent)
{
	int64_t place = (int64_t)p->nwhole + exponent + 9;
	int64_t n = (int64_t)(p->nwhole + p->nfraction), i;
	__int128 acc = 0;
	bool more = false;

	for (i = 0; i < n; i++) {
		size_t at = (size_t)i;
		char c = at < p->nwhole ? p->whole[at]
					: p->fraction[at - p->nwhole];

		if (i < place)
			push_digit(&acc, (unsigned)(c - '0'));
		else
			more |= c != '0';
	}
	for (; i < place && acc && acc < nano_max; i++)
		push_digit(&acc, 0);
	return acc + (more && acc < nano_max);
}

/*
 * Returns the value for a binary suffix. The fraction is multiplied digit by
 * digit from its end, as by hand, so that any number of digits stays exact:
 * each step yields one digit after the point of the product.
 */
static __int128 binary_nano(const struct parts *p, int32_t exponent)
{
	const uint64_t unit = UINT64_C(1) << exponent;
	const __int128 cap = (__int128)INT64_MAX * NANO;
	__int128 whole = 0, nano = 0, weight = 1;
	uint64_t carry = 0;
	bool more = false;
	size_t i;

	for (i = p->nfraction; i--;) {
		uint64_t digit = (uint64_t)(p->fraction[i] - '0');

		carry += digit * unit;
		if (i < 9) {
			nano += weight * (carry % 10);
			weight *= 10;
		} else {
			more |= carry % 10 != 0;
		}
		carry /= 10;
	}
	for (i = p->nfraction; i < 9; i++)
		nano *= 10;
	for (i = 0; i < p->nwhole; i++) {
		push_digit(&whole, (unsigned)(p->whole[i] - '0'));
		if (whole > INT64_MAX)
			return cap;
	}
	whole = whole * unit + carry;
	if (whole > INT64_MAX)
		return cap;
	nano += whole * NANO + more;
	return nano > cap ? cap : nano;
}

/*
 * True if a text with this suffix and without digits is zero. apimachinery
 * reads zero on its fast path, which handles decimal scales from nano upward
 * and binary units up to Ti, and rejects the text on its exact path.
 */
static bool empty_is_zero(const struct suffix *suffix)
{
	if (suffix->format == QUANTITY_BINARY)
		return suffix->exponent <= 40;
	return suffix->exponent >= -9;
}

/* Returns the exponent of two of "Ki" to "Ti", or 0. */
static unsigned binary_shift(const char *s)
{
	if (s[1] != 'i')
		return 0;
	switch (s[0]) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return s[0] == 'T' ? 40 : 0;
	}
}

/* Parses the usual forms, with at most six digits: "8", "500m", "16Gi". Returns
 * false for others. */
static bool parse_plain(const char *s, size_t len, struct quantity *out)
{
	uint64_t n = 0;
	unsigned shift;
	size_t i = 0;

	for (; i < len && i < 6 && is_digit(s[i]); i++)
		n = n * 10 + (unsigned)(s[i] - '0');
	if (!i || len - i > 2)
		return false;
	out->format = QUANTITY_DECIMAL;
	if (i == len || (len - i == 1 && s[i] == 'm')) {
		out->nano = (__int128)n * (i == len ? NANO : NANO / 1000);
		return true;
	}
	shift = len - i == 2 ? binary_shift(s + i) : 0;
	if (!shift)
		return false;
	out->format = QUANTITY_BINARY;
	out->nano = (__int128)(n << shift) * NANO;
	return true;
}

bool quantity_parse(const char *text, size_t len, struct quantity *out)
{
	struct parts parts;
	struct suffix suffix;

	out->nano = 0;
	out->format = QUANTITY_DECIMAL;
	if (parse_plain(text, len, out))
		return true;
	out->format = QUANTITY_DECIMAL;
	if (!len || !split(text, len, &parts) ||
	    !read_suffix(parts.suffix, parts.nsuffix, &suffix))
		return false;
	if (!parts.digits && !empty_is_zero(&suffix))
		return false;
	out->format = suffix.format;
	if (suffix.format == QUANTITY_BINARY)
		out->nano = binary_nano(&parts, suffix.exponent);
	else
		out->nano = decimal_nano(&parts, suffix.exponent);
	if (suffix.format == QUANTITY_BINARY && out->nano < NANO && out->nano)
		out->format = QUANTITY_DECIMAL;
	if (parts.negative)
		out->nano = -out->nano;
	return true;
}

struct quantity quantity_from(int64_t value)
{
	return (struct quantity){(__int128)value * NANO, QUANTITY_DECIMAL};
}

int quantity_cmp(struct quantity a, struct quantity b)
{
	return (a.nano > b.nano) - (a.nano < b.nano);
}

/* Caps a value to a symmetric range, so that every value can be negated. */
static __int128 held(__int128 nano)
{
	return nano < -nano_max ? -nano_max : nano;
}

/* Adds two quantities. The sum has the format of the first operand that is not
 * zero. */
struct quantity quantity_add(struct quantity a, struct quantity b)
{
	struct quantity sum = {0, a.nano ? a.format : b.format};

	if (__builtin_add_overflow(a.nano, b.nano, &sum.nano))
		sum.nano = a.nano < 0 ? -nano_max : nano_max;
	sum.nano = held(sum.nano);
	return sum;
}

struct quantity quantity_sub(struct quantity a, struct quantity b)
{
	b.nano = -held(b.nano);
	return quantity_add(a, b);
}

struct quantity quantity_mul(struct quantity a, int64_t n)
{
	struct quantity product = a;

	if (__builtin_mul_overflow(a.nano, (__int128)n, &product.nano))
		product.nano = (a.nano < 0) == (n < 0) ? nano_max : -nano_max;
	product.nano = held(product.nano);
	return product;
}

/* Divides by the unit; rounds away from zero and caps the result to 64 bits. */
static int64_t scaled(struct quantity q, int64_t unit)
{
	/* Numbers of devices are small, and 64 bits are divided without a
	 * function call. */
	bool small = q.nano == (int64_t)q.nano;
	__int128 n = small ? (int64_t)q.nano / unit : q.nano / unit;

	if (q.nano != n * unit)
		n += q.nano < 0 ? -1 : 1;
	if (n > INT64_MAX)
		return INT64_MAX;
	return n < INT64_MIN ? INT64_MIN : (int64_t)n;
}

int64_t quantity_value(struct quantity q)
{
	return scaled(q, NANO);
}

int64_t quantity_milli(struct quantity q)
{
	return scaled(q, NANO / 1000);
}

bool quantity_is_integer(struct quantity q)
{
	return q.nano % NANO == 0;
}

/* Prints the decimal digits of n with its sign, then the suffix. */
static void print_number(__int128 n, const char *suffix,
			 char out[QUANTITY_TEXT])
{
	char digits[QUANTITY_TEXT];
	char *at = digits + sizeof(digits) - 1;
	bool negative = n < 0;

	*at = '\0';
	do {
		int digit = (int)(n % 10);

		*--at = (char)('0' + (digit < 0 ? -digit : digit));
		n /= 10;
	} while (n);
	if (negative)
		*--at = '-';
	snprintf(out, QUANTITY_TEXT, "%s%s", at, suffix);
}

static void print_binary(__int128 value, char out[QUANTITY_TEXT])
{
	static const char suffixes[][3] = {"",	 "Ki", "Mi", "Gi",
					   "Ti", "Pi", "Ei"};
	unsigned step = 0;

	for (; step < 6 && value % 1024 == 0; step++)
		value /= 1024;
	print_number(value, suffixes[step], out);
}

static void print_decimal(struct quantity q, char out[QUANTITY_TEXT])
{
	static const char suffixes[][2] = {"n", "u", "m", "",  "k",
					   "M", "G", "T", "P", "E"};
	char exponent[16] = "";
	int step = 0;

	while (q.nano % 1000 == 0 &&
	       (step < 9 || q.format == QUANTITY_EXPONENT)) {
		q.nano /= 1000;
		step++;
	}
	if (q.format != QUANTITY_EXPONENT)
		memcpy(exponent, suffixes[step], sizeof(suffixes[step]));
	else if (step != 3)
		snprintf(exponent, sizeof(exponent), "e%d", step * 3 - 9);
	print_number(q.nano, exponent, out);
}

const char *quantity_text(struct quantity q, char out[QUANTITY_TEXT])
{
	const __int128 small = (__int128)1024 * NANO;

	if (!q.nano) {
		memcpy(out, "0", 2);
	} else if (q.format == QUANTITY_BINARY && quantity_is_integer(q) &&
		   (q.nano <= -small || q.nano >= small)) {
		print_binary(q.nano / NANO, out);
	} else {
		if (q.format == QUANTITY_BINARY)
			q.format = QUANTITY_DECIMAL;
		print_decimal(q, out);
	}
	return out;
}

/*
 * Returns the length of a blank at s that UnmarshalJSON trims, else 0. It trims
 * the JSON text of the string, in which control characters, U+2028 and U+2029
 * are written as escapes and are not blanks.
 */
static size_t blank_at(const char *s, size_t len)
{
	const unsigned char *u = (const unsigned char *)s;

	if (len && *u == ' ')
		return 1;
	if (len >= 2 && u[0] == 0xc2 && (u[1] == 0x85 || u[1] == 0xa0))
		return 2;
	if (len < 3)
		return 0;
	if (!memcmp(s, "\xe1\x9a\x80", 3) || !memcmp(s, "\xe3\x80\x80", 3) ||
	    !memcmp(s, "\xe2\x81\x9f", 3) || !memcmp(s, "\xe2\x80\xaf", 3))
		return 3;
	return !memcmp(s, "\xe2\x80", 2) && u[2] >= 0x80 && u[2] <= 0x8a ? 3
									 : 0;
}

static bool may_be_blank(char c)
{
	return c == ' ' || (unsigned char)c >= 0x80;
}

static bool parse_trimmed(const char *s, size_t len, struct quantity *out)
{
	size_t n, i;

	if (len && !may_be_blank(s[0]) && !may_be_blank(s[len - 1]))
		return quantity_parse(s, len, out);

	for (; (n = blank_at(s, len)); len -= n)
		s += n;
	for (n = 1; len && n;) {
		n = 0;
		for (i = 1; i <= 3 && i <= len && !n; i++)
			n = blank_at(s + len - i, i) == i ? i : 0;
		len -= n;
	}
	return quantity_parse(s, len, out);
}

enum quantity_state node_quantity(const struct node *node, struct quantity *out)
{
	out->nano = 0;
	out->format = QUANTITY_DECIMAL;
	if (node_is_unknown(node))
		return QUANTITY_UNKNOWN;
	if (node_is_unset(node))
		return QUANTITY_ABSENT;
	if (node->type != NODE_STRING && node->type != NODE_INT &&
	    node->type != NODE_FLOAT)
		return QUANTITY_INVALID;
	return parse_trimmed(node->str, node->len, out) ? QUANTITY_OK
							: QUANTITY_INVALID;
}
