/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/cel/lib/network/url.h"

#include <string.h>

#include "base/text.h"
#include "rules/cel/lib/network/address.h"

/* Where an encoded text is. */
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

/* The byte that %XX stands for at position i; -1: it is not an escape there. */
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

/* Bytes that are not UTF-8 become U+FFFD. */
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

static const char *decode(struct arena *arena, struct cel_text text,
			  enum part part, struct buf *out)
{
	bool host = part == PART_HOST || part == PART_ZONE;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		struct cel_text bad = {text.data + i, 1};
		int byte;

		if (c == '%') {
			byte = escaped(text, i, part);
			bad.len = text.len - i < 3 ? text.len - i : 3;
			if (byte < 0)
				return arena_printf(arena,
						    "invalid URL escape %s",
						    cel_quoted(arena, bad));
			c = (char)byte;
			i += 2;
		} else if (c == '+' && part == PART_QUERY) {
			c = ' ';
		} else if (host && !(c & 0x80) && !is_plain_host(c)) {
			return arena_printf(arena,
					    "invalid character %s in host name",
					    cel_quoted(arena, bad));
		}
		buf_addc(out, c);
	}
	return NULL;
}

static const char *check(struct arena *arena, struct cel_text text,
			 enum part part)
{
	struct buf out;
	const char *problem;

	buf_init(&out);
	problem = decode(arena, text, part, &out);
	buf_release(&out);
	return problem;
}

const char *url_query_decode(struct arena *arena, struct cel_text text,
			     struct cel_text *out)
{
	struct buf bytes;
	const char *problem;

	buf_init(&bytes);
	problem = decode(arena, text, PART_QUERY, &bytes);
	*out = valid(arena, &bytes);
	return problem;
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
	decode(arena, url->path, PART_PATH, &bytes);
	for (size_t i = 0; i < bytes.len; i++)
		buf_addf(&out, is_plain_path(bytes.data[i]) ? "%c" : "%%%02X",
			 (unsigned char)bytes.data[i]);
	buf_release(&bytes);
	return cel_string_from(arena, &out).text;
}

static const char *check_port(struct arena *arena, struct cel_text port)
{
	bool good = !port.len || (*port.data == ':' &&
				  cel_digits_length(port, 1) == port.len - 1);

	return good ? NULL
		    : arena_printf(arena, "invalid port %s after host",
				   cel_quoted(arena, port));
}

static size_t last_of(struct cel_text text, char c)
{
	const char *at = memrchr(text.data, c, text.len);

	return at ? (size_t)(at - text.data) : text.len;
}

/* `[::1%25eth0]:80` */
static const char *bracketed(struct arena *arena, struct cel_text host,
			     struct buf *out)
{
	size_t close = last_of(host, ']'), zone;
	struct cel_text name;
	struct address address;
	const char *problem;

	if (close == host.len)
		return "missing ']' in host";
	problem = check_port(arena, cel_part(host, close + 1, host.len));
	if (problem)
		return problem;
	name = cel_part(host, 1, close);
	for (zone = 0; zone < name.len && !cel_text_at(name, zone, "%25");)
		zone++;
	problem = decode(arena, cel_part(name, 0, zone), PART_HOST, out);
	if (!problem)
		problem = decode(arena, cel_part(name, zone, name.len),
				 PART_ZONE, out);
	if (problem)
		return problem;
	problem = address_parse(arena, (struct cel_text){out->data, out->len},
				&address);
	if (problem)
		return arena_printf(arena, "invalid host: %s", problem);
	if (address.size == 4)
		return "invalid IP-literal";
	name = (struct cel_text){arena_strndup(arena, out->data, out->len),
				 out->len};
	buf_reset(out);
	buf_addf(out, "[%.*s]%.*s", (int)name.len, name.data,
		 (int)(host.len - close - 1), host.data + close + 1);
	return NULL;
}

static const char *parse_host(struct arena *arena, struct cel_text text,
			      struct url *out)
{
	size_t bracket = last_of(text, '['), colon = cel_text_find(text, ':');
	const char *problem = NULL;
	struct buf bytes;

