/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSSL's reasons in a struct err, times, base64, and PEM block by block.
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

/* Sets err to the message and OpenSSL's first reason; empties its queue. */
int ssl_fail(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns seconds since the epoch; INT64_MIN if it is not a time. */
int64_t ssl_time(const ASN1_TIME *time);

/* Replaces the content of out. */
void base64_write(const struct buf *data, struct buf *out);
/* Accepts text with and without line ends. Returns -1 if it is not base64, or
 * longer than DISK_LIMIT; out is then empty. */
int base64_read(const char *text, size_t len, struct buf *out);

/* One PEM block of a text. */
struct pem_block {
	char *name, *header;
	unsigned char *data;
	long len;
};

/* Returns 1 for a block; 0 at the end; -1 if a block begins and is
 * incomplete. */
int pem_next(BIO *text, struct pem_block *block);
/* data may belong to a key, so it is wiped. */
void pem_block_release(struct pem_block *block);
/*
 * True if the block is a "CERTIFICATE". pem_certificate() returns NULL if its
 * content is not one; ssl_fail() has the reason.
 */
int pem_is_certificate(const struct pem_block *block);
X509 *pem_certificate(const struct pem_block *block);
/* Return the content of the first block of a text, or NULL; never ask for a
 * passphrase. OpenSSL's queue has the reason. */
X509 *pem_first_certificate(const struct buf *pem);
EVP_PKEY *pem_first_key(const struct buf *pem);

/* Appends the content of a BIO_s_mem() or BIO_s_secmem(). Returns 1 on
 * success, as OpenSSL does. */
int ssl_take(BIO *bio, struct buf *out);
/* Appends the certificate, unless the bundle, which was written only by this
 * function, contains it; returns as above. */
int pem_add(struct buf *bundle, const X509 *cert);

#endif
