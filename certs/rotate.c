/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performs the steps of rotate_plan() on certificates, after reading the
 * stored ones and the bundles of the clients. One call may do several steps;
 * the result is the same as if the state had been stored after each.
 */
#include "rotate.h"

#include <string.h>

#include <openssl/err.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/text.h"
#include "issue.h"
#include "pair.h"
#include "ssl.h"

/* Seconds by which notBefore of an issued certificate is in the past
 * (issue.c). */
enum { ROTATE_BACKDATE = 300 };

struct rotate_view {
	struct arena arena;
	X509 *ca;	      /* also set if the CA cannot sign */
	STACK_OF(X509) * old; /* CAs that have not expired */
	/* CAs in bundles of clients that have not expired */
	STACK_OF(X509) * known;
	X509 *leaf;
	struct pair_info info; /* facts about the leaf */
	struct rotate_facts facts;
};

/*
 * Reads the stored certificates. A text that cannot be read counts as absent
 * and does not prevent reading the others.
 */

/*
 * Limits on the number of certificates that are read: other programs may add
 * certificates to a bundle, and each would be adopted.
 */
enum { KNOWN_MAX = 16, OLD_MAX = 32, READ_MAX = KNOWN_MAX + OLD_MAX };
/* Seconds. The clocks of replicas differ: a certificate that has expired for
 * one replica may be valid for another. */
enum { MARGIN = 600 };

static bool has_certificate(const STACK_OF(X509) * certs, const X509 *cert)
{
	for (int i = 0; i < sk_X509_num(certs); i++)
		if (!X509_cmp(sk_X509_value(certs, i), cert))
			return true;
	return false;
}

/* Reads the certificates that have not expired, without duplicates. */
static void read_certificates(STACK_OF(X509) * out, const struct buf *pem,
			      int64_t now, int most)
{
	BIO *text = BIO_new_mem_buf(pem->data, (int)pem->len);
	struct pem_block block;
	X509 *cert;

	while (sk_X509_num(out) < most && pem_next(text, &block) > 0) {
		cert = pem_is_certificate(&block) ? pem_certificate(&block)
						  : NULL;
		pem_block_release(&block);
		if (!cert ||
		    ssl_time(X509_get0_notAfter(cert)) <= now - MARGIN ||
		    has_certificate(out, cert) || !sk_X509_push(out, cert))
			X509_free(cert);
	}
	ERR_clear_error();
	BIO_free(text);
}

/* --- the CA --------------------------------------------------------------- */

/* Checks that the CA may sign now. */
static int check_ca(const struct rotate_view *view, const struct issued *ca,
		    struct err *err)
{
	const struct rotate_facts *f = &view->facts;
	EVP_PKEY *key;
	int match;

	if (!ca->cert.len && !ca->key.len)
		return err_set(err, 0, "there is none");
	if (!view->ca)
		return err_set(err, 0, "its certificate cannot be read");
	if (X509_check_ca(view->ca) != 1)
		return err_set(err, 0,
			       "its certificate is not a CA certificate");
	if (f->now >= f->ca_to || f->now < f->ca_from - ROTATE_BACKDATE)
		return err_set(err, 0, "it is not valid now");
	key = pem_first_key(&ca->key);
	match = key && X509_check_private_key(view->ca, key);
	EVP_PKEY_free(key);
	ERR_clear_error();
	return match ? 0 : err_set(err, 0, "its key cannot be used");
}

static void read_ca(struct rotate_view *view, const struct issued *ca,
		    struct rotate_report *reported)
{
	struct rotate_facts *f = &view->facts;

	view->ca = pem_first_certificate(&ca->cert);
	if (view->ca) {
		f->ca_from = ssl_time(X509_get0_notBefore(view->ca)) +
			     ROTATE_BACKDATE;
		f->ca_to = ssl_time(X509_get0_notAfter(view->ca));
	}
	f->ca = !check_ca(view, ca, &reported->ca);
}

