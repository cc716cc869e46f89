/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/cel/lib/network/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* An address while it is read. */
struct address_reader {
	struct arena *arena;
	struct cel_text whole; /* with the zone, for messages */
	struct cel_text rest;
	unsigned char *bytes;
	int n;	      /* bytes so far */
	int ellipsis; /* of them before `::`, or -1 */
};

static const char *problem(const struct address_reader *r, const char *what)
{
	return arena_printf(r->arena, "ParseAddr(%s): %s",
			    cel_quoted(r->arena, r->whole), what);
}

/* Where there is a rest, the message shows it. */
static const char *problem_here(const struct address_reader *r,
				const char *what)
{
	if (!r->rest.len)
		return problem(r, what);
	return arena_printf(r->arena, "%s (at %s)", problem(r, what),
			    cel_quoted(r->arena, r->rest));
}

static void skip(struct address_reader *r, size_t n)
{
	r->rest = cel_part(r->rest, n, r->rest.len);
}

static const char *read_ipv4(struct address_reader *r)
{
	int value = 0, digits = 0, field = 0;

	for (; r->rest.len; skip(r, 1)) {
		char c = *r->rest.data;

		if (c >= '0' && c <= '9') {
			if (digits++ == 1 && value == 0)
				return problem(r, "IPv4 field has octet with "
						  "leading zero");
			value = value * 10 + (c - '0');
			if (value > 255)
				return problem(r, "IPv4 field has value >255");
			continue;
		}
		if (c != '.')
			return problem_here(r, "unexpected character");
		if (!digits || r->rest.len == 1)
			return problem_here(r, "IPv4 field must have at least "
					       "one digit");
		if (field++ == 3)
			return problem(r, "IPv4 address too long");
		r->bytes[r->n++] = (unsigned char)value;
		value = digits = 0;
	}
	if (field < 3)
		return problem(r, "IPv4 address too short");
	r->bytes[r->n++] = (unsigned char)value;
	return NULL;
}

static const char *read_embedded(struct address_reader *r)
{
	if (r->ellipsis < 0 && r->n != 12)
		return problem_here(r, "embedded IPv4 address must replace the "
				       "final 2 fields of the address");
	if (r->n + 4 > 16)
		return problem_here(r, "too many hex fields to fit an embedded "
				       "IPv4 at the end of the address");
	return read_ipv4(r);
}

/* One group and the colon behind it. */
static const char *read_group(struct address_reader *r)
{
	unsigned value = 0;
	size_t n = 0;

	for (; n < r->rest.len && cel_hex_digit(r->rest.data[n]) >= 0; n++) {
		if (n > 3)
			return problem_here(r, "each group must have 4 or "
					       "less digits");
		value = value << 4 | (unsigned)cel_hex_digit(r->rest.data[n]);
	}
	if (!n)
		return problem_here(r, "each colon-separated field must have "
				       "at least one digit");
	if (n < r->rest.len && r->rest.data[n] == '.')
		return read_embedded(r);
	r->bytes[r->n++] = (unsigned char)(value >> 8);
	r->bytes[r->n++] = (unsigned char)value;
	skip(r, n);
	if (!r->rest.len)
		return NULL;
	if (*r->rest.data != ':')
		return problem_here(r, "unexpected character, want colon");
	if (r->rest.len == 1)
		return problem_here(r, "colon must be followed by more "
				       "characters");
	skip(r, 1);
	if (*r->rest.data == ':') {
		if (r->ellipsis >= 0)
			return problem_here(r, "multiple :: in address");
		r->ellipsis = r->n;
		skip(r, 1);
	}
	return NULL;
}

