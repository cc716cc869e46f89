/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's view of issued certificates. Included after cmocka.h, once per
 * program.
 */
#ifndef TESTS_CERTS_CLIENT_H
#define TESTS_CERTS_CLIENT_H

#include <stdint.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/buf.h"

/* Returns the first certificate of a PEM text, or NULL. */
static X509 *first_of(const struct buf *pem)
{
	BIO *bio = BIO_new_mem_buf(pem->data, (int)pem->len);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	BIO_free(bio);
	return cert;
}

/* Verifies a leaf as a client that has only this bundle; returns an X509_V_
 * code. */
static int verify(const struct buf *bundle, const struct buf *leaf,
		  const char *host, int64_t now)
{
	BIO *bio = BIO_new_mem_buf(bundle->data, (int)bundle->len);
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *context = X509_STORE_CTX_new();
	X509_VERIFY_PARAM *param;
	X509 *cert = first_of(leaf), *ca;
	int result;

	while ((ca = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
		X509_STORE_add_cert(store, ca);
		X509_free(ca);
	}
	ERR_clear_error();
	X509_STORE_CTX_init(context, store, cert, NULL);
	param = X509_STORE_CTX_get0_param(context);
	X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
	X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER);
	X509_VERIFY_PARAM_set_time(param, now);
	X509_VERIFY_PARAM_set1_host(param, host, 0);
	X509_verify_cert(context);
	result = X509_STORE_CTX_get_error(context);
	X509_STORE_CTX_free(context);
	X509_STORE_free(store);
	X509_free(cert);
	BIO_free(bio);
	return result;
}

#endif
