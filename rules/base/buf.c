/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growable bytes. The data of an empty buffer is a static NUL, so that data is
 * always a valid string; that byte is never written.
 */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static const char empty[1] = "";

void buf_init(struct buf *buf)
{
	/* Never written while size is 0: buf_grow() replaces it first. */
	buf->data = (char *)(uintptr_t)empty;
	buf->len = 0;
	buf->size = 0;
}

void buf_release(struct buf *buf)
{
	if (buf->size)
		free(buf->data);
	buf_init(buf);
}

void buf_drop(void *buf)
{
	buf_release(buf);
}

void buf_reset(struct buf *buf)
{
	buf->len = 0;
	if (buf->size)
		buf->data[0] = '\0';
}

void buf_grow(struct buf *buf, size_t extra)
{
	size_t size = buf->size;
	char *data;

	if (extra >= SIZE_MAX / 2 - buf->len)
		BUG("buffer of %zu + %zu bytes", buf->len, extra);
	if (buf->len + extra < size)
		return;
	if (size < 64)
		size = 64;
	while (size <= buf->len + extra)
		size *= 2;
	data = realloc(buf->size ? buf->data : NULL, size);
	if (!data)
		OUT_OF_MEMORY();
	data[buf->len] = '\0';
	buf->data = data;
	buf->size = size;
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	if (!len)
		return;
	buf_grow(buf, len);
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_adds(struct buf *buf, const char *s)
{
	buf_add(buf, s, strlen(s));
}

void buf_addf(struct buf *buf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(buf, fmt, ap);
	va_end(ap);
}

void buf_vaddf(struct buf *buf, const char *fmt, va_list ap)
{
	size_t room = buf->size - buf->len;
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(room ? buf->data + buf->len : NULL, room, fmt, again);
	va_end(again);
	if (len < 0)
		BUG("format \"%s\"", fmt);
	/* Most texts fit into the existing memory, so format there first. */
	if ((size_t)len >= room) {
		buf_grow(buf, (size_t)len);
		vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, ap);
	}
	buf->len += (size_t)len;
}
