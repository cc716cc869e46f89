/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotate() with certificates. The first tests have possible contents of the
 * Secret and their results. The last one makes some years of rotations with a
 * client that verifies all the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "certs/rotate.h"
#include "certs_client.h"
#include "certs_fixture.h"

enum { DAY = 86400 };

static const char *const names[] = {"gpugate.gpu.svc", "10.0.0.1", NULL};
static const char *const more_names[] = {"gpugate.gpu.svc", "gpugate.gpu",
					 NULL};

struct fixture {
	struct rotate_state state;
	struct rotate_ask ask;
	struct rotate_report reported;
	struct buf bundles; /* bundles that clients have */
};

static int64_t start;

static void fixture_new(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	rotate_state_init(&f->state);
	buf_init(&f->bundles);
	f->ask = (struct rotate_ask){.names = names,
				     .now = start,
				     .ca_life = 1825LL * DAY,
				     .leaf_life = 90LL * DAY,
				     .bundles = &f->bundles};
}

static void fixture_free(struct fixture *f)
{
	rotate_state_release(&f->state);
	buf_release(&f->bundles);
}

static unsigned go(struct fixture *f)
{
	struct err err = {0};

	if (rotate(&f->state, &f->ask, &f->reported, &err))
		fail_msg("%s", err.text);
	return f->reported.steps;
}

/* Gives clients the required bundle and lets it settle. */
static void publish(struct fixture *f)
{
	buf_reset(&f->bundles);
	assert_int_equal(rotate_bundle(&f->state, &f->bundles, NULL), 0);
	f->ask.published = f->ask.settled = true;
}

static void unpublish(struct fixture *f)
{
	f->ask.published = f->ask.settled = false;
}

static int count(const struct buf *pem)
{
	BIO *bio = BIO_new_mem_buf(pem->data, (int)pem->len);
	X509 *cert;
	int n = 0;

	for (; (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)); n++)
		X509_free(cert);
	ERR_clear_error();
	BIO_free(bio);
	return n;
}

static bool verifies(const struct buf *bundle, const struct buf *leaf,
		     const char *host, int64_t now)
{
	return verify(bundle, leaf, host, now) == X509_V_OK;
}

static void set_text(struct buf *buf, const char *text)
{
	buf_reset(buf);
	buf_adds(buf, text);
}

