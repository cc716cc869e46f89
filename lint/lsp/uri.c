/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts file: URIs of the editor into paths, and paths into URIs.
 */
#include "uri.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "lint/term/escape.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns the path of a URI; NULL if it has an authority, which means that the
 * file is not local. */
static const char *path_part(const char *uri)
{
	static const char host[] = "//localhost/";

	if (!text_starts(uri, "file:/"))
		return NULL;
	uri += strlen("file:");
	if (text_starts(uri, host))
		return uri + strlen(host) - 1;
	if (text_starts(uri, "///"))
		return uri + 2;
	return text_starts(uri, "//") ? NULL : uri;
}

bool lsp_uri_path(const char *uri, struct buf *out)
{
	const char *at = path_part(uri);
	struct buf path;

	if (!at)
		return false;
	buf_init(&path);
	for (; *at && *at != '?' && *at != '#'; at++) {
		int high = *at == '%' ? hex(at[1]) : -1;
		int low = high >= 0 ? hex(at[2]) : -1;

		if (low >= 0) {
			buf_addc(&path, (char)(high * 16 + low));
			at += 2;
		} else {
			buf_addc(&path, *at);
		}
	}
	if (strlen(path.data) == path.len)
		path_absolute("/", path.data, out);
	buf_release(&path);
	return out->len > 1;
}

void lsp_path_uri(const char *path, struct buf *out)
{
	buf_adds(out, "file://");
	escape_uri(out, path, "/");
}
