/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading whole files of bounded size.
 */
#include "api_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <string.h>
#include <unistd.h>

enum { REFRESH_BYTES_MAX = 1 << 20, STEP = 4096 };

static int read_all(int fd, size_t max, struct buf *out)
{
	size_t start = out->len;

	for (;;) {
		char chunk[STEP];
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return 0;
		buf_add(out, chunk, (size_t)n);
		OPENSSL_cleanse(chunk, sizeof(chunk));
		if (out->len - start > max)
			return EFBIG;
	}
}

int api_file_read(const char *path, size_t max, struct buf *out,
		  struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int code = fd < 0 ? errno : read_all(fd, max, out);

	if (fd >= 0)
		close(fd);
	if (code)
		return err_set(err, code, "%s: %s", path, strerror(code));
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
