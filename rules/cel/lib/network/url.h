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
	struct cel_text opaque; /* "mailto:x": no host, no path */
	struct cel_text user;	/* encoded, before `@` */
	struct cel_text host;	/* with the port, decoded */
	struct cel_text path;	/* encoded */
	struct cel_text query, fragment;
};

/* NULL, or what is wrong; request: as the target of a request, no fragment. */
const char *url_parse(struct arena *arena, struct cel_text text, bool request,
		      struct url *out);
/* The same with Go's words around it, as isURL() judges. */
const char *url_problem(struct arena *arena, struct cel_text text);
/* Of a part of a query: `+` is a blank. NULL: decoded to *out. */
const char *url_query_decode(struct arena *arena, struct cel_text text,
			     struct cel_text *out);
struct cel_text url_path(struct arena *arena, const struct url *url);

#endif