static const char *expand(struct address_reader *r)
{
	int gap = 16 - r->n, ellipsis = r->ellipsis;

	if (r->rest.len)
		return problem_here(r, "trailing garbage after address");
	if (gap && ellipsis < 0)
		return problem_here(r, "address string too short");
	if (!gap && ellipsis >= 0)
		return problem_here(r, "the :: must expand to at least one "
				       "field of zeros");
	if (gap) {
		memmove(r->bytes + ellipsis + gap, r->bytes + ellipsis,
			(size_t)(r->n - ellipsis));
		memset(r->bytes + ellipsis, 0, (size_t)gap);
	}
	return NULL;
}

static const char *read_ipv6(struct address_reader *r)
{
	const char *wrong = NULL;

	if (cel_text_at(r->rest, 0, "::")) {
		r->ellipsis = 0;
		skip(r, 2);
	}
	while (!wrong && r->n < 16 && (r->rest.len || r->ellipsis != r->n)) {
		size_t before = r->rest.len;

		wrong = read_group(r);
		if (!r->rest.len || !before)
			break;
	}
	return wrong ? wrong : expand(r);
}

const char *address_parse(struct arena *arena, struct cel_text text,
			  struct address *out)
{
	size_t percent = cel_text_find(text, '%');
	struct address_reader r = {arena, text, text, out->bytes, 0, -1};

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < percent && !out->size; i++)
		out->size = text.data[i] == ':'	  ? 16
			    : text.data[i] == '.' ? 4
						  : 0;
	if (out->size == 4)
		return read_ipv4(&r);
	if (!out->size)
		return problem(&r, percent < text.len ? "missing IPv6 address"
						      : "unable to parse IP");
	if (percent + 1 == text.len)
		return problem(&r, "zone must be a non-empty string");
	out->zone = percent < text.len;
	r.rest.len = percent;
	return read_ipv6(&r);
}

const char *address_block_parse(struct arena *arena, struct cel_text text,
				struct block_of_addresses *out)
{
	size_t slash = text.len;
	struct cel_text bits;
	const char *problem;
	uint64_t value;
	bool valid;

	while (slash && text.data[slash - 1] != '/')
		slash--;
	if (!slash)
		return "no '/'";
	problem = address_parse(arena, cel_part(text, 0, slash - 1),
				&out->address);
	if (problem)
		return problem;
	if (out->address.zone)
		return "IPv6 zones cannot be present in a prefix";
	bits = cel_part(text, slash, text.len);
	valid = !cel_digits(bits, &value) &&
		(bits.len == 1 || *bits.data != '0');
	if (!valid || bits.len > 18)
		return arena_printf(arena, "bad bits after slash: %s",
				    cel_quoted(arena, bits));
	out->bits = value > 999 ? 999 : (int)value;
	if (out->bits > out->address.size * 8)
		return "prefix length out of range";
	return NULL;
}

static unsigned group_of(const struct address *address, int i)
{
	return (unsigned)address->bytes[2 * i] << 8 | address->bytes[2 * i + 1];
}

void address_format(const struct address *address, char out[ADDRESS_TEXT])
{
	inet_ntop(address->size == 4 ? AF_INET : AF_INET6, address->bytes, out,
		  ADDRESS_TEXT);
	/* Go has no dots in ::102:304. */
	if (address->size == 16 && strchr(out, '.'))
		snprintf(out, ADDRESS_TEXT, "::%x:%x", group_of(address, 6),
			 group_of(address, 7));
}

void address_mask(struct address *address, int bits)
{
	for (int i = 0; i < address->size; i++, bits -= 8) {
		if (bits <= 0)
			address->bytes[i] = 0;
		else if (bits < 8)
			address->bytes[i] &=
				(unsigned char)(0xff << (8 - bits));
	}
}

bool address_is_zero(const struct address *address)
{
	for (int i = 0; i < address->size; i++) {
		if (address->bytes[i])
			return false;
	}
	return true;
}

bool address_is_mapped(const struct address *address)
{
	static const unsigned char prefix[12] = {[10] = 0xff, [11] = 0xff};

	return address->size == 16 && memcmp(address->bytes, prefix, 12) == 0;
}