static void copy(struct buf *to, const struct buf *from)
{
	buf_reset(to);
	buf_add(to, from->data, from->len);
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/* Issues a first CA and leaf that clients know. */
static void begin(struct fixture *f)
{
	fixture_new(f);
	assert_int_equal(go(f), ROTATE_NEW_CA | ROTATE_NEW_LEAF);
	publish(f);
	assert_int_equal(go(f), 0);
	assert_true(f->reported.serve);
}

/* --- the usual order ------------------------------------------------------ */

static void an_empty_secret_is_filled(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_true(verifies(&f.bundles, &f.state.leaf.cert, names[0], start));
	assert_int_equal(count(&f.bundles), 1);
	assert_true(f.reported.next > start + 59 * DAY);
	assert_true(f.reported.next <= start + 60 * DAY);
	/* No key ever becomes part of a public bundle. */
	assert_null(strstr(f.bundles.data, "PRIVATE"));
	fixture_free(&f);
}

static void leaf_is_renewed(void **state)
{
	struct fixture f;
	struct buf old;

	(void)state;
	begin(&f);
	buf_init(&old);
	copy(&old, &f.state.leaf.cert);
	f.ask.now = start + 60 * DAY - 3;
	assert_int_equal(go(&f), 0);
	f.ask.now = start + 60 * DAY + 3;
	unpublish(&f); /* clients know the CA, so nothing has to settle */
	assert_int_equal(go(&f), ROTATE_NEW_LEAF);
	assert_false(same(&old, &f.state.leaf.cert));
	assert_true(verifies(&f.bundles, &f.state.leaf.cert, names[0],
			     f.ask.now + 80 * DAY));
	buf_release(&old);
	fixture_free(&f);
}

static void ca_is_replaced(void **state)
{
	struct fixture f;
	struct buf before, leaf, bundle;

	(void)state;
	begin(&f);
	buf_init(&before);
	buf_init(&leaf);
	buf_init(&bundle);
	/* A leaf issued on day 1200 has its full life. */
	f.ask.now = start + 1200 * DAY;
	assert_int_equal(go(&f), ROTATE_NEW_LEAF);
	f.ask.now = start + 1217 * DAY;
	f.ask.published = false;
	assert_int_equal(go(&f), 0);
	copy(&before, &f.bundles);
	copy(&leaf, &f.state.leaf.cert);
	publish(&f);
	assert_int_equal(go(&f), ROTATE_NEW_CA);
	assert_true(f.reported.waiting && f.reported.serve);
	assert_true(same(&leaf, &f.state.leaf.cert));
	unpublish(&f);
	assert_int_equal(go(&f), 0);
	/* Both the old and the new bundle verify the served leaf. */
	rotate_bundle(&f.state, &bundle, NULL);
	assert_int_equal(count(&bundle), 2);
	assert_true(verifies(&before, &leaf, names[0], f.ask.now));
	assert_true(verifies(&bundle, &leaf, names[0], f.ask.now));
	publish(&f);
	assert_int_equal(go(&f), ROTATE_NEW_LEAF);
	assert_true(verifies(&bundle, &f.state.leaf.cert, names[0], f.ask.now));
	assert_false(
		verifies(&before, &f.state.leaf.cert, names[0], f.ask.now));
	/* The old CA stays until its last leaf has expired. */
	f.ask.now = start + 1217 * DAY + 59 * DAY;
	assert_int_equal(go(&f), 0);
	f.ask.now = start + 1290 * DAY + 1;
	assert_int_equal(go(&f), ROTATE_NEW_LEAF | ROTATE_DROP_OLD);
	buf_reset(&bundle);
	rotate_bundle(&f.state, &bundle, NULL);
	assert_int_equal(count(&bundle), 1);
	assert_true(verifies(&bundle, &f.state.leaf.cert, names[0], f.ask.now));
	buf_release(&before);
	buf_release(&leaf);
	buf_release(&bundle);
	fixture_free(&f);
}

/* --- damage --------------------------------------------------------------- */

static void lose_key(struct fixture *f)
{
	buf_reset(&f->state.ca.key);
}

static void other_key(struct fixture *f)
{
	copy(&f->state.ca.key, &f->state.leaf.key);
}

static void cut_ca(struct fixture *f)
{
	f->state.ca.cert.len /= 2;
	f->state.ca.cert.data[f->state.ca.cert.len] = '\0';
}

static void no_ca(struct fixture *f)
{
	copy(&f->state.ca.cert, &f->state.leaf.cert);
	copy(&f->state.ca.key, &f->state.leaf.key);
}

static void lose_ca(struct fixture *f)
{
	issued_release(&f->state.ca);
	issued_init(&f->state.ca);
}

static void lose_all(struct fixture *f)
{
	rotate_state_release(&f->state);
	rotate_state_init(&f->state);
}

static void garble_all(struct fixture *f)
{
	set_text(&f->state.ca.cert, "garbage");
	set_text(&f->state.ca.key, "\xff\xfe");
	set_text(&f->state.old, "-----BEGIN CERTIFICATE-----\nx");
	set_text(&f->state.leaf.cert, "garbage");
	set_text(&f->state.leaf.key, "garbage");
}

/* Makes a complete state with another CA. */
static void other_family(struct fixture *f)
{
	struct fixture other;

	begin(&other);
	copy(&f->state.ca.cert, &other.state.ca.cert);
	copy(&f->state.ca.key, &other.state.ca.key);
	copy(&f->state.leaf.cert, &other.state.leaf.cert);
	copy(&f->state.leaf.key, &other.state.leaf.key);
	fixture_free(&other);
	/* The state as another program might write it: its leaf was not signed
	 * by its CA. */
	buf_reset(&f->state.leaf.cert);
}

static void other_leaf(struct fixture *f)
{
	struct fixture other;

	begin(&other);
	copy(&f->state.leaf.cert, &other.state.leaf.cert);
	copy(&f->state.leaf.key, &other.state.leaf.key);
	fixture_free(&other);
}

/* For any change of the Secret, the previous leaf is covered by the old bundle
 * and by the next one, and a leaf of the new CA follows only then. */
static void a_damaged_secret_never_breaks_clients(void **state)
{
	static void (*const harms[])(struct fixture *) = {
		lose_key, other_key,  cut_ca,	    no_ca,	lose_ca,
		lose_all, garble_all, other_family, other_leaf,
	};
	struct buf served, bundle;

	(void)state;
	for (size_t i = 0; i < sizeof(harms) / sizeof(*harms); i++) {
		struct fixture f;

		begin(&f);
		buf_init(&served);
		buf_init(&bundle);
		copy(&served, &f.state.leaf.cert);
		harms[i](&f);
		unpublish(&f);
		go(&f);
		rotate_bundle(&f.state, &bundle, NULL);
		if (!verifies(&bundle, &served, names[0], start))
			fail_msg("harm %zu: not covered", i);
		/* No client can verify a leaf of a CA that is not known yet. */
		if (f.reported.serve &&
		    !verifies(&f.bundles, &f.state.leaf.cert, names[0], start))
			fail_msg("harm %zu: served too early", i);
		assert_int_equal(go(&f), 0);
		publish(&f);
		go(&f);
		assert_true(f.reported.serve);
		/* After the damage is repaired, the CA signs again. */
		assert_true(verifies(&f.bundles, &f.state.leaf.cert, names[0],
				     start));
		unpublish(&f);
		f.ask.now = start + 61 * DAY;
		assert_int_equal(go(&f) & ROTATE_NEW_LEAF, ROTATE_NEW_LEAF);
		buf_release(&served);
		buf_release(&bundle);
		fixture_free(&f);
	}
}

static void nothing_changes_while_clients_are_unknown(void **state)
{
	struct fixture f;

	(void)state;
	fixture_new(&f);
	f.ask.bundles = NULL;
	/* The bundles of the clients cannot be read: they may trust another
	 * CA. */
	assert_int_equal(go(&f), ROTATE_NEW_CA);
	assert_true(f.reported.waiting);
	assert_false(f.reported.serve);
	fixture_free(&f);
}

static void other_names_make_a_new_leaf(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.ask.names = more_names;
	assert_int_equal(go(&f), ROTATE_NEW_LEAF);
	assert_true(
		verifies(&f.bundles, &f.state.leaf.cert, "gpugate.gpu", start));
	/* Replicas with the old configuration also find their names in this
	 * leaf. */
	f.ask.names = names;
	assert_int_equal(go(&f), 0);
	f.ask.now = start + 61 * DAY;
	assert_int_equal(go(&f), ROTATE_NEW_LEAF);
	assert_false(verifies(&f.bundles, &f.state.leaf.cert, "gpugate.gpu",
			      f.ask.now));
	fixture_free(&f);
}

/* A caBundle of another program with many useless CAs: the work is limited. */
static void strange_bundles_stay_bounded(void **state)
{
	struct fixture f;

	(void)state;
	fixture_new(&f);
	for (int i = 0; i < 70; i++) {
		struct made made = make(&(struct recipe){.cn = "other"}, NULL);

		pem_cert(&f.bundles, made.cert);
		buf_adds(&f.bundles, "text\n");
		unmake(&made);
	}
	buf_adds(&f.bundles, "-----BEGIN CERTIFICATE-----\nx");
	assert_int_equal(go(&f), ROTATE_NEW_CA | ROTATE_ADOPT);
	assert_int_equal(go(&f), 0);
	assert_true(count(&f.state.old) > 0 && count(&f.state.old) < 40);
	publish(&f);
	assert_int_equal(go(&f), ROTATE_NEW_LEAF);
	assert_int_equal(go(&f), 0);
	fixture_free(&f);
}

static void a_clock_that_is_behind_makes_new_dates(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	/* A certificate with a future date is not usable by any replica. */
	f.ask.now = start - DAY;
	assert_true(go(&f) & ROTATE_NEW_CA);
	fixture_free(&f);
}

/* --- years of rotation ---------------------------------------------------- */

static void years_of_rotation_never_break_clients(void **state)
{
	struct fixture f;
	struct buf before;
	unsigned cas = 0, leaves = 0, drops = 0;
	uint64_t seed = 42;

	(void)state;
	begin(&f);
	buf_init(&before);
	copy(&before, &f.bundles);
	while (f.ask.now < start + 12LL * 365 * DAY) {
		struct buf now;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		f.ask.now += (int64_t)(seed >> 33) % (6 * DAY);
		go(&f);
		cas += f.reported.steps & ROTATE_NEW_CA ? 1 : 0;
		leaves += f.reported.steps & ROTATE_NEW_LEAF ? 1 : 0;
		drops += f.reported.steps & ROTATE_DROP_OLD ? 1 : 0;
		buf_init(&now);
		rotate_bundle(&f.state, &now, NULL);
		if (!verifies(&now, &f.state.leaf.cert, names[0], f.ask.now) ||
		    !verifies(&before, &f.state.leaf.cert, names[0], f.ask.now))
			fail_msg("day %lld: not covered",
				 (long long)(f.ask.now - start) / DAY);
		if (seed & 1 << 20 || same(&now, &before)) {
			publish(&f);
			copy(&before, &now);
		} else {
			unpublish(&f);
		}
		buf_release(&now);
	}
	assert_in_range(cas, 3, 4);
	assert_in_range(leaves, 70, 85);
	assert_in_range(drops, 3, 4);
	buf_release(&before);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_secret_is_filled),
		cmocka_unit_test(leaf_is_renewed),
		cmocka_unit_test(ca_is_replaced),
		cmocka_unit_test(a_damaged_secret_never_breaks_clients),
		cmocka_unit_test(nothing_changes_while_clients_are_unknown),
		cmocka_unit_test(other_names_make_a_new_leaf),
		cmocka_unit_test(strange_bundles_stay_bounded),
		cmocka_unit_test(a_clock_that_is_behind_makes_new_dates),
		cmocka_unit_test(years_of_rotation_never_break_clients),
	};

	start = time(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
