/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs as Go's net/url reads them (1.26). Parts point into the text, or are
 * decoded in the arena; decoded ones are valid UTF-8.
 */
#ifndef CEL_URL_H
#define CEL_URL_H

#include "rules/cel/lib/lib_internal.h"

struct url {
	struct cel_text scheme; /* lower case */
	struct cel_text opaque; /* "mailto:x": without host and path */
	struct cel_text user;	/* encoded, before `@` */
	struct cel_text host;	/* with the port, decoded */
	struct cel_text path;	/* encoded */
	struct cel_text query, fragment;
};

/* request: parse the target of a request, which has no fragment. */
bool url_parse(struct arena *arena, struct cel_text text, bool request,
	       struct url *out);
/* True for a text that isURL() accepts. */
bool url_is_valid(struct arena *arena, struct cel_text text);
/* Decodes a part of a query: `+` is a blank. */
bool url_query_decode(struct arena *arena, struct cel_text text,
		      struct cel_text *out);
struct cel_text url_path(struct arena *arena, const struct url *url);

#endif
