/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses URLs like Go's net/url (1.26), and addresses. Parts point into the
 * text, or are decoded in the arena; decoded ones are valid UTF-8.
 */
#ifndef CEL_URL_H
#define CEL_URL_H

#include "rules/cel/lib/lib_internal.h"

struct url {
	struct cel_text scheme; /* in lower case */
	struct cel_text opaque; /* "x" of "mailto:x", without host and path */
	struct cel_text user;	/* before `@`, still encoded */
	struct cel_text host;	/* including the port, decoded */
	struct cel_text path;	/* still encoded */
	struct cel_text query, fragment;
};

/* Parses a URL. request means the target of a request, which has no
 * fragment. */
bool url_parse(struct arena *arena, struct cel_text text, bool request,
	       struct url *out);
/* True for a text that isURL() accepts. */
bool url_is_valid(struct arena *arena, struct cel_text text);
/* Decodes a part of a query, in which `+` means a blank. */
bool url_query_decode(struct arena *arena, struct cel_text text,
		      struct cel_text *out);
struct cel_text url_path(struct arena *arena, const struct url *url);

/* IP addresses as Go's net/netip reads them. */

struct address {
	unsigned char bytes[16];
	int size;  /* number of bytes, 4 or 16 */
	bool zone; /* followed by a zone such as `%eth0` */
};

bool address_parse(struct cel_text text, struct address *out);

#endif
