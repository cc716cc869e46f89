/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of certificates and keys. A text that OpenSSL, Go and GnuTLS read is
 * read. Truncated, encrypted or other texts are reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pair_fixture.h"

static void plain(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->single);
}

static void crlf_of(struct buf *buf)
{
	struct buf out;

	buf_init(&out);
	for (size_t i = 0; i < buf->len; i++) {
		if (buf->data[i] == '\n')
			buf_addc(&out, '\r');
		buf_addc(&out, buf->data[i]);
	}
	buf_release(buf);
	*buf = out;
}

static void crlf(struct texts *t, const struct cast *c)
{
	chain(t, c);
	crlf_of(&t->cert);
	crlf_of(&t->key);
}

static void extra_text(struct texts *t, const struct cast *c)
{
	buf_adds(&t->cert, "subject=CN = leaf\n\n");
	buf_adds(&t->key, "Bag Attributes: <Empty>\n");
	chain(t, c);
	buf_adds(&t->cert, "\n# the end\n");
	buf_adds(&t->key, "# the end");
}

static void old_key_format(struct texts *t, const struct cast *c)
{
	pem_cert(&t->cert, c->single.cert);
	/* The format of `openssl ecparam -genkey`. */
	buf_adds(&t->key, "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n"
			  "-----END EC PARAMETERS-----\n");
	pem_key_old(&t->key, c->single.key, NULL);
}

static void all_in_one(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->single);
	buf_add(&t->cert, t->key.data, t->key.len);
	buf_reset(&t->key);
	buf_add(&t->key, t->cert.data, t->cert.len);
}

static void nothing(struct texts *t, const struct cast *c)
{
}

static void blank_cert(struct texts *t, const struct cast *c)
{
	plain(t, c);
	buf_reset(&t->cert);
	buf_adds(&t->cert, " \r\n\n");
}

static void empty_key(struct texts *t, const struct cast *c)
{
	plain(t, c);
	buf_reset(&t->key);
}

static void cut_cert(struct texts *t, const struct cast *c)
{
	plain(t, c);
	t->cert.len /= 2;
}

static void cut_second(struct texts *t, const struct cast *c)
{
	chain(t, c);
	t->cert.len -= 60;
}

static void cut_key(struct texts *t, const struct cast *c)
{
	plain(t, c);
	t->key.len -= 10;
}

static void der_cert(struct texts *t, const struct cast *c)
{
	unsigned char *der = NULL;
	int len = i2d_X509(c->single.cert, &der);

	plain(t, c);
	buf_reset(&t->cert);
	buf_add(&t->cert, der, len);
	OPENSSL_free(der);
}

static void der_key(struct texts *t, const struct cast *c)
{
	unsigned char *der = NULL;
	int len = i2d_PrivateKey(c->single.key, &der);

	plain(t, c);
	buf_reset(&t->key);
	buf_add(&t->key, der, len);
	OPENSSL_free(der);
}

static void other_key(struct texts *t, const struct cast *c)
{
	pem_cert(&t->cert, c->single.cert);
	pem_key(&t->key, c->stranger.key);
}

static void encrypted(struct texts *t, const struct cast *c)
{
	BIO *bio = BIO_new(BIO_s_mem());

	pem_cert(&t->cert, c->single.cert);
	PEM_write_bio_PKCS8PrivateKey(bio, c->single.key, EVP_aes_256_cbc(),
				      "secret", 6, NULL, NULL);
	take_bio(bio, &t->key);
}

static void encrypted_old(struct texts *t, const struct cast *c)
{
	pem_cert(&t->cert, c->single.cert);
	pem_key_old(&t->key, c->single.key, EVP_aes_256_cbc());
}

static void two_keys(struct texts *t, const struct cast *c)
{
	plain(t, c);
	pem_key(&t->key, c->stranger.key);
}

static void public_key(struct texts *t, const struct cast *c)
{
	BIO *bio = BIO_new(BIO_s_mem());

	pem_cert(&t->cert, c->single.cert);
	PEM_write_bio_PUBKEY(bio, c->single.key);
	take_bio(bio, &t->key);
}

