/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Issues certificates, checks the names for them, and adds them to bundles.
 * Extensions are built from values, never from OpenSSL's configuration
 * strings, in which a DNS name with a comma would become two names. Profile
 * after RFC 5280: critical keyUsage and basicConstraints, subject and
 * authority key identifier, positive random serial.
 */
#include "issue.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

#include "disk.h"
#include "ssl.h"

/*
 * Checks DNS names by the rules of Go's crypto/x509 (validHostname): Go never
 * matches a name with a trailing dot or an empty label, so such a name is
 * rejected here.
 */

enum { NAME_MAX_LEN = 253, LABEL_MAX_LEN = 63 };

static bool is_label(const char *label, size_t len)
{
	if (len == 0 || len > LABEL_MAX_LEN || label[0] == '-' ||
	    label[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = label[i];

		if (c >= 0x80 || !(isalnum(c) || c == '-' || c == '_'))
			return false;
	}
	return true;
}

bool name_is_dns(const char *name)
{
	if (strlen(name) > NAME_MAX_LEN || name_is_address(name))
		return false;
	if (strncmp(name, "*.", 2) == 0)
		name += 2;
	for (;;) {
		size_t len = strcspn(name, ".");

		if (!is_label(name, len))
			return false;
		if (!name[len])
			return true;
		name += len + 1;
	}
}

bool name_is_address(const char *text)
{
	unsigned char address[16];

	return inet_pton(AF_INET, text, address) == 1 ||
	       inet_pton(AF_INET6, text, address) == 1;
}

enum {
	BACKDATE = 300,
	SERIAL_BITS = 128,
	COMMON_NAME_MAX = 64, /* ub-common-name of RFC 5280 */
	CERT_BYTES = 8192,
	KEY_BYTES = 1024,
};

static const int64_t LIFE_MAX = 100LL * 366 * 86400;

void issued_init(struct issued *issued)
{
	buf_init(&issued->cert);
	buf_init(&issued->key);
}

void issued_release(struct issued *issued)
{
	buf_release(&issued->cert);
	disk_wipe(&issued->key);
}

/* -- parts of a certificate: 1 is success, as in OpenSSL ------------------- */

static int set_serial(X509 *cert)
{
	BIGNUM *number = BN_new();
	int good;

	do
		good = number && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ANY,
					 BN_RAND_BOTTOM_ANY);
	while (good && BN_is_zero(number));
	good = good &&
	       BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL;
	BN_free(number);
	return good;
}

static int set_times(X509 *cert, int64_t now, int64_t end)
{
	return ASN1_TIME_set(X509_getm_notBefore(cert), now - BACKDATE) &&
	       ASN1_TIME_set(X509_getm_notAfter(cert), end);
}

static int set_name(X509 *cert, const char *common_name)
{
	return X509_NAME_add_entry_by_NID(
		X509_get_subject_name(cert), NID_commonName, MBSTRING_UTF8,
		(const unsigned char *)common_name, -1, -1, 0);
}

static int add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	int good;

	X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	good = extension && X509_add_ext(cert, extension, -1);
	X509_EXTENSION_free(extension);
	return good;
}

static int push_name(GENERAL_NAMES *names, const char *text, bool address)
{
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_STRING *value =
		address ? a2i_IPADDRESS(text) : ASN1_IA5STRING_new();

	if (!name || !value ||
	    (!address && !ASN1_STRING_set(value, text, -1)) ||
	    !sk_GENERAL_NAME_push(names, name)) {
		GENERAL_NAME_free(name);
		ASN1_STRING_free(value);
		return 0;
	}
	GENERAL_NAME_set0_value(name, address ? GEN_IPADD : GEN_DNS, value);
	return 1;
}

/* Adds DNS names, then addresses. */
static int add_names(X509 *cert, const struct issue_ask *ask)
{
	GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
	int good = names != NULL;

	for (int address = 0; address < 2; address++)
		for (const char *const *name = ask->names; good && *name;
		     name++)
			if (name_is_address(*name) == address)
				good = push_name(names, *name, address);
	good = good &&
	       X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1;
	GENERAL_NAMES_free(names);
	return good;
}

