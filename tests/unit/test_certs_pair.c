/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs that are good, and the many ways in which they are not: each with
 * its verdict and the words that tell what to mend.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "certs/pair.h"
#include "certs_fixture.h"
#include "webhook/key_store.h"

#define SAN  "DNS:gpugate.gpu.svc"
#define HOUR 3600
#define DAY  (24 * HOUR)

/* The cast of every case: a root, what it issued, and something apart. */
struct cast {
	struct made root, middle, leaf, single, stranger;
};

static struct cast *cast_new(void)
{
	struct cast *cast = calloc(1, sizeof(*cast));

	cast->root = make(&(struct recipe){.cn = "root",
					   .constraints = "critical,CA:TRUE"},
			  NULL);
	cast->middle =
		make(&(struct recipe){.cn = "middle", .constraints = "CA:TRUE"},
		     &cast->root);
	cast->leaf = make(&(struct recipe){.cn = "leaf",
					   .san = SAN ",IP:10.0.0.1",
					   .eku = "serverAuth",
					   .usage = "digitalSignature"},
			  &cast->middle);
	cast->single = make(&(struct recipe){.cn = "single", .san = SAN}, NULL);
	cast->stranger =
		make(&(struct recipe){.cn = "stranger", .san = SAN}, NULL);
	return cast;
}

static void cast_free(struct cast *cast)
{
	unmake(&cast->root);
	unmake(&cast->middle);
	unmake(&cast->leaf);
	unmake(&cast->single);
	unmake(&cast->stranger);
	free(cast);
}

struct texts {
	struct buf cert, key;
};

static void texts_init(struct texts *texts)
{
	buf_init(&texts->cert);
	buf_init(&texts->key);
}

static void texts_release(struct texts *texts)
{
	buf_release(&texts->cert);
	buf_release(&texts->key);
}

static void texts_of(struct texts *texts, const struct made *made)
{
	pem_cert(&texts->cert, made->cert);
	pem_key(&texts->key, made->key);
}

static enum pair_verdict ask_pair(struct arena *arena,
				  const struct texts *texts,
				  const char *const *dns,
				  struct pair_info *info, struct err *err)
{
	const struct pair_ask ask = {.cert = texts->cert.data,
				     .cert_len = texts->cert.len,
				     .cert_file = "c.crt",
				     .key = texts->key.data,
				     .key_len = texts->key.len,
				     .key_file = "k.key",
				     .dns = dns,
				     .now = time(NULL)};

	memset(err, 0, sizeof(*err));
	return pair_check(arena, &ask, info, err);
}

/* -- ways to spoil --------------------------------------------------------- */

static void plain(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->single);
}

static void chain(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->leaf);
	pem_cert(&t->cert, c->middle.cert);
}

static void chain_and_root(struct texts *t, const struct cast *c)
{
	chain(t, c);
	pem_cert(&t->cert, c->root.cert);
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
	/* as `openssl ecparam -genkey` writes it */
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

static void wrong_order(struct texts *t, const struct cast *c)
{
	pem_cert(&t->cert, c->middle.cert);
	texts_of(t, &c->leaf);
}

static void unrelated_second(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->leaf);
	pem_cert(&t->cert, c->stranger.cert);
}

static void leaf_twice(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->leaf);
	pem_cert(&t->cert, c->leaf.cert);
}

static void gap(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->leaf);
	pem_cert(&t->cert, c->root.cert);
}

static void too_many(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->single);
	for (int i = 0; i < 10; i++)
		pem_cert(&t->cert, c->single.cert);
}

/* Another key in the name of the issuer. */
static void forged_issuer(struct texts *t, const struct cast *c)
{
	struct made forger =
		make(&(struct recipe){.cn = "middle", .constraints = "CA:TRUE"},
		     &c->root);

	texts_of(t, &c->leaf);
	pem_cert(&t->cert, forger.cert);
	unmake(&forger);
}

static void issuer_without_ca(struct texts *t, const struct cast *c)
{
	struct made issuer =
		make(&(struct recipe){.cn = "plain", .constraints = "CA:FALSE"},
		     &c->root);
	struct made leaf =
		make(&(struct recipe){.cn = "leaf", .san = SAN}, &issuer);

	texts_of(t, &leaf);
	pem_cert(&t->cert, issuer.cert);
	unmake(&leaf);
	unmake(&issuer);
}

