/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads certificate pairs and gives the current pair to each handshake. OpenSSL
 * checks the texts (certs/pair.h), GnuTLS serves them: a pair is used only if
 * both can read it. The lock is held while the pointer is read and a reference
 * taken, so that the pair cannot be freed in between; files are read and
 * checked without the lock.
 *
 * While the files are being replaced, a load may find a key that does not
 * match, a truncated text or a missing file; only in these cases are the files
 * read again soon.
 */
#include "key_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>

#include "base/escape.h"
#include "certs/disk.h"
#include "certs/pair.h"

enum {
	CERTS_MAX = 10,
	DIGEST_LEN = 2 * 32,
	RETRY_MS = 50,
	RETRIES = 20,
};

struct key_pair {
	atomic_uint references;
	gnutls_pcert_st certs[CERTS_MAX];
	unsigned ncerts;
	gnutls_privkey_t key;
	int64_t not_before, not_after;
	unsigned char digest[DIGEST_LEN];
	struct buf description;
};

struct key_store {
	pthread_mutex_t lock;
	/* under the lock; only the loading thread changes it */
	struct key_pair *current;
	atomic_uint generation;
};

struct texts {
	struct buf cert, key;
	const char *cert_file, *key_file;
	unsigned char digest[DIGEST_LEN];
};

/* -- pairs ----------------------------------------------------------------- */

static struct key_pair *pair_new(void)
{
	struct key_pair *pair = calloc(1, sizeof(*pair));

	if (!pair)
		OUT_OF_MEMORY();
	atomic_init(&pair->references, 1);
	buf_init(&pair->description);
	return pair;
}

void key_pair_drop(struct key_pair *pair)
{
	if (!pair || atomic_fetch_sub(&pair->references, 1) != 1)
		return;
	for (unsigned i = 0; i < pair->ncerts; i++)
		gnutls_pcert_deinit(&pair->certs[i]);
	gnutls_privkey_deinit(pair->key);
	buf_release(&pair->description);
	free(pair);
}

int key_pair_give(struct key_pair *pair, gnutls_pcert_st **certs,
		  unsigned *ncerts, gnutls_privkey_t *key)
{
	if (!pair)
		return -1;
	*certs = pair->certs;
	*ncerts = pair->ncerts;
	*key = pair->key;
	return 0;
}

/* Imports the pair. GnuTLS must accept it, because GnuTLS serves it. */
static int pair_import(struct key_pair *pair, const struct texts *texts,
		       struct err *err)
{
	const gnutls_datum_t cert = {(unsigned char *)texts->cert.data,
				     (unsigned)texts->cert.len};
	const gnutls_datum_t key = {(unsigned char *)texts->key.data,
				    (unsigned)texts->key.len};
	unsigned n = CERTS_MAX;
	int code;

