/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable array of bytes on the heap. buf.data is always NUL-terminated (a
 * static empty string before the first write); buf.len excludes that NUL. The
 * owner calls buf_release(). If memory runs out, OUT_OF_MEMORY() (base/err.h)
 * is called. A zeroed buffer is empty too, but its data is NULL until the first
 * write.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *data;
	size_t len;
	/* bytes allocated, 0 while data is the static empty string */
	size_t size;
};

void buf_init(struct buf *buf);
void buf_release(struct buf *buf); /* frees and reinitializes */
/* buf_release() with the type that escape_guard() needs */
void buf_drop(void *buf);
void buf_reset(struct buf *buf); /* sets len to 0 and keeps the memory */
void buf_grow(struct buf *buf, size_t extra);
void buf_add(struct buf *buf, const void *data, size_t len);
void buf_adds(struct buf *buf, const char *s);
static inline void buf_addc(struct buf *buf, char c)
{
	if (buf->len + 1 >= buf->size)
		buf_grow(buf, 1);
	buf->data[buf->len++] = c;
	buf->data[buf->len] = '\0';
}

void buf_addf(struct buf *buf, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *buf, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

#endif