static void chain_with(struct texts *t, const struct cast *c,
		       const struct recipe *middle)
{
	struct made issuer = make(middle, &c->root);
	struct made leaf =
		make(&(struct recipe){.cn = "leaf", .san = SAN}, &issuer);

	texts_of(t, &leaf);
	pem_cert(&t->cert, issuer.cert);
	unmake(&leaf);
	unmake(&issuer);
}

static void expired_issuer(struct texts *t, const struct cast *c)
{
	chain_with(t, c,
		   &(struct recipe){.cn = "old",
				    .constraints = "CA:TRUE",
				    .from = -2 * DAY,
				    .to = -DAY});
}

static void sha1_issuer(struct texts *t, const struct cast *c)
{
	chain_with(t, c,
		   &(struct recipe){.cn = "old",
				    .constraints = "CA:TRUE",
				    .digest = "SHA1"});
}

static void weak_issuer(struct texts *t, const struct cast *c)
{
	chain_with(t, c,
		   &(struct recipe){.cn = "weak",
				    .constraints = "CA:TRUE",
				    .kind = "RSA-1024"});
}

/* Nobody looks at the signature and the dates of a root that is sent. */
static void old_root(struct texts *t, const struct cast *c)
{
	struct made root = make(&(struct recipe){.cn = "old root",
						 .constraints = "CA:TRUE",
						 .digest = "SHA1",
						 .from = -9 * DAY,
						 .to = -DAY},
				NULL);
	struct made leaf =
		make(&(struct recipe){.cn = "leaf", .san = SAN}, &root);

	texts_of(t, &leaf);
	pem_cert(&t->cert, root.cert);
	unmake(&leaf);
	unmake(&root);
}

/* The public part is that of the certificate, the private one is not. */
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