static void changed_places(struct texts *t, const struct cast *c)
{
	struct buf cert;

	plain(t, c);
	cert = t->cert;
	t->cert = t->key;
	t->key = cert;
}

static void damaged_key(struct texts *t, const struct cast *c)
{
	plain(t, c);
	buf_reset(&t->key);
	buf_adds(&t->key, "-----BEGIN PRIVATE KEY-----\nAAAA\n"
			  "-----END PRIVATE KEY-----\n");
}

static void openssh_key(struct texts *t, const struct cast *c)
{
	plain(t, c);
	buf_reset(&t->key);
	buf_adds(&t->key, "-----BEGIN OPENSSH PRIVATE KEY-----\n"
			  "b3BlbnNzaC1rZXktdjEAAAAA\n"
			  "-----END OPENSSH PRIVATE KEY-----\n");
}

static void no_pem(struct texts *t, const struct cast *c)
{
	plain(t, c);
	buf_reset(&t->cert);
	buf_adds(&t->cert, "see the other file");
}

static void request_only(struct texts *t, const struct cast *c)
{
	plain(t, c);
	buf_reset(&t->cert);
	buf_adds(&t->cert, "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n"
			   "-----END CERTIFICATE REQUEST-----\n");
}

static void bad_base64(struct texts *t, const struct cast *c)
{
	plain(t, c);
	t->cert.data[100] = '*';
}

static void bad_der(struct texts *t, const struct cast *c)
{
	plain(t, c);
	memcpy(t->cert.data + 40, "AAAAAAAAAAAA", 12);
}

/* A key whose public part belongs to the certificate, but whose private part
 * does not. */
static void mixed_key(struct texts *t, const struct cast *c)
{
	BIGNUM *secret = NULL;
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
	OSSL_PARAM *own = NULL, *foreign = NULL, *both;
	EVP_PKEY *key = NULL;
	OSSL_PARAM swap[2];
	unsigned char bytes[32];

	pem_cert(&t->cert, c->single.cert);
	EVP_PKEY_todata(c->single.key, EVP_PKEY_PUBLIC_KEY, &own);
	EVP_PKEY_todata(c->stranger.key, EVP_PKEY_KEYPAIR, &foreign);
	EVP_PKEY_get_bn_param(c->stranger.key, "priv", &secret);
	BN_bn2nativepad(secret, bytes, sizeof(bytes));
	swap[0] = OSSL_PARAM_construct_BN("priv", bytes, sizeof(bytes));
	swap[1] = OSSL_PARAM_construct_end();
	both = OSSL_PARAM_merge(own, swap);
	EVP_PKEY_fromdata_init(context);
	assert_int_equal(
		EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, both), 1);
	pem_key(&t->key, key);
	EVP_PKEY_free(key);
	OSSL_PARAM_free(both);
	OSSL_PARAM_free(own);
	OSSL_PARAM_free(foreign);
	BN_clear_free(secret);
	EVP_PKEY_CTX_free(context);
}

