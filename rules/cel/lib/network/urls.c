/* SPDX-License-Identifier: Apache-2.0 */
/* URL functions (apiserver pkg/cel/library/urls.go). */
#include <string.h>

#include "rules/cel/lib/network/url.h"

/* Largest number of parts of a query; Go rejects longer ones. */
enum { QUERY_PARTS = 10000 };

static bool same(struct cel_text a, struct cel_text b)
{
	return a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));
}

static bool urls_equal(const void *a, const void *b)
{
	const struct url *x = a, *y = b;

	return same(x->scheme, y->scheme) && same(x->opaque, y->opaque) &&
	       same(x->user, y->user) && same(x->host, y->host) &&
	       same(x->path, y->path) && same(x->query, y->query) &&
	       same(x->fragment, y->fragment);
}

static const struct cel_opaque_type url_type = {
	.type = {.kind = CEL_OPAQUE, .name = "kubernetes.URL"},
	.equal = urls_equal};

static const struct url *url_of(const struct cel_call *call)
{
	return call->args[0].opaque.data;
}

static struct cel_value text(struct cel_text text)
{
	return text.len ? cel_stringn(text.data, text.len) : cel_string("");
}

static struct cel_value url(struct cel_call *call)
{
	struct url *url = ARENA_NEW(call->arena, struct url);
	struct cel_text text = call->args[0].text;

	return url_is_valid(call->arena, text) &&
			       url_parse(call->arena, text, false, url)
		       ? cel_opaque(&url_type, url)
		       : cel_is_not(call, "a URL");
}

static struct cel_value is_url(struct cel_call *call)
{
	return cel_bool(url_is_valid(call->arena, call->args[0].text));
}

static struct cel_value scheme(struct cel_call *call)
{
	return text(url_of(call)->scheme);
}

static struct cel_value host(struct cel_call *call)
{
	return text(url_of(call)->host);
}

/* Returns the position of the colon before the port, or the length of the
 * text. */
static size_t port_of(struct cel_text host)
{
	size_t at = host.len;

	while (at && host.data[at - 1] >= '0' && host.data[at - 1] <= '9')
		at--;
	return at && host.data[at - 1] == ':' ? at - 1 : host.len;
}

static struct cel_value host_name(struct cel_call *call)
{
	struct cel_text host = url_of(call)->host;

	host.len = port_of(host);
	if (cel_text_at(host, 0, "[") && host.data[host.len - 1] == ']')
		host = cel_part(host, 1, host.len - 1);
	return text(host);
}

static struct cel_value port(struct cel_call *call)
{
	struct cel_text host = url_of(call)->host;
	size_t colon = port_of(host);

	return colon < host.len ? cel_string_part(host, colon + 1, host.len)
				: cel_string("");
}

static struct cel_value escaped_path(struct cel_call *call)
{
	return text(url_path(call->arena, url_of(call)));
}

/* Adds a value to the list of its name, which is copied to grow. */
static void add_parameter(struct arena *arena, struct cel_map_builder *all,
			  struct cel_text name, struct cel_text value)
{
	struct cel_value list = cel_list(arena, NULL, 0), *items;
	size_t n;

	cel_map_find(arena, cel_map_built(arena, all), text(name), &list);
	n = cel_size(list);
	items = ARENA_ARRAY(arena, struct cel_value, n + 1);
	for (size_t i = 0; i < n; i++)
		items[i] = cel_list_at(arena, list, i);
	items[n] = text(value);
	list = cel_list(arena, items, n + 1);
	cel_map_put(arena, all, (struct cel_entry){text(name), list}, true);
}

static void add_part(struct arena *arena, struct cel_map_builder *all,
		     struct cel_text part)
{
	size_t equals = cel_text_find(part, '=');
	struct cel_text name, value = {part.data, 0};

	if (equals < part.len)
		value = cel_part(part, equals + 1, part.len);
	if (part.len && cel_text_find(part, ';') == part.len &&
	    url_query_decode(arena, cel_part(part, 0, equals), &name) &&
	    url_query_decode(arena, value, &value))
		add_parameter(arena, all, name, value);
}

static struct cel_value query(struct cel_call *call)
{
	struct cel_text rest = url_of(call)->query;
	struct cel_map_builder all = {0};
	size_t parts = 1;

	for (size_t i = 0; i < rest.len; i++)
		parts += rest.data[i] == '&';
	while (rest.len && parts <= QUERY_PARTS) {
		size_t end = cel_text_find(rest, '&');

		add_part(call->arena, &all, cel_part(rest, 0, end));
		rest = cel_part(rest, end + (end < rest.len), rest.len);
	}
	return cel_map_built(call->arena, &all);
}

const struct cel_overload cel_urls_library[] = {
	{"url", "(string) kubernetes.URL", url, cel_cost_traverse},
	{"isURL", "(string) bool", is_url, NULL},
	{"getScheme", "kubernetes.URL.() string", scheme, NULL},
	{"getHost", "kubernetes.URL.() string", host, NULL},
	{"getHostname", "kubernetes.URL.() string", host_name, NULL},
	{"getPort", "kubernetes.URL.() string", port, NULL},
	{"getEscapedPath", "kubernetes.URL.() string", escaped_path, NULL},
	{"getQuery", "kubernetes.URL.() map(string, list(string))", query,
	 NULL},
	{0},
};