/* --- the leaf ------------------------------------------------------------- */

static bool issued_by(X509 *ca, X509 *cert)
{
	bool is = ca && X509_check_issued(ca, cert) == X509_V_OK &&
		  X509_verify(cert, X509_get0_pubkey(ca)) == 1;

	ERR_clear_error();
	return is;
}

static enum rotate_leaf leaf_kind(const struct rotate_view *view)
{
	if (view->facts.ca && issued_by(view->ca, view->leaf))
		return LEAF_OF_CA;
	for (int i = 0; i < sk_X509_num(view->old); i++)
		if (issued_by(sk_X509_value(view->old, i), view->leaf))
			return LEAF_OF_OLD;
	return LEAF_NONE;
}

static enum pair_verdict check_leaf(struct rotate_view *view,
				    const struct rotate_state *state,
				    const struct rotate_ask *ask,
				    struct rotate_report *reported)
{
	struct pair_ask pair = {
		.cert = state->leaf.cert.data,
		.cert_len = state->leaf.cert.len,
		.cert_file = "tls.crt",
		.key = state->leaf.key.data,
		.key_len = state->leaf.key.len,
		.key_file = "tls.key",
		.now = ask->now,
	};
	struct pair_info info;
	enum pair_verdict verdict =
		pair_check(&view->arena, &pair, &view->info, &reported->leaf);

	if (verdict != PAIR_GOOD)
		return verdict;
	pair.dns = ask->names;
	view->facts.leaf_fits = pair_check(&view->arena, &pair, &info,
					   &reported->leaf) == PAIR_GOOD;
	return verdict;
}

static void read_leaf(struct rotate_view *view,
		      const struct rotate_state *state,
		      const struct rotate_ask *ask,
		      struct rotate_report *reported)
{
	struct rotate_facts *f = &view->facts;
	enum pair_verdict verdict = check_leaf(view, state, ask, reported);

	if (verdict == PAIR_REFUSED || verdict == PAIR_UNFINISHED)
		return;
	view->leaf = pem_first_certificate(&state->leaf.cert);
	if (!view->leaf)
		return;
	f->leaf = leaf_kind(view);
	if (f->leaf == LEAF_NONE)
		err_set(&reported->leaf, 0,
			"it was issued by a CA that is not stored");
	f->leaf_from =
		ssl_time(X509_get0_notBefore(view->leaf)) + ROTATE_BACKDATE;
	f->leaf_to = ssl_time(X509_get0_notAfter(view->leaf));
	reported->serve = verdict == PAIR_GOOD && f->leaf != LEAF_NONE;
}

/* --- all ------------------------------------------------------------------ */

static void read_known(struct rotate_view *view, const struct rotate_ask *ask)
{
	struct rotate_facts *f = &view->facts;

	f->known = ask->bundles != NULL;
	if (!f->known)
		return;
	if (sk_X509_num(view->old) >= OLD_MAX)
		return;
	read_certificates(view->known, ask->bundles, f->now, KNOWN_MAX);
	for (int i = 0; i < sk_X509_num(view->known); i++) {
		const X509 *cert = sk_X509_value(view->known, i);

		if ((!view->ca || X509_cmp(view->ca, cert)) &&
		    !has_certificate(view->old, cert))
			f->strange = true;
	}
}

/* Reads the old CAs. Sets old_until to the expiry of the last of them, or to
 * the stored old_until if that is earlier. */
static void read_old(struct rotate_view *view, const struct rotate_state *state)
{
	struct rotate_facts *f = &view->facts;

	read_certificates(view->old, &state->old, f->now, READ_MAX);
	f->old = state->old.len > 0;
	f->old_until = f->now;
	for (int i = 0; i < sk_X509_num(view->old); i++) {
		const X509 *cert = sk_X509_value(view->old, i);
		int64_t end = ssl_time(X509_get0_notAfter(cert));

		if (f->old_until < end)
			f->old_until = end;
	}
	if (state->old_until && state->old_until < f->old_until)
		f->old_until = state->old_until;
}