static const struct spoiled {
	const char *what;
	void (*write)(struct texts *, const struct cast *);
	struct recipe recipe; /* when there is no function */
	enum pair_verdict verdict;
	const char *says; /* of the error, or of the first warning */
} cases[] = {
	{"plain", plain, {0}, PAIR_GOOD, NULL},
	{"chain", chain, {0}, PAIR_GOOD, NULL},
	{"chain and root", chain_and_root, {0}, PAIR_GOOD, NULL},
	{"CRLF", crlf, {0}, PAIR_GOOD, NULL},
	{"extra text", extra_text, {0}, PAIR_GOOD, NULL},
	{"EC PRIVATE KEY", old_key_format, {0}, PAIR_GOOD, NULL},
	{"old root", old_root, {0}, PAIR_GOOD, NULL},
	{"all in one",
	 all_in_one,
	 {0},
	 PAIR_GOOD,
	 "the certificate's file holds a private key"},
	{"P-384", NULL, {.kind = "P-384", .san = SAN}, PAIR_GOOD, NULL},
	{"P-521", NULL, {.kind = "P-521", .san = SAN}, PAIR_GOOD, NULL},
	{"RSA 2048", NULL, {.kind = "RSA-2048", .san = SAN}, PAIR_GOOD, NULL},
	{"Ed25519", NULL, {.kind = "ED25519", .san = SAN}, PAIR_GOOD, NULL},
	{"wildcard", NULL, {.san = "DNS:*.gpu.svc"}, PAIR_GOOD, NULL},
	{"names besides", NULL, {.san = "email:a@b.c," SAN}, PAIR_GOOD, NULL},
	{"any use",
	 NULL,
	 {.san = SAN, .eku = "anyExtendedKeyUsage"},
	 PAIR_GOOD,
	 NULL},
	{"two uses",
	 NULL,
	 {.san = SAN, .eku = "clientAuth,serverAuth"},
	 PAIR_GOOD,
	 NULL},
	{"CA as leaf",
	 NULL,
	 {.san = SAN, .constraints = "CA:TRUE"},
	 PAIR_GOOD,
	 "one of a CA"},

	{"nothing", nothing, {0}, PAIR_UNFINISHED, "c.crt: is empty"},
	{"blank", blank_cert, {0}, PAIR_UNFINISHED, "c.crt: is empty"},
	{"no key", empty_key, {0}, PAIR_UNFINISHED, "k.key: is empty"},
	{"cut off", cut_cert, {0}, PAIR_UNFINISHED, "c.crt: PEM block 1"},
	{"second cut off",
	 cut_second,
	 {0},
	 PAIR_UNFINISHED,
	 "c.crt: PEM block 2"},
	{"key cut off", cut_key, {0}, PAIR_UNFINISHED, "k.key: PEM block 1"},
	{"other key",
	 other_key,
	 {0},
	 PAIR_UNFINISHED,
	 "k.key: is not the key of the certificate in c.crt"},
	{"places",
	 changed_places,
	 {0},
	 PAIR_UNFINISHED,
	 "c.crt: holds no certificate but a block named PRIVATE KEY"},
	{"public key",
	 public_key,
	 {0},
	 PAIR_UNFINISHED,
	 "k.key: holds no private key but a block named PUBLIC KEY"},
	{"request", request_only, {0}, PAIR_UNFINISHED, "CERTIFICATE REQUEST"},
	{"no PEM", no_pem, {0}, PAIR_UNFINISHED, "c.crt: holds no certificate"},
	{"base64", bad_base64, {0}, PAIR_UNFINISHED, "c.crt: PEM block 1"},

	{"DER", der_cert, {0}, PAIR_REFUSED, "c.crt: is DER"},
	{"DER key", der_key, {0}, PAIR_REFUSED, "k.key: is DER"},
	{"bad DER", bad_der, {0}, PAIR_REFUSED, "certificate 1 cannot be read"},
	{"encrypted", encrypted, {0}, PAIR_REFUSED, "k.key: the key is encr"},
	{"encrypted, old", encrypted_old, {0}, PAIR_REFUSED, "is encrypted"},
	{"two keys", two_keys, {0}, PAIR_REFUSED, "more than one private key"},
	{"damaged key",
	 damaged_key,
	 {0},
	 PAIR_REFUSED,
	 "k.key: the PRIVATE KEY cannot be read"},
	{"OpenSSH", openssh_key, {0}, PAIR_REFUSED, "OPENSSH PRIVATE KEY"},
	{"mixed key", mixed_key, {0}, PAIR_REFUSED, "k.key: the key's private"},
	{"order",
	 wrong_order,
	 {0},
	 PAIR_REFUSED,
	 "the key belongs to certificate 2"},
	{"unrelated",
	 unrelated_second,
	 {0},
	 PAIR_REFUSED,
	 "certificate 1 is not issued by certificate 2"},
	{"leaf twice", leaf_twice, {0}, PAIR_REFUSED, "is not issued by"},
	{"gap", gap, {0}, PAIR_REFUSED, "is not issued by"},
	{"forged issuer", forged_issuer, {0}, PAIR_REFUSED, "is not issued by"},
	{"issuer no CA",
	 issuer_without_ca,
	 {0},
	 PAIR_REFUSED,
	 "is not issued by"},
	{"too many", too_many, {0}, PAIR_REFUSED, "more than 10"},
	{"SHA-1 issuer",
	 sha1_issuer,
	 {0},
	 PAIR_REFUSED,
	 "certificate 2 of c.crt: is signed with SHA1"},
	{"weak issuer",
	 weak_issuer,
	 {0},
	 PAIR_REFUSED,
	 "certificate 2 of c.crt: RSA 1024 is too weak"},
	{"expired issuer",
	 expired_issuer,
	 {0},
	 PAIR_EXPIRED,
	 "c.crt: expired at"},

	{"expired",
	 NULL,
	 {.san = SAN, .from = -2 * DAY, .to = -DAY},
	 PAIR_EXPIRED,
	 "c.crt: expired at"},
	{"not yet",
	 NULL,
	 {.san = SAN, .from = DAY, .to = 2 * DAY},
	 PAIR_NOT_YET,
	 "c.crt: is not valid before"},
	{"never",
	 NULL,
	 {.san = SAN, .from = DAY, .to = -DAY},
	 PAIR_REFUSED,
	 "is never valid"},
	{"no SAN",
	 NULL,
	 {.cn = "gpugate.gpu.svc"},
	 PAIR_REFUSED,
	 "no DNS name or address"},
	{"mail only",
	 NULL,
	 {.san = "email:a@b.c"},
	 PAIR_REFUSED,
	 "no DNS name or address"},
	{"no DNS name",
	 NULL,
	 {.san = "DNS:a b"},
	 PAIR_REFUSED,
	 "no DNS name or address"},
	{"other name",
	 NULL,
	 {.san = "DNS:other.gpu.svc"},
	 PAIR_REFUSED,
	 "is not for gpugate.gpu.svc but for other.gpu.svc"},
	{"SHA-1", NULL, {.san = SAN, .digest = "SHA1"}, PAIR_REFUSED, "SHA1"},
	{"MD5",
	 NULL,
	 {.san = SAN, .kind = "RSA-2048", .digest = "MD5"},
	 PAIR_REFUSED,
	 "MD5"},
	{"RSA 1024",
	 NULL,
	 {.san = SAN, .kind = "RSA-1024"},
	 PAIR_REFUSED,
	 "c.crt: RSA 1024 is too weak, at least 2048 bits"},
	{"P-224",
	 NULL,
	 {.san = SAN, .kind = "P-224"},
	 PAIR_REFUSED,
	 "kind of key"},
	{"secp256k1",
	 NULL,
	 {.san = SAN, .kind = "secp256k1"},
	 PAIR_REFUSED,
	 "kind of key"},
	{"Ed448",
	 NULL,
	 {.san = SAN, .kind = "ED448", .digest = "none"},
	 PAIR_REFUSED,
	 "kind of key"},
	{"for clients",
	 NULL,
	 {.san = SAN, .eku = "clientAuth"},
	 PAIR_REFUSED,
	 "lacks serverAuth"},
	{"encipherment",
	 NULL,
	 {.san = SAN, .usage = "keyEncipherment"},
	 PAIR_REFUSED,
	 "lacks digitalSignature"},
	{"critical",
	 NULL,
	 {.san = SAN, .other = "critical,x"},
	 PAIR_REFUSED,
	 "critical extension"},
	{"serial",
	 NULL,
	 {.san = SAN, .serial = -5},
	 PAIR_REFUSED,
	 "serial number is negative"},
};

