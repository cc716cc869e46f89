/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Issued certificates: they can be served, and a strict client verifies them
 * against their CA and no other, during a rotation with overlap too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "certs/issue.h"
#include "certs/pair.h"
#include "certs_client.h"
#include "certs_fixture.h"

static const char *const names[] = {"10.0.0.1", "gpugate.gpu.svc",
				    "2001:db8::1", "*.gpu.example", NULL};

static struct issue_ask ask_for(int64_t seconds)
{
	return (struct issue_ask){.common_name = "test CA",
				  .names = names,
				  .now = time(NULL),
				  .seconds = seconds};
}

struct family {
	struct issued ca, leaf;
};

static void family_new(struct family *family, int64_t ca_life, int64_t life)
{
	struct issue_ask ask = ask_for(ca_life);
	struct err err = {0};

	issued_init(&family->ca);
	issued_init(&family->leaf);
	assert_int_equal(issue_ca(&ask, &family->ca, &err), 0);
	ask.common_name = NULL;
	ask.seconds = life;
	assert_int_equal(issue_leaf(&ask, &family->ca, &family->leaf, &err), 0);
}

static void family_free(struct family *family)
{
	issued_release(&family->ca);
	issued_release(&family->leaf);
}

static void issued_certificates_are_good(void **state)
{
	struct family f;
	struct arena arena = ARENA_INIT;
	struct pair_info info;
	struct err err = {0};
	int64_t now = time(NULL);

	family_new(&f, 7200, 3600);
	const struct pair_ask ask = {.cert = f.leaf.cert.data,
				     .cert_len = f.leaf.cert.len,
				     .key = f.leaf.key.data,
				     .key_len = f.leaf.key.len,
				     .cert_file = "c",
				     .key_file = "k",
				     .dns = names,
				     .now = now};

	if (pair_check(&arena, &ask, &info, &err) != PAIR_GOOD)
		fail_msg("%s", err.text);
	assert_string_equal(info.key, "ECDSA P-256");
	assert_string_equal(info.subject, "CN=gpugate.gpu.svc");
	assert_int_equal(info.nnames, 4);
	assert_string_equal(info.names[0], names[1]);
	assert_string_equal(info.names[1], names[3]);
	assert_string_equal(info.names[2], names[0]);
	assert_string_equal(info.names[3], names[2]);
	assert_int_equal(info.nwarnings, 0);
	assert_in_range(now + 2 - (info.not_before + 300), 0, 4);
	assert_in_range(info.not_after + 2 - (now + 3600), 0, 4);
	arena_release(&arena);
	family_free(&f);
}

static void clients_verify_it(void **state)
{
	int64_t now = time(NULL);
	struct family f, g;

	family_new(&f, 7200, 3600);
	family_new(&g, 7200, 3600);
	assert_int_equal(verify(&f.ca.cert, &f.leaf.cert, names[1], now), 0);
	assert_int_equal(verify(&f.ca.cert, &f.leaf.cert, "a.gpu.example", now),
			 0);
	assert_int_equal(verify(&f.ca.cert, &f.leaf.cert, "other", now),
			 X509_V_ERR_HOSTNAME_MISMATCH);
	assert_int_equal(verify(&f.ca.cert, &f.leaf.cert, names[1], now - 200),
			 0);
	assert_int_equal(verify(&f.ca.cert, &f.leaf.cert, names[1], now - 400),
			 X509_V_ERR_CERT_NOT_YET_VALID);
	assert_int_equal(verify(&f.ca.cert, &f.leaf.cert, names[1], now + 3700),
			 X509_V_ERR_CERT_HAS_EXPIRED);
	assert_int_not_equal(verify(&g.ca.cert, &f.leaf.cert, names[1], now),
			     0);
	family_free(&f);
	family_free(&g);
}

static void the_profile_is_kept(void **state)
{
	struct family f;
	X509 *ca, *leaf;
	int critical;

	family_new(&f, 7200, 3600);
	ca = first_of(&f.ca.cert);
	leaf = first_of(&f.leaf.cert);
	assert_int_equal(X509_get_version(leaf), X509_VERSION_3);
	assert_int_equal(X509_check_ca(ca), 1);
	assert_int_equal(X509_check_ca(leaf), 0);
	assert_int_equal(X509_get_pathlen(ca), 0);
	assert_int_equal(X509_get_key_usage(ca),
			 KU_KEY_CERT_SIGN | KU_CRL_SIGN);
	assert_int_equal(X509_get_key_usage(leaf), KU_DIGITAL_SIGNATURE);
	assert_int_equal(X509_get_extended_key_usage(leaf), XKU_SSL_SERVER);
	for (int i = 0; i < 2; i++) {
		X509 *cert = i ? leaf : ca;
		void *value = X509_get_ext_d2i(cert, NID_basic_constraints,
					       &critical, NULL);

		assert_int_equal(critical, 1);
		BASIC_CONSTRAINTS_free(value);
		assert_non_null(X509_get0_subject_key_id(cert));
		assert_non_null(X509_get0_authority_key_id(cert));
	}
	assert_int_equal(
		ASN1_OCTET_STRING_cmp(X509_get0_subject_key_id(ca),
				      X509_get0_authority_key_id(leaf)),
		0);
	X509_free(ca);
	X509_free(leaf);
	family_free(&f);
}

