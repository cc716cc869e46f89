/* SPDX-License-Identifier: Apache-2.0 */
#include "uri.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Authorities other than this host name files that are not local. */
static const char *path_part(const char *uri)
{
	static const char *const starts[] = {"file://localhost/", "file:///",
					     "file:/"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (text_starts(uri, starts[i]) &&
		    (i < 2 || uri[strlen(starts[i])] != '/'))
			return uri + strlen(starts[i]) - 1;
	return NULL;
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
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~/";

	buf_adds(out, "file://");
	for (; *path; path++) {
		if (strchr(plain, *path))
			buf_addc(out, *path);
		else
			buf_addf(out, "%%%02X", (unsigned char)*path);
	}
}