	code = gnutls_pcert_list_import_x509_raw(pair->certs, &n, &cert,
						 GNUTLS_X509_FMT_PEM, 0);
	if (code < 0)
		return err_set(err, 0, "%s: cannot be served (GnuTLS: %s)",
			       texts->cert_file, gnutls_strerror(code));
	pair->ncerts = n;
	code = gnutls_privkey_init(&pair->key);
	if (code >= 0)
		code = gnutls_privkey_import_x509_raw(
			pair->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
	if (code < 0)
		return err_set(err, 0, "%s: cannot be served (GnuTLS: %s)",
			       texts->key_file, gnutls_strerror(code));
	return 0;
}

static void pair_describe(struct key_pair *pair, struct arena *arena,
			  const struct pair_info *info, const struct err *date)
{
	struct buf *out = &pair->description;

	for (size_t i = 0; i < info->nnames; i++)
		buf_addf(out, "%s%s", i ? ", " : "", info->names[i]);
	buf_addf(out, "; %s; valid from %s", info->key,
		 pair_time(arena, info->not_before));
	buf_addf(out, " to %s", pair_time(arena, info->not_after));
	for (size_t i = 0; i < info->nwarnings; i++)
		buf_addf(out, "; warning: %s", info->warnings[i]);
	if (date->set)
		buf_addf(out, "; warning: %s", date->text);
}

static void drop_pair(void *pair)
{
	key_pair_drop(pair);
}

/* -- loading --------------------------------------------------------------- */

static void texts_init(struct texts *texts, const char *cert_file,
		       const char *key_file)
{
	memset(texts, 0, sizeof(*texts));
	buf_init(&texts->cert);
	buf_init(&texts->key);
	texts->cert_file = cert_file;
	texts->key_file = key_file;
}

static void texts_release(struct texts *texts)
{
	buf_release(&texts->cert);
	disk_wipe(&texts->key);
}

static void drop_texts(void *texts)
{
	texts_release(texts);
}

/* Computes one digest for each file, so that bytes cannot move from one to the
 * other unnoticed. */
static void texts_digest(struct texts *texts)
{
	const struct buf *cert = &texts->cert, *key = &texts->key;

	if (!EVP_Digest(cert->data, cert->len, texts->digest, NULL,
			EVP_sha256(), NULL) ||
	    !EVP_Digest(key->data, key->len, texts->digest + DIGEST_LEN / 2,
			NULL, EVP_sha256(), NULL))
		OUT_OF_MEMORY();
}

static bool is_valid(const struct key_pair *pair, int64_t now)
{
	return pair && pair->not_before <= now && now <= pair->not_after;
}

/* Returns true if the pair should replace the current one. A pair with a wrong
 * date does so only if the current one is missing or worse. */
static bool is_wanted(const struct key_pair *current,
		      const struct key_pair *pair, enum pair_verdict verdict,
		      int64_t now)
{
	return verdict == PAIR_GOOD || !current ||
	       (!is_valid(current, now) &&
		current->not_after <= pair->not_after);
}

static void swap_in(struct key_store *store, struct key_pair *pair)
{
	struct key_pair *old;

	pthread_mutex_lock(&store->lock);
	old = store->current;
	store->current = pair;
	pthread_mutex_unlock(&store->lock);
	atomic_fetch_add(&store->generation, 1);
	key_pair_drop(old);
}

static enum pair_verdict install(struct key_store *store, struct arena *arena,
				 const struct texts *texts, struct err *err)
{
	const struct pair_ask ask = {.cert = texts->cert.data,
				     .cert_len = texts->cert.len,
				     .cert_file = texts->cert_file,
				     .key = texts->key.data,
				     .key_len = texts->key.len,
				     .key_file = texts->key_file,
				     .now = time(NULL)};
	struct err reason = {0};
	struct pair_info info;
	enum pair_verdict verdict = pair_check(arena, &ask, &info, &reason);
	struct escape_guard guard;
	struct key_pair *pair;

	if (verdict == PAIR_UNFINISHED || verdict == PAIR_REFUSED) {
		*err = reason;
		return verdict;
	}
	pair = pair_new();
	pair->not_before = info.not_before;
	pair->not_after = info.not_after;
	memcpy(pair->digest, texts->digest, DIGEST_LEN);
	escape_guard(&guard, drop_pair, pair);
	pair_describe(pair, arena, &info, &reason);
	escape_unguard(&guard);
	if (!is_wanted(store->current, pair, verdict, ask.now)) {
		*err = reason;
	} else if (pair_import(pair, texts, err) < 0) {
		verdict = PAIR_REFUSED;
	} else {
		swap_in(store, pair);
		return PAIR_GOOD;
	}
	key_pair_drop(pair);
	return verdict;
}

static void drop_arena(void *arena)
{
	arena_release(arena);
}

static enum pair_verdict load_texts(struct key_store *store,
				    struct texts *texts, struct err *err)
{
	struct arena arena = ARENA_INIT;
	enum pair_verdict verdict = PAIR_GOOD;
	struct escape_guard guard;