static X509 *begin(EVP_PKEY *key, const char *common_name, int64_t now,
		   int64_t end)
{
	X509 *cert = X509_new();

	if (cert && X509_set_version(cert, X509_VERSION_3) &&
	    set_serial(cert) && set_times(cert, now, end) &&
	    set_name(cert, common_name) && X509_set_pubkey(cert, key))
		return cert;
	X509_free(cert);
	return NULL;
}

/* -- writing and reading --------------------------------------------------- */

/* Writes certificate and key as PEM. The key goes through OpenSSL's secure
 * memory BIO, which is wiped when it is freed. */
static int write_issued(X509 *cert, EVP_PKEY *key, struct issued *out)
{
	BIO *text = BIO_new(BIO_s_mem());
	BIO *secret = BIO_new(BIO_s_secmem());
	int good;

	buf_reset(&out->cert);
	buf_reset(&out->key);
	good = text && secret && PEM_write_bio_X509(text, cert) &&
	       PEM_write_bio_PKCS8PrivateKey(secret, key, NULL, NULL, 0, NULL,
					     NULL) &&
	       ssl_take(text, &out->cert) && ssl_take(secret, &out->key);
	BIO_free(text);
	BIO_free(secret);
	return good;
}

static int sign(X509 *cert, EVP_PKEY *key)
{
	return X509_sign(cert, key, EVP_sha256()) > 0;
}

struct authority {
	X509 *cert;
	EVP_PKEY *key;
};

static void authority_release(struct authority *ca)
{
	X509_free(ca->cert);
	EVP_PKEY_free(ca->key);
}

static int authority_read(struct authority *ca, const struct issued *pem,
			  int64_t now, struct err *err)
{
	ca->cert = pem_first_certificate(&pem->cert);
	ca->key = pem_first_key(&pem->key);
	if (!ca->cert)
		return ssl_fail(err, "the CA's certificate cannot be read");
	if (!ca->key)
		return ssl_fail(err, "the CA's key cannot be read");
	if (!X509_check_private_key(ca->cert, ca->key))
		return ssl_fail(err,
				"the CA's key does not match its certificate");
	if (X509_check_ca(ca->cert) != 1)
		return err_set(err, 0,
			       "the CA's certificate is not a CA certificate");
	if (ssl_time(X509_get0_notAfter(ca->cert)) <= now)
		return err_set(err, 0, "the CA is expired");
	return 0;
}

/* -- requests -------------------------------------------------------------- */

static int check_names(const struct issue_ask *ask, struct err *err)
{
	if (!ask->names || !*ask->names)
		return err_set(err, 0,
			       "a certificate needs a DNS name or an "
			       "address");
	for (const char *const *name = ask->names; *name; name++) {
		if (!name_is_dns(*name) && !name_is_address(*name))
			return err_set(err, 0, "'%.100s' is not a DNS name",
				       *name);
	}
	return 0;
}

static int check_life(const struct issue_ask *ask, struct err *err)
{
	if (ask->seconds <= 0 || ask->seconds > LIFE_MAX)
		return err_set(err, 0,
			       "a life of %lld seconds is not between "
			       "1 second and 100 years",
			       (long long)ask->seconds);
	return 0;
}

/* Returns the common name for users; clients check only the alternative
 * names. */
static const char *leaf_common_name(const struct issue_ask *ask)
{
	const char *name = ask->common_name;

	for (size_t i = 0; !name && ask->names[i]; i++)
		if (!name_is_address(ask->names[i]))
			name = ask->names[i];
	if (!name || !*name || strlen(name) > COMMON_NAME_MAX)
		return "gpugated";
	return name;
}

/* Allocates the buffers in advance: if memory runs out, gpugate's allocation
 * ends the work, which would leak OpenSSL's objects. */
static void make_room(struct issued *out)
{
	buf_grow(&out->cert, CERT_BYTES);
	buf_grow(&out->key, KEY_BYTES);
}

