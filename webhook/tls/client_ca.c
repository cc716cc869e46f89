/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads files of client CAs, and verifies clients' certificates. Each loaded
 * file gets a GnuTLS trust list; the trust list of libmicrohttpd's daemon is
 * not used, because it cannot be replaced while the daemon serves. The
 * certificate request does not contain the names of the CAs, because a Go
 * client would then not send a certificate of a CA that was added later.
 */
#include "key_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gnutls/x509.h>

#include "base/arena.h"
#include "base/escape.h"
#include "certs/disk.h"
#include "certs/pair.h"

enum {
	CHAIN_MAX = 16,
	/* 80 bits, the strength that the listener's priorities require of
	 * certificates. */
	FLAGS = GNUTLS_PROFILE_TO_VFLAGS(GNUTLS_PROFILE_LOW),
};

struct ca_set {
	atomic_uint references;
	gnutls_x509_trust_list_t list;
	unsigned count;
	int64_t not_after; /* expiry of the certificate that expires last */
	struct buf text;   /* content of the file */
};

struct client_ca {
	pthread_mutex_t lock;
	/* under the lock; only the loading thread changes it */
	struct ca_set *current;
	atomic_uint generation;
};

/* --- sets ----------------------------------------------------------------- */

static void set_drop(struct ca_set *set)
{
	if (!set || atomic_fetch_sub(&set->references, 1) != 1)
		return;
	gnutls_x509_trust_list_deinit(set->list, 1);
	buf_release(&set->text);
	free(set);
}

static struct ca_set *set_take(struct client_ca *ca)
{
	struct ca_set *set;

	pthread_mutex_lock(&ca->lock);
	set = ca->current;
	if (set)
		atomic_fetch_add(&set->references, 1);
	pthread_mutex_unlock(&ca->lock);
	return set;
}

static unsigned count_blocks(const char *text)
{
	static const char begin[] = "-----BEGIN CERTIFICATE-----";
	unsigned n = 0;

	while ((text = strstr(text, begin))) {
		text += sizeof(begin) - 1;
		n++;
	}
	return n;
}

/* Makes a trust list of the certificates, which then owns them, and sets their
 * number and the latest expiry time. */
static void set_fill(struct ca_set *set, gnutls_x509_crt_t *certs, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		time_t end = gnutls_x509_crt_get_expiration_time(certs[i]);

		if (end > set->not_after)
			set->not_after = end;
	}
	set->count = n;
	if (gnutls_x509_trust_list_init(&set->list, 0) < 0 ||
	    gnutls_x509_trust_list_add_cas(set->list, certs, n,
					   GNUTLS_TL_NO_DUPLICATES) < 0)
		OUT_OF_MEMORY();
}

static int set_import(struct ca_set *set, const char *path, struct err *err)
{
	const gnutls_datum_t text = {(unsigned char *)set->text.data,
				     (unsigned)set->text.len};
	unsigned blocks = count_blocks(set->text.data), n = 0;
	gnutls_x509_crt_t *certs;
	int code;

	if (!blocks)
		return err_set(err, 0,
			       "%s: it contains no certificate in PEM form",
			       path);
	code = gnutls_x509_crt_list_import2(&certs, &n, &text,
					    GNUTLS_X509_FMT_PEM, 0);
	if (code < 0)
		return err_set(err, 0, "%s: %s", path, gnutls_strerror(code));
	if (n == blocks) {
		set_fill(set, certs, n);
	} else {
		for (unsigned i = 0; i < n; i++)
			gnutls_x509_crt_deinit(certs[i]);
		err_set(err, 0,
			"%s: only %u of its %u certificates are complete", path,
			n, blocks);
	}
	gnutls_free(certs);
	return n == blocks ? 0 : -1;
}

/* Frees a set whose trust list does not exist yet. */
static void set_free(void *what)
{
	struct ca_set *set = what;

	buf_release(&set->text);
	free(set);
}

static struct ca_set *set_new(const char *path, struct err *err)
{
	struct ca_set *set = calloc(1, sizeof(*set));
	struct escape_guard guard;
	bool good;