	texts_digest(texts);
	escape_guard(&guard, drop_arena, &arena);
	if (!store->current ||
	    memcmp(store->current->digest, texts->digest, DIGEST_LEN) != 0)
		verdict = install(store, &arena, texts, err);
	escape_unguard(&guard);
	arena_release(&arena);
	return verdict;
}

static enum pair_verdict load_once(struct key_store *store,
				   const char *cert_path, const char *key_path,
				   struct err *err)
{
	enum pair_verdict verdict = PAIR_UNFINISHED;
	struct escape_guard guard;
	struct texts texts;

	texts_init(&texts, cert_path, key_path);
	escape_guard(&guard, drop_texts, &texts);
	if (disk_read(cert_path, &texts.cert, err) == 0 &&
	    disk_read(key_path, &texts.key, err) == 0)
		verdict = load_texts(store, &texts, err);
	escape_unguard(&guard);
	texts_release(&texts);
	return verdict;
}

int key_store_load(struct key_store *store, const char *cert_path,
		   const char *key_path, struct err *err)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
	enum pair_verdict verdict = PAIR_UNFINISHED;
	struct err reason = {0};

	for (int i = 0; i <= RETRIES && verdict == PAIR_UNFINISHED; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		memset(&reason, 0, sizeof(reason));
		verdict = load_once(store, cert_path, key_path, &reason);
	}
	return verdict == PAIR_GOOD
		       ? 0
		       : err_set(err, reason.code, "%s", reason.text);
}

int key_store_load_pem(struct key_store *store, const struct buf *cert,
		       const struct buf *key, struct err *err)
{
	enum pair_verdict verdict;
	struct err reason = {0};
	struct texts texts;

	texts_init(&texts, "tls.crt", "tls.key");
	buf_add(&texts.cert, cert->data, cert->len);
	buf_add(&texts.key, key->data, key->len);
	verdict = load_texts(store, &texts, &reason);
	texts_release(&texts);
	return verdict == PAIR_GOOD
		       ? 0
		       : err_set(err, reason.code, "%s", reason.text);
}

/* -- the store ------------------------------------------------------------- */

struct key_store *key_store_new(void)
{
	struct key_store *store = calloc(1, sizeof(*store));

	if (!store || pthread_mutex_init(&store->lock, NULL))
		OUT_OF_MEMORY();
	return store;
}

void key_store_free(struct key_store *store)
{
	if (!store)
		return;
	key_pair_drop(store->current);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

struct key_pair *key_store_take(struct key_store *store)
{
	struct key_pair *pair;

	pthread_mutex_lock(&store->lock);
	pair = store->current;
	if (pair)
		atomic_fetch_add(&pair->references, 1);
	pthread_mutex_unlock(&store->lock);
	return pair;
}

bool key_store_ready(struct key_store *store)
{
	struct key_pair *pair = key_store_take(store);
	bool ready = is_valid(pair, time(NULL));

	key_pair_drop(pair);
	return ready;
}

int64_t key_store_expiry(struct key_store *store)
{
	struct key_pair *pair = key_store_take(store);
	int64_t expiry = pair ? pair->not_after : 0;

	key_pair_drop(pair);
	return expiry;
}

unsigned key_store_generation(const struct key_store *store)
{
	return atomic_load(&store->generation);
}

void key_store_describe(struct key_store *store, struct buf *out)
{
	struct key_pair *pair = key_store_take(store);
	struct escape_guard guard;

	escape_guard(&guard, drop_pair, pair);
	buf_adds(out, pair ? pair->description.data : "no certificate");
	escape_unguard(&guard);
	key_pair_drop(pair);
}

void key_store_report(struct key_store *store, unsigned *reported,
		      struct log *log, struct metrics *metrics)
{
	int64_t expiry = key_store_expiry(store);
	unsigned generation = key_store_generation(store);
	struct buf text;

	if (expiry)
		metrics_set(metrics, METRICS_CERTIFICATE_EXPIRY,
			    (double)expiry);
	if (generation == *reported)
		return;
	*reported = generation;
	buf_init(&text);
	key_store_describe(store, &text);
	log_say(log, key_store_ready(store) ? LOG_INFO : LOG_ERROR,
		"certificate in use: %s", text.data);
	buf_release(&text);
}
