/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the stored certificates. A text that cannot be read counts as absent
 * and does not prevent reading the others.
 */
#include "rotate_read.h"

#include <string.h>

#include <openssl/err.h>

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

void rotate_view_read(struct rotate_view *view,
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

void rotate_view_release(struct rotate_view *view)
{
	X509_free(view->ca);
	X509_free(view->leaf);
	sk_X509_pop_free(view->old, X509_free);
	sk_X509_pop_free(view->known, X509_free);
	arena_release(&view->arena);
}
