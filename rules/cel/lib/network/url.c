/* SPDX-License-Identifier: Apache-2.0 */
/* Splits URLs into their parts and decodes them, like Go's net/url (1.26). */
#include "rules/cel/lib/network/url.h"

#include <string.h>

#include "base/text.h"

/* Parts of a URL, which differ in the characters that are encoded. */
enum part { PART_PATH, PART_USER, PART_HOST, PART_ZONE, PART_QUERY };

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool is_one_of(char c, const char *set)
{
	return is_alnum(c) || (c && strchr(set, c));
}

static bool is_plain_path(char c)
{
	return is_one_of(c, "$&+,-./:;=@_~");
}

static bool is_plain_host(char c)
{
	return is_one_of(c, "!\"$&'()*+,-.:;<=>[]_~");
}

/*
 * Returns the byte that %XX at position i encodes, or -1 if it is not an escape
 * that this part allows.
 */
static int escaped(struct cel_text text, size_t i, enum part part)
{
	int high, low, byte;

	if (i + 2 >= text.len)
		return -1;
	high = cel_hex_digit(text.data[i + 1]);
	low = cel_hex_digit(text.data[i + 2]);
	if (high < 0 || low < 0)
		return -1;
	byte = high * 16 + low;
	if (part == PART_HOST && high < 8 && byte != '%')
		return -1;
	if (part == PART_ZONE && byte != '%' && byte != ' ' &&
	    !is_plain_host((char)byte))
		return -1;
	return byte;
}

/* Returns the text with U+FFFD for bytes that are not UTF-8. */
static struct cel_text valid(struct arena *arena, struct buf *bytes)
{
	struct buf out;

	buf_init(&out);
	for (size_t i = 0; i < bytes->len;) {
		size_t len = utf8_length(bytes->data + i, bytes->len - i);

		if (len)
			buf_add(&out, bytes->data + i, len);
		else
			buf_adds(&out, "\357\277\275");
		i += len ? len : 1;
	}
	buf_release(bytes);
	return cel_string_from(arena, &out).text;
}

static bool decode(struct cel_text text, enum part part, struct buf *out)
{
	bool host = part == PART_HOST || part == PART_ZONE;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c == '%') {
			int byte = escaped(text, i, part);

			if (byte < 0)
				return false;
			c = (char)byte;
			i += 2;
		} else if (c == '+' && part == PART_QUERY) {
			c = ' ';
		} else if (host && !(c & 0x80) && !is_plain_host(c)) {
			return false;
		}
		buf_addc(out, c);
	}
	return true;
}

static bool decodes(struct cel_text text, enum part part)
{
	struct buf out;
	bool good;

	buf_init(&out);
	good = decode(text, part, &out);
	buf_release(&out);
	return good;
}

bool url_query_decode(struct arena *arena, struct cel_text text,
		      struct cel_text *out)
{
	struct buf bytes;
	bool good;

	buf_init(&bytes);
	good = decode(text, PART_QUERY, &bytes);
	*out = valid(arena, &bytes);
	return good;
}

struct cel_text url_path(struct arena *arena, const struct url *url)
{
	struct buf bytes, out;
	bool plain = true;

	for (size_t i = 0; i < url->path.len; i++)
		plain = plain && (is_plain_path(url->path.data[i]) ||
				  strchr("!'()*[]%", url->path.data[i]));
	if (plain)
		return url->path;
	buf_init(&bytes);
	buf_init(&out);
	decode(url->path, PART_PATH, &bytes);
	for (size_t i = 0; i < bytes.len; i++)
		buf_addf(&out, is_plain_path(bytes.data[i]) ? "%c" : "%%%02X",
			 (unsigned char)bytes.data[i]);
	buf_release(&bytes);
	return cel_string_from(arena, &out).text;
}

static bool is_port(struct cel_text port)
{
	return !port.len || (*port.data == ':' &&
			     cel_digits_length(port, 1) == port.len - 1);
}

static size_t last_of(struct cel_text text, char c)
{
	const char *at = memrchr(text.data, c, text.len);

	return at ? (size_t)(at - text.data) : text.len;
}

/* Reads a host in brackets: `[::1%25eth0]:80`. */
static bool bracketed(struct cel_text host, struct buf *out)
{
	size_t close = last_of(host, ']'), zone;
	struct cel_text name;
	struct address address;

	if (close == host.len || !is_port(cel_part(host, close + 1, host.len)))
		return false;
	name = cel_part(host, 1, close);
	for (zone = 0; zone < name.len && !cel_text_at(name, zone, "%25");)
		zone++;
	buf_addc(out, '[');
	if (!decode(cel_part(name, 0, zone), PART_HOST, out) ||
	    !decode(cel_part(name, zone, name.len), PART_ZONE, out) ||
	    !address_parse((struct cel_text){out->data + 1, out->len - 1},
			   &address) ||
	    address.size == 4)
		return false;
	buf_add(out, host.data + close, host.len - close);
	return true;
}