static const struct spoiled cases[] = {
	{"plain", PAIR_GOOD, NULL, .write = plain},
	{"CRLF", PAIR_GOOD, NULL, .write = crlf},
	{"extra text", PAIR_GOOD, NULL, .write = extra_text},
	{"EC PRIVATE KEY", PAIR_GOOD, NULL, .write = old_key_format},
	{"all in one", PAIR_GOOD,
	 "the certificate's file contains a private key", .write = all_in_one},
	{"nothing", PAIR_UNFINISHED, "c.crt: is empty", .write = nothing},
	{"blank", PAIR_UNFINISHED, "c.crt: is empty", .write = blank_cert},
	{"no key", PAIR_UNFINISHED, "k.key: is empty", .write = empty_key},
	{"cut off", PAIR_UNFINISHED, "c.crt: PEM block 1", .write = cut_cert},
	{"second cut off", PAIR_UNFINISHED, "c.crt: PEM block 2",
	 .write = cut_second},
	{"key cut off", PAIR_UNFINISHED, "k.key: PEM block 1",
	 .write = cut_key},
	{"other key", PAIR_UNFINISHED,
	 "k.key: is not the key of the certificate in c.crt",
	 .write = other_key},
	{"places", PAIR_UNFINISHED,
	 "c.crt: contains no certificate but a block named PRIVATE KEY",
	 .write = changed_places},
	{"public key", PAIR_UNFINISHED,
	 "k.key: contains no private key but a block named PUBLIC KEY",
	 .write = public_key},
	{"request", PAIR_UNFINISHED, "CERTIFICATE REQUEST",
	 .write = request_only},
	{"no PEM", PAIR_UNFINISHED, "c.crt: contains no certificate",
	 .write = no_pem},
	{"base64", PAIR_UNFINISHED, "c.crt: PEM block 1", .write = bad_base64},
	{"DER", PAIR_REFUSED, "c.crt: is DER", .write = der_cert},
	{"DER key", PAIR_REFUSED, "k.key: is DER", .write = der_key},
	{"bad DER", PAIR_REFUSED, "certificate 1 cannot be read",
	 .write = bad_der},
	{"encrypted", PAIR_REFUSED, "k.key: the key is encr",
	 .write = encrypted},
	{"encrypted, old", PAIR_REFUSED, "is encrypted",
	 .write = encrypted_old},
	{"two keys", PAIR_REFUSED, "more than one private key",
	 .write = two_keys},
	{"damaged key", PAIR_REFUSED, "k.key: the PRIVATE KEY cannot be read",
	 .write = damaged_key},
	{"OpenSSH", PAIR_REFUSED, "OPENSSH PRIVATE KEY", .write = openssh_key},
	{"mixed key", PAIR_REFUSED, "k.key: the key's private",
	 .write = mixed_key},
};

static void each_text_has_its_verdict(void **state)
{
	check_cases(cases, sizeof(cases) / sizeof(*cases));
}

/* A text that is only partly written is never accepted. */
static void no_prefix_is_taken(void **state)
{
	struct cast *cast = cast_new();
	struct arena arena = ARENA_INIT;
	struct pair_info info;
	struct texts whole;
	struct err err;

	texts_init(&whole);
	plain(&whole, cast);
	for (size_t len = 0; len + 1 < whole.cert.len; len++) {
		struct texts part = whole;

		part.cert.len = len;
		assert_int_equal(ask_pair(&arena, &part, NULL, &info, &err),
				 PAIR_UNFINISHED);
		arena_reset(&arena);
	}
	for (size_t len = 0; len + 1 < whole.key.len; len++) {
		struct texts part = whole;

		part.key.len = len;
		assert_int_equal(ask_pair(&arena, &part, NULL, &info, &err),
				 PAIR_UNFINISHED);
		arena_reset(&arena);
	}
	texts_release(&whole);
	arena_release(&arena);
	cast_free(cast);
}

/* A single wrong character is never accepted, in a key or in a certificate
 * followed by its issuer. The only exceptions are the key's two version
 * numbers, which OpenSSL ignores; the key is then still complete and
 * correct. */
static void damage_is_seen(void **state)
{
	struct cast *cast = cast_new();
	struct arena arena = ARENA_INIT;
	struct pair_info info;
	struct texts texts;
	struct err err;
	size_t good = 0;

	texts_init(&texts);
	chain(&texts, cast);
	for (size_t i = 28; i + 27 < texts.key.len; i++) {
		char was = texts.key.data[i];

		texts.key.data[i] = was == 'A' ? 'B' : 'A';
		if (ask_pair(&arena, &texts, NULL, &info, &err) == PAIR_GOOD)
			good++;
		texts.key.data[i] = was;
		arena_reset(&arena);
	}
	assert_in_range(good, 0, 4);
	good = 0;
	for (size_t i = 28; i + 27 < texts.cert.len / 2; i++) {
		char was = texts.cert.data[i];

		texts.cert.data[i] = was == 'A' ? 'B' : 'A';
		if (ask_pair(&arena, &texts, NULL, &info, &err) == PAIR_GOOD)
			good++;
		texts.cert.data[i] = was;
		arena_reset(&arena);
	}
	assert_int_equal(good, 0);
	texts_release(&texts);
	arena_release(&arena);
	cast_free(cast);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_has_its_verdict),
		cmocka_unit_test(no_prefix_is_taken),
		cmocka_unit_test(damage_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
