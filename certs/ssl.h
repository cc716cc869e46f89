/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: OpenSSL's reasons in a struct err,
 * times, and freeing at the end of a scope.
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

/* Seconds since the epoch; INT64_MIN when it is no time. */
int64_t ssl_time(const ASN1_TIME *time);

/* One PEM block of a text. */
struct pem_block {
	char *name, *header;
	unsigned char *data;
	long len;
};

/* 1: a block; 0: there are no more; -1: one begins that does not end well. */
int pem_next(BIO *text, struct pem_block *block);
/* data may be of a key: it is wiped. */
void pem_block_release(struct pem_block *block);
/* Is it a "CERTIFICATE"? NULL when it is not one inside (ssl_fail() says). */
int pem_is_certificate(const struct pem_block *block);
X509 *pem_certificate(const struct pem_block *block);

#endif