static void write_case(struct texts *texts, const struct cast *cast,
		       const struct spoiled *spoiled)
{
	struct made made;

	if (spoiled->write) {
		spoiled->write(texts, cast);
		return;
	}
	made = make(&spoiled->recipe, NULL);
	texts_of(texts, &made);
	unmake(&made);
}

/* GnuTLS must be able to serve whatever is judged good. */
static bool is_servable(const struct texts *texts)
{
	struct key_store *store = key_store_new();
	struct err err = {0};
	bool good =
		key_store_load_pem(store, &texts->cert, &texts->key, &err) == 0;

	if (!good)
		print_error("%s\n", err.text);
	key_store_free(store);
	return good;
}

static bool is_as_said(const struct spoiled *spoiled, enum pair_verdict verdict,
		       const struct pair_info *info, const struct err *err)
{
	if (verdict != spoiled->verdict || err->set != (verdict != PAIR_GOOD))
		return false;
	if (verdict != PAIR_GOOD)
		return text_contains(err->text, spoiled->says);
	if (!spoiled->says)
		return info->nwarnings == 0;
	return info->nwarnings == 1 &&
	       text_contains(info->warnings[0], spoiled->says);
}

static void verdicts(void **state)
{
	const char *const dns[] = {"gpugate.gpu.svc", NULL};
	struct cast *cast = cast_new();
	struct arena arena = ARENA_INIT;
	int failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct texts texts;
		struct pair_info info;
		enum pair_verdict verdict;
		struct err err;

		texts_init(&texts);
		write_case(&texts, cast, &cases[i]);
		verdict = ask_pair(&arena, &texts, dns, &info, &err);
		if (!is_as_said(&cases[i], verdict, &info, &err)) {
			failed++;
			print_error("%s: verdict %d, '%s'\n", cases[i].what,
				    verdict, err.text);
		}
		if (verdict == PAIR_GOOD && !is_servable(&texts)) {
			failed++;
			print_error("%s: cannot be served\n", cases[i].what);
		}
		texts_release(&texts);
		arena_reset(&arena);
	}
	assert_int_equal(failed, 0);
	arena_release(&arena);
	cast_free(cast);
}

static void facts_are_told(void **state)
{
	struct cast *cast = cast_new();
	struct arena arena = ARENA_INIT;
	struct pair_info info;
	struct texts texts;
	struct err err;
	int64_t now = time(NULL);

	texts_init(&texts);
	chain(&texts, cast);
	assert_int_equal(ask_pair(&arena, &texts, NULL, &info, &err),
			 PAIR_GOOD);
	assert_string_equal(info.subject, "CN=leaf");
	assert_string_equal(info.key, "ECDSA P-256");
	assert_int_equal(info.nchain, 2);
	assert_int_equal(info.nnames, 2);
	assert_string_equal(info.names[0], "gpugate.gpu.svc");
	assert_string_equal(info.names[1], "10.0.0.1");
	assert_in_range(now - 3600 - info.not_before, 0, 60);
	assert_in_range(now + 3600 - info.not_after, 0, 60);
	texts_release(&texts);
	arena_release(&arena);
	cast_free(cast);
}

