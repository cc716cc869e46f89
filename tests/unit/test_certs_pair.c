/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains and certificates: strength, order, use, names, dates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pair_fixture.h"

enum { DAY = 86400 };

static void chain_and_root(struct texts *t, const struct cast *c)
{
	chain(t, c);
	pem_cert(&t->cert, c->root.cert);
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

/* Signs with a different key under the issuer's name. */
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

/* Clients ignore the signature and the dates of a root that is sent. */
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

static const struct spoiled cases[] = {
	{"chain", PAIR_GOOD, NULL, .write = chain},
	{"chain and root", PAIR_GOOD, NULL, .write = chain_and_root},
	{"old root", PAIR_GOOD, NULL, .write = old_root},
	{"P-384", PAIR_GOOD, NULL, .recipe = {.kind = "P-384", .san = SAN}},
	{"P-521", PAIR_GOOD, NULL, .recipe = {.kind = "P-521", .san = SAN}},
	{"RSA 2048", PAIR_GOOD, NULL,
	 .recipe = {.kind = "RSA-2048", .san = SAN}},
	{"Ed25519", PAIR_GOOD, NULL, .recipe = {.kind = "ED25519", .san = SAN}},
	{"wildcard", PAIR_GOOD, NULL, .recipe = {.san = "DNS:*.gpu.svc"}},
	{"names besides", PAIR_GOOD, NULL,
	 .recipe = {.san = "email:a@b.c," SAN}},
	{"any use", PAIR_GOOD, NULL,
	 .recipe = {.san = SAN, .eku = "anyExtendedKeyUsage"}},
	{"two uses", PAIR_GOOD, NULL,
	 .recipe = {.san = SAN, .eku = "clientAuth,serverAuth"}},
	{"CA as leaf", PAIR_GOOD, "a CA certificate",
	 .recipe = {.san = SAN, .constraints = "CA:TRUE"}},
	{"order", PAIR_REFUSED, "the key belongs to certificate 2",
	 .write = wrong_order},
	{"unrelated", PAIR_REFUSED,
	 "certificate 1 is not issued by certificate 2",
	 .write = unrelated_second},
	{"leaf twice", PAIR_REFUSED, "is not issued by", .write = leaf_twice},
	{"gap", PAIR_REFUSED, "is not issued by", .write = gap},
	{"forged issuer", PAIR_REFUSED, "is not issued by",
	 .write = forged_issuer},
	{"issuer no CA", PAIR_REFUSED, "is not issued by",
	 .write = issuer_without_ca},
	{"too many", PAIR_REFUSED, "more than 10", .write = too_many},
	{"SHA-1 issuer", PAIR_REFUSED,
	 "certificate 2 of c.crt: is signed with SHA1", .write = sha1_issuer},
	{"weak issuer", PAIR_REFUSED,
	 "certificate 2 of c.crt: RSA 1024 is too weak", .write = weak_issuer},
	{"expired issuer", PAIR_EXPIRED, "c.crt: expired at",
	 .write = expired_issuer},
	{"expired", PAIR_EXPIRED, "c.crt: expired at",
	 .recipe = {.san = SAN, .from = -2 * DAY, .to = -DAY}},
	{"not yet", PAIR_NOT_YET, "c.crt: is not valid before",
	 .recipe = {.san = SAN, .from = DAY, .to = 2 * DAY}},
	{"never", PAIR_REFUSED, "is never valid",
	 .recipe = {.san = SAN, .from = DAY, .to = -DAY}},
	{"no SAN", PAIR_REFUSED, "no DNS name or address",
	 .recipe = {.cn = "gpugate.gpu.svc"}},
	{"mail only", PAIR_REFUSED, "no DNS name or address",
	 .recipe = {.san = "email:a@b.c"}},
	{"no DNS name", PAIR_REFUSED, "no DNS name or address",
	 .recipe = {.san = "DNS:a b"}},
	{"other name", PAIR_REFUSED,
	 "is not for gpugate.gpu.svc but for other.gpu.svc",
	 .recipe = {.san = "DNS:other.gpu.svc"}},
	{"SHA-1", PAIR_REFUSED, "SHA1",
	 .recipe = {.san = SAN, .digest = "SHA1"}},
	{"MD5", PAIR_REFUSED, "MD5",
	 .recipe = {.san = SAN, .kind = "RSA-2048", .digest = "MD5"}},
	{"RSA 1024", PAIR_REFUSED,
	 "c.crt: RSA 1024 is too weak, at least 2048 bits",
	 .recipe = {.san = SAN, .kind = "RSA-1024"}},
	{"P-224", PAIR_REFUSED, "its key is not",
	 .recipe = {.san = SAN, .kind = "P-224"}},
	{"secp256k1", PAIR_REFUSED, "its key is not",
	 .recipe = {.san = SAN, .kind = "secp256k1"}},
	{"Ed448", PAIR_REFUSED, "its key is not",
	 .recipe = {.san = SAN, .kind = "ED448", .digest = "none"}},
	{"for clients", PAIR_REFUSED, "lacks serverAuth",
	 .recipe = {.san = SAN, .eku = "clientAuth"}},
	{"encipherment", PAIR_REFUSED, "lacks digitalSignature",
	 .recipe = {.san = SAN, .usage = "keyEncipherment"}},
	{"critical", PAIR_REFUSED, "critical extension",
	 .recipe = {.san = SAN, .other = "critical,x"}},
	{"serial", PAIR_REFUSED, "serial number is negative",
	 .recipe = {.san = SAN, .serial = -5}},
};

static void each_certificate_has_its_verdict(void **state)
{
	check_cases(cases, sizeof(cases) / sizeof(*cases));
}

static void the_wrong_certificate_is_named_by_index(void **state)
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

/* A chain is only valid while all its members are. */
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
		cmocka_unit_test(each_certificate_has_its_verdict),
		cmocka_unit_test(the_wrong_certificate_is_named_by_index),
		cmocka_unit_test(dates_are_of_the_chain),
		cmocka_unit_test(every_name_is_asked_for),
		cmocka_unit_test(nul_in_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
