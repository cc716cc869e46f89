/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates, valid and invalid ones, made with OpenSSL directly, because
 * issue.h makes only valid ones.
 */
#ifndef CERTS_FIXTURE_H
#define CERTS_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/buf.h"

struct made {
	X509 *cert;
	EVP_PKEY *key;
};

/* Extensions as in openssl.cnf; NULL leaves one out. */
struct recipe {
	const char *kind;   /* "P-256" (also if NULL), "RSA-1024", "ED25519" */
	const char *digest; /* "SHA256" when NULL */
	const char *cn, *san, *eku, *usage, *constraints, *other;
	int64_t from, to; /* seconds from now; 0, 0: an hour before and after */
	long serial;
};

__attribute__((unused)) static EVP_PKEY *make_key(const char *kind)
{
	EVP_PKEY *key;

	if (!kind)
		kind = "P-256";
	if (strncmp(kind, "RSA-", 4) == 0)
		key = EVP_RSA_gen((unsigned)atoi(kind + 4));
	else if (strncmp(kind, "ED", 2) == 0)
		key = EVP_PKEY_Q_keygen(NULL, NULL, kind);
	else
		key = EVP_EC_gen(kind);
	if (!key)
		ERR_print_errors_fp(stderr);
	return key;
}

static void make_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;

	if (!value)
		return;
	X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	if (!extension || !X509_add_ext(cert, extension, -1))
		ERR_print_errors_fp(stderr);
	X509_EXTENSION_free(extension);
}

/* Makes a certificate. issuer NULL: self-signed. */
__attribute__((unused)) static struct made make(const struct recipe *recipe,
						const struct made *issuer)
{
	struct made made = {X509_new(), make_key(recipe->kind)};
	X509 *by = issuer ? issuer->cert : made.cert;
	const char *digest = recipe->digest ? recipe->digest : "SHA256";
	const EVP_MD *md = EVP_get_digestbyname(digest);
	EVP_PKEY *key = issuer ? issuer->key : made.key;
	bool dated = recipe->from || recipe->to;
	X509_NAME *name = X509_get_subject_name(made.cert);
	static long serial = 1000;

	X509_set_version(made.cert, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(made.cert),
			 recipe->serial ? recipe->serial : serial++);
	ASN1_TIME_set(X509_getm_notBefore(made.cert),
		      time(NULL) + (dated ? recipe->from : -3600));
	ASN1_TIME_set(X509_getm_notAfter(made.cert),
		      time(NULL) + (dated ? recipe->to : 3600));
	if (recipe->cn)
		X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
					   (const unsigned char *)recipe->cn,
					   -1, -1, 0);
	X509_set_issuer_name(made.cert, X509_get_subject_name(by));
	X509_set_pubkey(made.cert, made.key);
	make_extension(made.cert, by, NID_subject_alt_name, recipe->san);
	make_extension(made.cert, by, NID_ext_key_usage, recipe->eku);
	make_extension(made.cert, by, NID_key_usage, recipe->usage);
	make_extension(made.cert, by, NID_basic_constraints,
		       recipe->constraints);
	make_extension(made.cert, by, NID_netscape_comment, recipe->other);
	if (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519)
		md = NULL;
	if (!X509_sign(made.cert, key, md))
		ERR_print_errors_fp(stderr);
	return made;
}

__attribute__((unused)) static void unmake(struct made *made)
{
	X509_free(made->cert);
	EVP_PKEY_free(made->key);
}

static void take_bio(BIO *bio, struct buf *out)
{
	char *data;
	long len = BIO_get_mem_data(bio, &data);

	buf_add(out, data, len);
	BIO_free(bio);
}

__attribute__((unused)) static void pem_cert(struct buf *out, const X509 *cert)
{
	BIO *bio = BIO_new(BIO_s_mem());

	PEM_write_bio_X509(bio, cert);
	take_bio(bio, out);
}

__attribute__((unused)) static void pem_key(struct buf *out,
					    const EVP_PKEY *key)
{
	BIO *bio = BIO_new(BIO_s_mem());

	PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
	take_bio(bio, out);
}

__attribute__((unused)) static void pem_key_old(struct buf *out, EVP_PKEY *key,
						const EVP_CIPHER *cipher)
{
	unsigned char pass[] = "secret";
	BIO *bio = BIO_new(BIO_s_mem());

	PEM_write_bio_PrivateKey_traditional(bio, key, cipher,
					     cipher ? pass : NULL,
					     cipher ? 6 : 0, NULL, NULL);
	take_bio(bio, out);
}

#endif
