/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in the objects that self-managed certificates live in.
 */
#include <ctype.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "certs/disk.h"
#include "self_managed.h"
#include "self_managed_parts.h"

void base64_write(const struct buf *data, struct buf *out)
{
	buf_reset(out);
	buf_grow(out, (data->len + 2) / 3 * 4 + 1);
	out->len = (size_t)EVP_EncodeBlock((unsigned char *)out->data,
					   (const unsigned char *)data->data,
					   (int)data->len);
}

int base64_read(const char *text, size_t len, struct buf *out)
{
	size_t padding = 0;
	int n;

	buf_reset(out);
	if (!len || len % 4 || len > DISK_LIMIT)
		return len ? -1 : 0;
	while (padding < 2 && text[len - 1 - padding] == '=')
		padding++;
	/* OpenSSL takes one anywhere. */
	if (memchr(text, '=', len - padding))
		return -1;
	buf_grow(out, len / 4 * 3 + 1);
	n = EVP_DecodeBlock((unsigned char *)out->data,
			    (const unsigned char *)text, (int)len);
	ERR_clear_error();
	if (n < (int)padding)
		return -1;
	out->len = (size_t)n - padding;
	out->data[out->len] = '\0';
	return 0;
}

int64_t managed_time(const char *text)
{
	struct tm tm = {0};
	const char *end =
		text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return end && !strcmp(end, "Z") ? (int64_t)timegm(&tm) : -1;
}

int64_t self_managed_life(const char *text)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	const int64_t most = 100LL * 366 * 86400;
	long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].name) && !errno && value > 0 &&
		    value <= most / units[i].seconds)
			return value * units[i].seconds;
	return -1;
}