static bool parse_host(struct arena *arena, struct cel_text text,
		       struct url *out)
{
	size_t bracket = last_of(text, '['), colon = cel_text_find(text, ':');
	struct buf bytes;
	bool good;

	if (bracket && bracket < text.len)
		return false;
	if (!cel_text_eq(out->scheme, "http") &&
	    !cel_text_eq(out->scheme, "https"))
		colon = last_of(text, ':');
	if (bracket == text.len && !is_port(cel_part(text, colon, text.len)))
		return false;
	buf_init(&bytes);
	good = bracket < text.len ? bracketed(text, &bytes)
				  : decode(text, PART_HOST, &bytes);
	out->host = valid(arena, &bytes);
	return good;
}

static bool parse_authority(struct arena *arena, struct cel_text text,
			    struct url *out)
{
	size_t at = last_of(text, '@');

	if (at == text.len)
		return parse_host(arena, text, out);
	out->user = cel_part(text, 0, at);
	for (size_t i = 0; i < at; i++) {
		if (!is_one_of(text.data[i], "-._:~!$&'()*+,;=%@"))
			return false;
	}
	return decodes(out->user, PART_USER) &&
	       parse_host(arena, cel_part(text, at + 1, text.len), out);
}

/* Reads the scheme before the colon and moves rest past it. */
static bool parse_scheme(struct arena *arena, struct cel_text *rest,
			 struct url *out)
{
	char *scheme;
	size_t n = 0;

	/* A scheme must begin with a letter. */
	while (n < rest->len && is_one_of(rest->data[n], "+-.") &&
	       (n || (rest->data[n] | 0x20) >= 'a'))
		n++;
	if (!cel_text_at(*rest, n, ":"))
		return true;
	scheme = arena_strndup(arena, rest->data, n);
	for (char *s = scheme; *s; s++)
		*s |= *s >= 'A' && *s <= 'Z' ? 0x20 : 0;
	out->scheme = (struct cel_text){scheme, n};
	*rest = cel_part(*rest, n + 1, rest->len);
	return n;
}

static bool parse_rest(struct arena *arena, struct cel_text rest, bool request,
		       struct url *out)
{
	size_t slash;

	if (!cel_text_at(rest, 0, "/")) {
		out->opaque = rest;
		if (out->scheme.len)
			return true;
		if (request ||
		    cel_text_find(rest, ':') < cel_text_find(rest, '/'))
			return false;
	}
	if (cel_text_at(rest, 0, "//") &&
	    (out->scheme.len || (!request && !cel_text_at(rest, 0, "///")))) {
		rest = cel_part(rest, 2, rest.len);
		slash = cel_text_find(rest, '/');
		if (!parse_authority(arena, cel_part(rest, 0, slash), out))
			return false;
		rest = cel_part(rest, slash, rest.len);
	}
	out->opaque.len = 0;
	out->path = rest;
	return decodes(rest, PART_PATH);
}

static bool parse_whole(struct arena *arena, struct cel_text text, bool request,
			struct url *out)
{
	struct cel_text rest = text;
	size_t mark;

	for (size_t i = 0; i < text.len; i++) {
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			return false;
	}
	if (!text.len && request)
		return false;
	if (cel_text_eq(text, "*")) {
		out->path = text;
		return true;
	}
	if (!parse_scheme(arena, &rest, out))
		return false;
	mark = cel_text_find(rest, '?');
	if (mark < rest.len)
		out->query = cel_part(rest, mark + 1, rest.len);
	return parse_rest(arena, cel_part(rest, 0, mark), request, out);
}

bool url_parse(struct arena *arena, struct cel_text text, bool request,
	       struct url *out)
{
	size_t hash = request ? text.len : cel_text_find(text, '#');

	memset(out, 0, sizeof(*out));
	if (hash < text.len)
		out->fragment = cel_part(text, hash + 1, text.len);
	return parse_whole(arena, cel_part(text, 0, hash), request, out) &&
	       decodes(out->fragment, PART_PATH);
}

bool url_is_valid(struct arena *arena, struct cel_text text)
{
	struct url url;

	return url_parse(arena, text, true, &url);
}