static void rotate_view_read(struct rotate_view *view,
			     const struct rotate_state *state,
			     const struct rotate_ask *ask,
			     struct rotate_report *reported)
{
	memset(view, 0, sizeof(*view));
	view->old = sk_X509_new_null();
	view->known = sk_X509_new_null();
	if (!view->old || !view->known)
		OUT_OF_MEMORY();
	view->facts.now = ask->now;
	view->facts.published = ask->published;
	view->facts.settled = ask->settled;
	reported->serve = false;
	reported->ca = reported->leaf = (struct err){0};
	read_ca(view, &state->ca, reported);
	read_old(view, state);
	read_known(view, ask);
	read_leaf(view, state, ask, reported);
}

static void rotate_view_release(struct rotate_view *view)
{
	X509_free(view->ca);
	X509_free(view->leaf);
	sk_X509_pop_free(view->old, X509_free);
	sk_X509_pop_free(view->known, X509_free);
	arena_release(&view->arena);
}

enum { STEPS_MAX = 8, NAMES_MAX = 80 };

void rotate_state_init(struct rotate_state *state)
{
	*state = (struct rotate_state){0};
	issued_init(&state->ca);
	issued_init(&state->leaf);
	buf_init(&state->old);
}

void rotate_state_release(struct rotate_state *state)
{
	issued_release(&state->ca);
	issued_release(&state->leaf);
	buf_release(&state->old);
}

/* --- names ---------------------------------------------------------------- */

static bool is_among(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (text_eq(*list, name))
			return true;
	return false;
}

static void add_name(const char **names, size_t *n, const char *name)
{
	if (*n < NAMES_MAX && !is_among(names, name))
		names[(*n)++] = name;
}

/*
 * Collects the names for a new leaf. While replicas with two configurations run
 * at the same time, each lacks names of the other: a leaf that is replaced
 * because of its names keeps its old names.
 */
static void collect_names(const char *names[NAMES_MAX + 1],
			  const struct rotate_view *view,
			  const struct rotate_ask *ask)
{
	const struct rotate_facts *f = &view->facts;
	bool keep =
		f->leaf != LEAF_NONE && !f->leaf_fits && f->now < f->leaf_to;
	size_t n = 0;

	for (const char *const *name = ask->names; name && *name; name++)
		add_name(names, &n, *name);
	for (size_t i = 0; keep && i < view->info.nnames; i++)
		add_name(names, &n, view->info.names[i]);
}

/* --- steps ---------------------------------------------------------------- */

static int add_certificate(struct buf *out, const X509 *cert, struct err *err)
{
	return pem_add(out, cert)
		       ? 0
		       : ssl_fail(err, "a certificate cannot be written");
}

/* Writes the CAs in `more`, which may be NULL, except the current CA; then the
 * old CAs, except damaged ones. */
static int write_old(struct rotate_state *state, const struct rotate_view *view,
		     const STACK_OF(X509) * more, struct err *err)
{
	int rc = 0;

	buf_reset(&state->old);
	for (int i = 0; i < sk_X509_num(more) && !rc; i++) {
		X509 *cert = sk_X509_value(more, i);

		if (!view->facts.ca || X509_cmp(view->ca, cert))
			rc = add_certificate(&state->old, cert, err);
	}
	for (int i = 0; i < sk_X509_num(view->old) && !rc; i++)
		rc = add_certificate(&state->old, sk_X509_value(view->old, i),
				     err);
	return rc;
}

/* Moves old_until to a later time. If it is 0 (unknown), old CAs stay until
 * they expire. */
static void keep_until(struct rotate_state *state,
		       const struct rotate_view *view, int64_t when)
{
	bool unknown = sk_X509_num(view->old) > 0 && !state->old_until;

	if (!unknown && state->old_until < when)
		state->old_until = when;
}