	if (!set)
		OUT_OF_MEMORY();
	atomic_init(&set->references, 1);
	buf_init(&set->text);
	escape_guard(&guard, set_free, set);
	good = !disk_read(path, &set->text, err) && !set_import(set, path, err);
	escape_unguard(&guard);
	if (good)
		return set;
	set_free(set);
	return NULL;
}

/* --- loading -------------------------------------------------------------- */

static bool is_same(const struct ca_set *a, const struct ca_set *b)
{
	return a && a->text.len == b->text.len &&
	       !memcmp(a->text.data, b->text.data, a->text.len);
}

static void swap_in(struct client_ca *ca, struct ca_set *set)
{
	struct ca_set *old;

	pthread_mutex_lock(&ca->lock);
	old = ca->current;
	ca->current = set;
	pthread_mutex_unlock(&ca->lock);
	/* The set is replaced first, so that a result with this generation
	 * belongs to the new set. */
	atomic_fetch_add(&ca->generation, 1);
	set_drop(old);
}

int client_ca_load(struct client_ca *ca, const char *path, struct err *err)
{
	struct ca_set *set = set_new(path, err), *old = ca->current;
	int64_t now = time(NULL);
	int rc = 0;

	if (!set)
		return -1;
	if (old && old->not_after >= now && set->not_after < now)
		rc = err_set(err, 0, "%s: all its certificates have expired",
			     path);
	if (rc || is_same(old, set))
		set_drop(set);
	else
		swap_in(ca, set);
	return rc;
}

/* --- using ---------------------------------------------------------------- */

struct client_ca *client_ca_new(void)
{
	struct client_ca *ca = calloc(1, sizeof(*ca));

	if (!ca || pthread_mutex_init(&ca->lock, NULL))
		OUT_OF_MEMORY();
	return ca;
}

void client_ca_free(struct client_ca *ca)
{
	if (!ca)
		return;
	set_drop(ca->current);
	pthread_mutex_destroy(&ca->lock);
	free(ca);
}

unsigned client_ca_generation(const struct client_ca *ca)
{
	return atomic_load(&ca->generation);
}

int64_t client_ca_expiry(struct client_ca *ca)
{
	struct ca_set *set = set_take(ca);
	int64_t expiry = set ? set->not_after : 0;

	set_drop(set);
	return expiry;
}

void client_ca_describe(struct client_ca *ca, struct buf *out)
{
	struct ca_set *set = set_take(ca);
	unsigned n = set ? set->count : 0;
	int64_t end = set ? set->not_after : 0;
	struct arena arena = ARENA_INIT;

	set_drop(set);
	if (n)
		buf_addf(out, "%u certificate%s, the last until %s", n,
			 n == 1 ? "" : "s", pair_time(&arena, end));
	else
		buf_adds(out, "none");
	arena_release(&arena);
}

static bool set_verify(const struct ca_set *set, gnutls_x509_crt_t *chain,
		       unsigned n)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT};
	unsigned status = 0;

	return gnutls_x509_trust_list_verify_crt2(set->list, chain, n, &purpose,
						  1, FLAGS, &status,
						  NULL) >= 0 &&
	       !status;
}

bool client_ca_verify(struct client_ca *ca, const gnutls_datum_t *chain,
		      unsigned n)
{
	gnutls_x509_crt_t certs[CHAIN_MAX];
	struct ca_set *set = set_take(ca);
	bool good = set && n && n <= CHAIN_MAX;
	unsigned made = 0;

	for (; good && made < n; made++) {
		if (gnutls_x509_crt_init(&certs[made]) < 0)
			OUT_OF_MEMORY();
		if (gnutls_x509_crt_import(certs[made], &chain[made],
					   GNUTLS_X509_FMT_DER) < 0)
			good = false;
	}
	good = good && set_verify(set, certs, n);
	while (made)
		gnutls_x509_crt_deinit(certs[--made]);
	set_drop(set);
	return good;
}