int issue_ca(const struct issue_ask *ask, struct issued *out, struct err *err)
{
	EVP_PKEY *key;
	X509 *cert;
	int good;

	if (!ask->common_name || !*ask->common_name ||
	    strlen(ask->common_name) > COMMON_NAME_MAX)
		return err_set(err, 0, "a CA's name has 1 to %d characters",
			       COMMON_NAME_MAX);
	if (check_life(ask, err) < 0)
		return -1;
	make_room(out);
	key = EVP_EC_gen("P-256");
	cert = key ? begin(key, ask->common_name, ask->now,
			   ask->now + ask->seconds)
		   : NULL;
	good = cert &&
	       X509_set_issuer_name(cert, X509_get_subject_name(cert)) &&
	       add_extension(cert, cert, NID_basic_constraints,
			     "critical,CA:TRUE,pathlen:0") &&
	       add_extension(cert, cert, NID_key_usage,
			     "critical,keyCertSign,cRLSign") &&
	       add_extension(cert, cert, NID_subject_key_identifier, "hash") &&
	       add_extension(cert, cert, NID_authority_key_identifier,
			     "keyid:always") &&
	       sign(cert, key) && write_issued(cert, key, out);
	if (!good)
		ssl_fail(err, "a CA cannot be issued");
	X509_free(cert);
	EVP_PKEY_free(key);
	return good ? 0 : -1;
}

static int leaf_extensions(X509 *cert, const struct authority *ca,
			   const struct issue_ask *ask)
{
	return X509_set_issuer_name(cert, X509_get_subject_name(ca->cert)) &&
	       add_extension(cert, ca->cert, NID_basic_constraints,
			     "critical,CA:FALSE") &&
	       add_extension(cert, ca->cert, NID_key_usage,
			     "critical,digitalSignature") &&
	       add_extension(cert, ca->cert, NID_ext_key_usage, "serverAuth") &&
	       add_extension(cert, ca->cert, NID_subject_key_identifier,
			     "hash") &&
	       add_extension(cert, ca->cert, NID_authority_key_identifier,
			     "keyid") &&
	       add_names(cert, ask) && sign(cert, ca->key);
}

static int sign_leaf(const struct issue_ask *ask, const struct authority *ca,
		     struct issued *out, struct err *err)
{
	int64_t end = ask->now + ask->seconds;
	int64_t ca_end = ssl_time(X509_get0_notAfter(ca->cert));
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = key ? begin(key, leaf_common_name(ask), ask->now,
				 end < ca_end ? end : ca_end)
			 : NULL;
	int good = cert && leaf_extensions(cert, ca, ask) &&
		   write_issued(cert, key, out);

	if (!good)
		ssl_fail(err, "a certificate cannot be issued");
	X509_free(cert);
	EVP_PKEY_free(key);
	return good ? 0 : -1;
}

int issue_leaf(const struct issue_ask *ask, const struct issued *ca,
	       struct issued *out, struct err *err)
{
	struct authority authority = {0};
	int result = -1;

	make_room(out);
	if (check_life(ask, err) == 0 && check_names(ask, err) == 0 &&
	    authority_read(&authority, ca, ask->now, err) == 0)
		result = sign_leaf(ask, &authority, out, err);
	authority_release(&authority);
	return result;
}

/*
 * Adds certificates to a CA bundle, which during a rotation has the old and the
 * new CA. Certificates are compared by their bytes, expired ones are left out,
 * and each is encoded again, so that text around certificates is not collected
 * over many rotations.
 */

static int add_block(struct buf *bundle, const struct pem_block *block,
		     int64_t now, struct err *err)
{
	X509 *cert;
	int good = 1;

	if (!pem_is_certificate(block))
		return 0;
	cert = pem_certificate(block);
	if (!cert)
		return ssl_fail(err, "a certificate of the bundle cannot be "
				     "read");
	if (ssl_time(X509_get0_notAfter(cert)) > now)
		good = pem_add(bundle, cert);
	X509_free(cert);
	return good ? 0 : ssl_fail(err, "a bundle cannot be written");
}

int bundle_add(struct buf *bundle, const struct buf *pem, int64_t now,
	       struct err *err)
{
	BIO *text = BIO_new_mem_buf(pem->data, (int)pem->len);
	struct pem_block block;
	int more, result = 0;

	while (result == 0 && (more = pem_next(text, &block)) != 0) {
		if (more < 0)
			result = ssl_fail(err, "a certificate of the bundle "
					       "is cut off or damaged");
		else
			result = add_block(bundle, &block, now, err);
		pem_block_release(&block);
	}
	BIO_free(text);
	return result;
}