static void serial_numbers_differ(void **state)
{
	enum { N = 32 };
	struct issue_ask ask = ask_for(60);
	struct issued out;
	X509 *certs[N];
	int long_ones = 0;

	issued_init(&out);
	for (int i = 0; i < N; i++) {
		const ASN1_INTEGER *serial;

		assert_int_equal(issue_ca(&ask, &out, NULL), 0);
		certs[i] = first_of(&out.cert);
		serial = X509_get0_serialNumber(certs[i]);
		assert_int_equal(serial->type, V_ASN1_INTEGER);
		long_ones += serial->length >= 15;
		for (int j = 0; j < i; j++)
			assert_int_not_equal(
				ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(
								 certs[j])),
				0);
	}
	assert_in_range(long_ones, N - 2, N);
	for (int i = 0; i < N; i++)
		X509_free(certs[i]);
	issued_release(&out);
}

static void a_leaf_does_not_outlive_its_ca(void **state)
{
	struct family f;
	X509 *ca, *leaf;

	family_new(&f, 1000, 5000);
	ca = first_of(&f.ca.cert);
	leaf = first_of(&f.leaf.cert);
	assert_int_equal(ASN1_TIME_compare(X509_get0_notAfter(ca),
					   X509_get0_notAfter(leaf)),
			 0);
	X509_free(ca);
	X509_free(leaf);
	family_free(&f);
}

static void far_dates_are_written(void **state)
{
	struct issue_ask ask = ask_for(90LL * 365 * 86400);
	struct issued out;
	X509 *cert;
	struct tm tm;

	issued_init(&out);
	assert_int_equal(issue_ca(&ask, &out, NULL), 0);
	cert = first_of(&out.cert);
	assert_int_equal(ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm), 1);
	assert_in_range(timegm(&tm) + 2 - (ask.now + ask.seconds), 0, 4);
	X509_free(cert);
	issued_release(&out);
}

static void a_long_name_is_an_alternative_only(void **state)
{
	static const char *const longest[] = {
		"a123456789012345678901234567890123456789.b1234567890123456789"
		"01234567890.svc",
		NULL};
	struct family f;
	struct issue_ask ask = ask_for(60);
	struct err err = {0};
	X509 *leaf;

	family_new(&f, 60, 60);
	ask.common_name = NULL;
	ask.names = longest;
	assert_int_equal(issue_leaf(&ask, &f.ca, &f.leaf, &err), 0);
	leaf = first_of(&f.leaf.cert);
	assert_int_equal(X509_check_host(leaf, longest[0], 0,
					 X509_CHECK_FLAG_NEVER_CHECK_SUBJECT,
					 NULL),
			 1);
	X509_free(leaf);
	family_free(&f);
}

static void bad_names_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		".",
		"a..b",
		"a.",
		".a",
		"a,DNS:b",
		"a b",
		"a\nb",
		"*",
		"a.*",
		"*a.b",
		"*.",
		"-a.b",
		"a-.b",
		"a/b",
		"\xc3\xa4.b",
		"1.2.3.4/8",
		"::1%lo",
		"[::1]",
		("a12345678901234567890123456789012345678901234567890123456789"
		 "0123.b"),
	};
	struct family f;

	family_new(&f, 60, 60);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *const list[] = {"good.name", bad[i], NULL};
		struct issue_ask ask = ask_for(60);
		struct err err = {0};

		ask.names = list;
		if (issue_leaf(&ask, &f.ca, &f.leaf, &err) == 0)
			fail_msg("'%s' was taken", bad[i]);
		assert_true(text_contains(err.text, "is not a DNS name"));
	}
	family_free(&f);
}

static void refuse_leaf(const struct issue_ask *ask, const struct issued *ca,
			const char *says)
{
	struct issued out;
	struct err err = {0};

	issued_init(&out);
	assert_int_equal(issue_leaf(ask, ca, &out, &err), -1);
	if (!text_contains(err.text, says))
		fail_msg("'%s', not '%s'", err.text, says);
	assert_int_equal(out.key.len, 0);
	issued_release(&out);
}

