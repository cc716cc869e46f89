/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers for OpenSSL: errors as struct err, times, base64, and PEM block by
 * block.
 */
#ifndef CERTS_SSL_H
#define CERTS_SSL_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/buf.h"
#include "base/err.h"

/* Sets err to the message and OpenSSL's first error; empties OpenSSL's
 * queue. */
int ssl_fail(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns seconds since the epoch; INT64_MIN if the time is not valid. */
int64_t ssl_time(const ASN1_TIME *time);

/* Replaces the content of out by data in base64. */
void base64_write(const struct buf *data, struct buf *out);
/* Decodes base64, with or without line ends. Returns -1 if the text is not
 * base64, or longer than DISK_LIMIT; out is then empty. */
int base64_read(const char *text, size_t len, struct buf *out);

/* One PEM block of a text. */
struct pem_block {
	char *name, *header;
	unsigned char *data;
	long len;
};

/* Reads the next block. Returns 1 for a block, 0 at the end, and -1 if a block
 * begins and is incomplete. */
int pem_next(BIO *text, struct pem_block *block);
/* Wipes and frees the block, since it may hold a key. */
void pem_block_release(struct pem_block *block);
/*
 * pem_is_certificate() returns true for a block named "CERTIFICATE" or "X509
 * CERTIFICATE". pem_certificate() returns NULL if the content is not a
 * certificate; ssl_fail() then reports the reason.
 */
int pem_is_certificate(const struct pem_block *block);
X509 *pem_certificate(const struct pem_block *block);
/* Return the content of the first block of a text, or NULL, with the reason in
 * OpenSSL's queue; never ask for a passphrase. */
X509 *pem_first_certificate(const struct buf *pem);
EVP_PKEY *pem_first_key(const struct buf *pem);

/* Appends the content of a BIO_s_mem() or BIO_s_secmem(). Returns 1 on success,
 * as OpenSSL does. */
int ssl_take(BIO *bio, struct buf *out);
/* Appends the certificate, unless the bundle already contains it; the bundle
 * must be written only by this function. Returns 1 on success. */
int pem_add(struct buf *bundle, const X509 *cert);

#endif