/* A chain is as young as its youngest and as old as its oldest member. */
static void dates_are_of_the_chain(void **state)
{
	struct cast *cast = cast_new();
	struct arena arena = ARENA_INIT;
	struct pair_info info;
	struct texts texts;
	struct err err;
	int64_t now = time(NULL);

	texts_init(&texts);
	chain_with(&texts, cast,
		   &(struct recipe){.cn = "m",
				    .constraints = "CA:TRUE",
				    .from = -60,
				    .to = 60});
	assert_int_equal(ask_pair(&arena, &texts, NULL, &info, &err),
			 PAIR_GOOD);
	assert_in_range(now - 60 - info.not_before + 2, 0, 4);
	assert_in_range(info.not_after - now - 60 + 2, 0, 4);
	texts_release(&texts);
	arena_release(&arena);
	cast_free(cast);
}

static void every_name_is_asked_for(void **state)
{
	static const struct {
		const char *san, *name;
		bool good;
	} names[] = {
		{"DNS:a.b.svc", "a.b.svc", true},
		{"DNS:a.b.svc", "A.B.svc", true},
		{"DNS:a.b.svc,DNS:c.d.svc", "c.d.svc", true},
		{"DNS:*.b.svc", "a.b.svc", true},
		{"IP:10.0.0.1", "10.0.0.1", true},
		{"IP:2001:db8::1", "2001:db8:0::1", true},
		{"DNS:*.b.svc", "a.c.b.svc", false},
		{"DNS:*.b.svc", "b.svc", false},
		{"DNS:a*.b.svc", "ab.b.svc", false},
		{"DNS:a.b.svc", "b.svc", false},
		{"DNS:a.b.svc", "a.b.svc.cluster.local", false},
		{"IP:10.0.0.1", "10.0.0.2", false},
		{"DNS:10.0.0.1,DNS:a.b", "10.0.0.1", false},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *const dns[] = {names[i].name, NULL};
		struct made made = make(&(struct recipe){.san = names[i].san,
							 .cn = names[i].name},
					NULL);
		struct pair_info info;
		struct texts texts;
		struct err err;
		bool good;

		texts_init(&texts);
		texts_of(&texts, &made);
		good = ask_pair(&arena, &texts, dns, &info, &err) == PAIR_GOOD;
		if (good != names[i].good)
			fail_msg("%s for %s", names[i].san, names[i].name);
		texts_release(&texts);
		unmake(&made);
	}
	arena_release(&arena);
}

/* Whatever is caught in the middle of being written is never taken. */
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

/* A single wrong character never passes, in a key or in a certificate whose
 * issuer follows; but for the key's two version numbers, which OpenSSL lets
 * be: the key is whole and the right one then. */
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

static void nul_in_a_name(void **state)
{
	struct made made = {X509_new(), make_key(NULL)};
	GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_IA5STRING *text = ASN1_IA5STRING_new();
	struct arena arena = ARENA_INIT;
	struct pair_info info;
	struct texts texts;
	struct err err;

	ASN1_STRING_set(text, "gpugate.gpu.svc\0.evil.example", 29);
	GENERAL_NAME_set0_value(name, GEN_DNS, text);
	sk_GENERAL_NAME_push(names, name);
	X509_set_version(made.cert, X509_VERSION_3);
	X509_add1_ext_i2d(made.cert, NID_subject_alt_name, names, 0, 0);
	X509_set_pubkey(made.cert, made.key);
	ASN1_TIME_set(X509_getm_notBefore(made.cert), time(NULL) - 60);
	ASN1_TIME_set(X509_getm_notAfter(made.cert), time(NULL) + 60);
	X509_sign(made.cert, made.key, EVP_sha256());
	texts_init(&texts);
	texts_of(&texts, &made);
	assert_int_equal(ask_pair(&arena, &texts, NULL, &info, &err),
			 PAIR_REFUSED);
	assert_true(text_contains(err.text, "no DNS name or address"));
	texts_release(&texts);
	arena_release(&arena);
	GENERAL_NAMES_free(names);
	unmake(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(facts_are_told),
		cmocka_unit_test(dates_are_of_the_chain),
		cmocka_unit_test(every_name_is_asked_for),
		cmocka_unit_test(no_prefix_is_taken),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(nul_in_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