/* Issues and stores a new CA. The previous CAs stay trusted; their keys are
 * dropped. */
static int new_ca(struct rotate_state *state, const struct rotate_view *view,
		  const struct rotate_ask *ask, struct err *err)
{
	const struct rotate_facts *f = &view->facts;
	struct issue_ask issue = {.common_name = "gpugate CA",
				  .now = ask->now,
				  .seconds = ask->ca_life};

	keep_until(state, view,
		   f->leaf == LEAF_OF_CA ? f->leaf_to
					 : ask->now + ask->leaf_life);
	if (write_old(state, view, NULL, err))
		return -1;
	if (view->ca && f->ca_to != INT64_MIN &&
	    add_certificate(&state->old, view->ca, err))
		return -1;
	return issue_ca(&issue, &state->ca, err);
}

static int adopt(struct rotate_state *state, const struct rotate_view *view,
		 const struct rotate_ask *ask, struct err *err)
{
	keep_until(state, view, ask->now + ask->leaf_life);
	return write_old(state, view, view->known, err);
}

static int new_leaf(struct rotate_state *state, const struct rotate_view *view,
		    const struct rotate_ask *ask, struct err *err)
{
	const char *names[NAMES_MAX + 1] = {NULL};
	struct issue_ask issue = {
		.names = names, .now = ask->now, .seconds = ask->leaf_life};

	/* Old CAs must stay until the last leaf of the previous CA has
	 * expired. */
	if (view->facts.leaf == LEAF_OF_OLD)
		keep_until(state, view, view->facts.leaf_to);
	collect_names(names, view, ask);
	return issue_leaf(&issue, &state->ca, &state->leaf, err);
}

static int take_step(struct rotate_state *state, const struct rotate_ask *ask,
		     enum rotate_step step, const struct rotate_view *view,
		     struct err *err)
{
	switch (step) {
	case STEP_NEW_CA:
		return new_ca(state, view, ask, err);
	case STEP_ADOPT:
		return adopt(state, view, ask, err);
	case STEP_NEW_LEAF:
		return new_leaf(state, view, ask, err);
	default:
		buf_reset(&state->old);
		state->old_until = 0;
		return 0;
	}
}

static void drop_view(void *view)
{
	rotate_view_release(view);
}

int rotate(struct rotate_state *state, const struct rotate_ask *ask,
	   struct rotate_report *reported, struct err *err)
{
	struct rotate_ask now = *ask;
	enum rotate_step step;
	struct err ca = {0}, leaf = {0};
	int rc = 0;

	*reported = (struct rotate_report){0};
	for (int i = 0; i < STEPS_MAX && !rc; i++) {
		struct rotate_view view = {0};
		struct escape_guard guard;

		escape_guard(&guard, drop_view, &view);
		rotate_view_read(&view, state, &now, reported);
		if (i == 0) {
			ca = reported->ca;
			leaf = reported->leaf;
		}
		step = rotate_plan(&view.facts, &reported->next);
		reported->waiting = step == STEP_WAIT;
		if (step > STEP_WAIT) {
			reported->steps |= 1u << (step - STEP_NEW_CA);
			rc = take_step(state, &now, step, &view, err);
		}
		escape_unguard(&guard);
		rotate_view_release(&view);
		if (step <= STEP_WAIT)
			break;
		/* The new texts are neither stored nor published yet. */
		now.published = now.settled = false;
	}
	reported->ca = ca;
	reported->leaf = leaf;
	return rc;
}

/* Appends the bundle. Does not depend on the clock: the clocks of replicas
 * differ, and each would write a different bundle. */
int rotate_bundle(const struct rotate_state *state, struct buf *out,
		  struct err *err)
{
	if (bundle_add(out, &state->ca.cert, INT64_MIN, err))
		return -1;
	return bundle_add(out, &state->old, INT64_MIN, err);
}
