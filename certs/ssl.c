/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads PEM block by block: PEM_read_bio_X509() and similar functions skip
 * other blocks and do not distinguish the end from a truncated block. A
 * "-----BEGIN" that OpenSSL does not return as a block is the start of a
 * truncated one.
 */
#include "ssl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/escape.h"
#include "disk.h"

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
	EVP_ENCODE_CTX *context;
	int n = -1, rest = 0;
	unsigned char *to;

	buf_reset(out);
	buf_grow(out, len + 1);
	context = EVP_ENCODE_CTX_new();
	if (!context)
		OUT_OF_MEMORY();
	to = (unsigned char *)out->data;
	EVP_DecodeInit(context);
	/* OpenSSL stops at a '-', so such a text is rejected first. */
	if (len > DISK_LIMIT || memchr(text, '-', len) ||
	    EVP_DecodeUpdate(context, to, &n, (const unsigned char *)text,
			     (int)len) < 0 ||
	    EVP_DecodeFinal(context, to + n, &rest) < 0)
		n = -1;
	EVP_ENCODE_CTX_free(context);
	ERR_clear_error();
	out->len = n < 0 ? 0 : (size_t)(n + rest);
	out->data[out->len] = '\0';
	return n < 0 ? -1 : 0;
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

static int first_block(const struct buf *pem, struct pem_block *block)
{
	BIO *text = BIO_new_mem_buf(pem->data, (int)pem->len);
	int found = pem_next(text, block);

	BIO_free(text);
	return found > 0;
}

X509 *pem_first_certificate(const struct buf *pem)
{
	struct pem_block block;
	X509 *cert = NULL;

	if (first_block(pem, &block) && pem_is_certificate(&block))
		cert = pem_certificate(&block);
	pem_block_release(&block);
	return cert;
}

EVP_PKEY *pem_first_key(const struct buf *pem)
{
	const unsigned char *at;
	struct pem_block block;
	EVP_PKEY *key = NULL;

	if (first_block(pem, &block)) {
		at = block.data;
		key = d2i_AutoPrivateKey(NULL, &at, block.len);
	}
	pem_block_release(&block);
	return key;
}

int ssl_take(BIO *bio, struct buf *out)
{
	char *data;
	long len = BIO_get_mem_data(bio, &data);

	if (len <= 0)
		return 0;
	buf_add(out, data, len);
	return 1;
}

static void drop_bio(void *bio)
{
	BIO_free(bio);
}

int pem_add(struct buf *bundle, const X509 *cert)
{
	BIO *text = BIO_new(BIO_s_mem());
	struct escape_guard text_guard, pem_guard;
	struct buf pem;
	int good;

	buf_init(&pem);
	escape_guard(&text_guard, drop_bio, text);
	escape_guard(&pem_guard, buf_drop, &pem);
	good = text && PEM_write_bio_X509(text, cert) && ssl_take(text, &pem);
	if (good && !strstr(bundle->data, pem.data))
		buf_add(bundle, pem.data, pem.len);
	escape_unguard(&pem_guard);
	escape_unguard(&text_guard);
	buf_release(&pem);
	BIO_free(text);
	return good;
}