	if (bracket && bracket < text.len)
		return "invalid IP-literal";
	if (!cel_text_eq(out->scheme, "http") &&
	    !cel_text_eq(out->scheme, "https"))
		colon = last_of(text, ':');
	if (bracket == text.len && colon < text.len)
		problem = check_port(arena, cel_part(text, colon, text.len));
	if (problem)
		return problem;
	buf_init(&bytes);
	if (bracket < text.len)
		problem = bracketed(arena, text, &bytes);
	else
		problem = decode(arena, text, PART_HOST, &bytes);
	out->host = valid(arena, &bytes);
	return problem;
}

static const char *parse_authority(struct arena *arena, struct cel_text text,
				   struct url *out)
{
	size_t at = last_of(text, '@');
	const char *problem;

	if (at == text.len)
		return parse_host(arena, text, out);
	out->user = cel_part(text, 0, at);
	problem = parse_host(arena, cel_part(text, at + 1, text.len), out);
	if (problem)
		return problem;
	for (size_t i = 0; i < at; i++) {
		if (!is_one_of(text.data[i], "-._:~!$&'()*+,;=%@"))
			return "net/url: invalid userinfo";
	}
	return check(arena, out->user, PART_USER);
}

/* What is before the colon; rest moves behind it. */
static const char *parse_scheme(struct arena *arena, struct cel_text *rest,
				struct url *out)
{
	char *scheme;

	for (size_t i = 0; i < rest->len; i++) {
		char c = rest->data[i];

		if (c == ':' && !i)
			return "missing protocol scheme";
		if (c == ':') {
			scheme = arena_strndup(arena, rest->data, i);
			for (char *s = scheme; *s; s++)
				*s |= *s >= 'A' && *s <= 'Z' ? 0x20 : 0;
			out->scheme = (struct cel_text){scheme, i};
			*rest = cel_part(*rest, i + 1, rest->len);
			return NULL;
		}
		if (!is_one_of(c, "+-.") ||
		    (!i && (c | 0x20) < 'a')) /* digits, too */
			return NULL;
	}
	return NULL;
}

static const char *parse_rest(struct arena *arena, struct cel_text rest,
			      bool request, struct url *out)
{
	size_t slash;
	const char *problem;

	if (!cel_text_at(rest, 0, "/")) {
		out->opaque = rest;
		if (out->scheme.len)
			return NULL;
		if (request)
			return "invalid URI for request";
		if (cel_text_find(rest, ':') < cel_text_find(rest, '/'))
			return "first path segment in URL cannot contain colon";
	}
	if (cel_text_at(rest, 0, "//") &&
	    (out->scheme.len || (!request && !cel_text_at(rest, 0, "///")))) {
		rest = cel_part(rest, 2, rest.len);
		slash = cel_text_find(rest, '/');
		problem = parse_authority(arena, cel_part(rest, 0, slash), out);
		if (problem)
			return problem;
		rest = cel_part(rest, slash, rest.len);
	}
	out->opaque.len = 0;
	out->path = rest;
	return check(arena, rest, PART_PATH);
}

static const char *parse_whole(struct arena *arena, struct cel_text text,
			       bool request, struct url *out)
{
	struct cel_text rest = text;
	size_t mark;
	const char *problem;

	for (size_t i = 0; i < text.len; i++) {
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			return "net/url: invalid control character in URL";
	}
	if (!text.len && request)
		return "empty url";
	if (cel_text_eq(text, "*")) {
		out->path = text;
		return NULL;
	}
	problem = parse_scheme(arena, &rest, out);
	if (problem)
		return problem;
	mark = cel_text_find(rest, '?');
	if (mark < rest.len)
		out->query = cel_part(rest, mark + 1, rest.len);
	return parse_rest(arena, cel_part(rest, 0, mark), request, out);
}

const char *url_parse(struct arena *arena, struct cel_text text, bool request,
		      struct url *out)
{
	size_t hash = request ? text.len : cel_text_find(text, '#');
	struct cel_text whole = cel_part(text, 0, hash);
	const char *problem;

	memset(out, 0, sizeof(*out));
	problem = parse_whole(arena, whole, request, out);
	if (!problem && hash < text.len) {
		out->fragment = cel_part(text, hash + 1, text.len);
		problem = check(arena, out->fragment, PART_PATH);
		whole = text;
	}
	return problem ? arena_printf(arena, "parse %s: %s",
				      cel_quoted(arena, whole), problem)
		       : NULL;
}

const char *url_problem(struct arena *arena, struct cel_text text)
{
	struct url url;

	return url_parse(arena, text, true, &url);
}
