/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PEM is walked block by block, since PEM_read_bio_X509() and its like skip
 * what they do not look for and cannot tell "no more" from "cut off".
 * The walk counts lines itself only to the extent that a block has begun:
 * a "-----BEGIN" that OpenSSL does not return is a block that is cut off.
 */
#include "ssl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>

int ssl_fail(struct err *err, const char *fmt, ...)
{
	const char *reason = ERR_reason_error_string(ERR_peek_error());
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ERR_clear_error();
	if (reason)
		return err_set(err, 0, "%s (OpenSSL: %s)", text, reason);
	return err_set(err, 0, "%s", text);
}

int64_t ssl_time(const ASN1_TIME *time)
{
	struct tm tm;

	if (!time || !ASN1_TIME_to_tm(time, &tm))
		return INT64_MIN;
	return timegm(&tm);
}

int pem_next(BIO *text, struct pem_block *block)
{
	unsigned long error;

	memset(block, 0, sizeof(*block));
	if (PEM_read_bio(text, &block->name, &block->header, &block->data,
			 &block->len))
		return 1;
	error = ERR_peek_last_error();
	if (ERR_GET_LIB(error) != ERR_LIB_PEM ||
	    ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
		return -1;
	ERR_clear_error();
	return 0;
}

void pem_block_release(struct pem_block *block)
{
	OPENSSL_free(block->name);
	OPENSSL_free(block->header);
	OPENSSL_clear_free(block->data, block->len > 0 ? block->len : 0);
	memset(block, 0, sizeof(*block));
}

int pem_is_certificate(const struct pem_block *block)
{
	return strcmp(block->name, PEM_STRING_X509) == 0 ||
	       strcmp(block->name, PEM_STRING_X509_OLD) == 0;
}

X509 *pem_certificate(const struct pem_block *block)
{
	const unsigned char *at = block->data;
	X509 *cert = d2i_X509(NULL, &at, block->len);

	if (cert && at != block->data + block->len) {
		X509_free(cert);
		cert = NULL;
	}
	return cert;
}
