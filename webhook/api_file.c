/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading whole files of bounded size.
 */
#include "api_file.h"

#include <openssl/crypto.h>
#include <string.h>

#include "base/file.h"

enum { REFRESH_BYTES_MAX = 1 << 20 };

/* Room is made at once, so that no copy of a token stays behind in the heap.
 * Whoever runs us names these files: a pipe is one, too. */
int api_file_read(const char *path, size_t max, struct buf *out,
		  struct err *err)
{
	struct file_how how = {.limit = max, .may_pipe = true};

	buf_grow(out, max + 1);
	if (file_load(path, &how, out, err))
		return err_wrap(err, "%s", path);
	return 0;
}

int api_file_refresh(const char *path, const char *must, struct buf *out,
		     struct err *err)
{
	struct buf fresh;
	int rc;

	buf_init(&fresh);
	rc = api_file_read(path, REFRESH_BYTES_MAX, &fresh, err);
	if (!rc && !strstr(fresh.data, must))
		rc = err_set(err, 0, "%s: not what it should be%s%s", path,
			     *must ? ": no " : "", must);
	if (!rc && !fresh.len)
		rc = err_set(err, 0, "%s: the file is empty", path);
	if (!rc) {
		struct buf old = *out;

		*out = fresh;
		fresh = old;
	}
	OPENSSL_cleanse(fresh.data, fresh.len);
	buf_release(&fresh);
	return rc;
}