static void bad_cas_are_refused(void **state)
{
	struct issue_ask ask = ask_for(60);
	struct issued mixed, empty;
	struct family f, g;

	family_new(&f, 60, 60);
	family_new(&g, 60, 60);
	issued_init(&empty);
	mixed.cert = f.ca.cert;
	mixed.key = g.ca.key;
	refuse_leaf(&ask, &mixed, "does not match its certificate");
	mixed.key = empty.key;
	refuse_leaf(&ask, &mixed, "the CA's key cannot be read");
	refuse_leaf(&ask, &empty, "the CA's certificate cannot be read");
	refuse_leaf(&ask, &f.leaf, "is not a CA certificate");
	ask.now += 100;
	refuse_leaf(&ask, &f.ca, "expired");
	family_free(&f);
	family_free(&g);
}

static void bad_asks_are_refused(void **state)
{
	struct issue_ask ask = ask_for(60);
	struct family f;
	struct issued out;

	family_new(&f, 60, 60);
	issued_init(&out);
	ask.names = NULL;
	refuse_leaf(&ask, &f.ca, "needs a DNS name or an address");
	ask.names = names;
	ask.seconds = 0;
	refuse_leaf(&ask, &f.ca, "a life of 0 seconds");
	assert_int_equal(issue_ca(&ask, &out, NULL), -1);
	ask.seconds = INT64_MAX;
	refuse_leaf(&ask, &f.ca, "a life of");
	ask.seconds = 60;
	ask.common_name = NULL;
	assert_int_equal(issue_ca(&ask, &out, NULL), -1);
	ask.common_name = "";
	assert_int_equal(issue_ca(&ask, &out, NULL), -1);
	ask.common_name = "0123456789012345678901234567890123456789012345678901"
			  "2345678901234";
	assert_int_equal(issue_ca(&ask, &out, NULL), -1);
	issued_release(&out);
	family_free(&f);
}

/* The bundle changes from the old CA to both to the new CA; the served leaf
 * verifies at every step. */
static void old_and_new_ca_overlap_in_a_rotation(void **state)
{
	int64_t now = time(NULL);
	struct family old, new;
	struct buf bundle;

	family_new(&old, 7200, 3600);
	family_new(&new, 9000, 3600);
	buf_init(&bundle);
	assert_int_equal(bundle_add(&bundle, &new.ca.cert, now, NULL), 0);
	assert_int_not_equal(verify(&bundle, &old.leaf.cert, names[1], now), 0);
	assert_int_equal(bundle_add(&bundle, &old.ca.cert, now, NULL), 0);
	assert_int_equal(verify(&bundle, &old.leaf.cert, names[1], now), 0);
	assert_int_equal(verify(&bundle, &new.leaf.cert, names[1], now), 0);
	family_free(&old);
	family_free(&new);
	buf_release(&bundle);
}

static size_t count_certs(const struct buf *bundle)
{
	const char *at = bundle->data;
	size_t n = 0;

	while ((at = strstr(at, "BEGIN CERTIFICATE"))) {
		at++;
		n++;
	}
	return n;
}

static void bundles_do_not_grow(void **state)
{
	int64_t now = time(NULL);
	struct family f, g;
	struct buf bundle, text;
	struct err err = {0};

	family_new(&f, 100, 100);
	family_new(&g, 200, 100);
	buf_init(&bundle);
	buf_init(&text);
	buf_adds(&text, "# ours\n");
	buf_add(&text, f.ca.cert.data, f.ca.cert.len);
	buf_add(&text, g.ca.cert.data, g.ca.cert.len);
	buf_add(&text, f.ca.cert.data, f.ca.cert.len);
	for (int i = 0; i < 3; i++)
		assert_int_equal(bundle_add(&bundle, &text, now, &err), 0);
	assert_int_equal(count_certs(&bundle), 2);
	assert_null(strstr(bundle.data, "ours"));
	buf_reset(&bundle);
	assert_int_equal(bundle_add(&bundle, &text, now + 150, &err), 0);
	assert_int_equal(count_certs(&bundle), 1);
	text.len -= 40;
	assert_int_equal(bundle_add(&bundle, &text, now, &err), -1);
	assert_true(text_contains(err.text, "cut off"));
	family_free(&f);
	family_free(&g);
	buf_release(&bundle);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(issued_certificates_are_good),
		cmocka_unit_test(clients_verify_it),
		cmocka_unit_test(the_profile_is_kept),
		cmocka_unit_test(serial_numbers_differ),
		cmocka_unit_test(a_leaf_does_not_outlive_its_ca),
		cmocka_unit_test(far_dates_are_written),
		cmocka_unit_test(a_long_name_is_an_alternative_only),
		cmocka_unit_test(bad_names_are_refused),
		cmocka_unit_test(bad_cas_are_refused),
		cmocka_unit_test(bad_asks_are_refused),
		cmocka_unit_test(old_and_new_ca_overlap_in_a_rotation),
		cmocka_unit_test(bundles_do_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
