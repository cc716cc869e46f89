/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificates of TLS: the serving certificate and key, which can be
 * replaced while handshakes are in progress, and the CAs that may sign
 * clients' certificates.
 *
 * A pair is reference-counted. The store holds one reference. Each connection
 * takes one when GnuTLS first asks it for a certificate, and drops it when the
 * connection is closed. GnuTLS neither copies nor frees the result of the
 * callback MHD_OPTION_HTTPS_CERT_CALLBACK (function2: "flags will be assumed
 * to be zero") and may call it more than once in a handshake, so the reference
 * belongs to the connection and not to the call (server_wire.c).
 */
#ifndef WEBHOOK_KEY_STORE_H
#define WEBHOOK_KEY_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include "base/buf.h"
#include "base/err.h"
#include "webhook/observe/log.h"
#include "webhook/observe/metrics.h"

struct key_store;
struct key_pair;

struct key_store *key_store_new(void);
/* Frees the store. A pair that a connection still holds is freed when the
 * connection drops it. */
void key_store_free(struct key_store *store);

/*
 * Loads both files. If they are just being replaced, reads them again for up to
 * a second. On -1 the current pair stays. A pair with a wrong date (expired,
 * not yet valid) is used only if the store is empty or has a worse one; the
 * result is then 0, and key_store_ready() is false. Files with the current pair
 * change nothing. Must be called when the files change, and each minute, since
 * a pair may become valid. Only one thread may load at a time.
 */
int key_store_load(struct key_store *store, const char *cert_path,
		   const char *key_path, struct err *err);
/* Loads a pair from memory (texts of a Secret), without waiting. */
int key_store_load_pem(struct key_store *store, const struct buf *cert,
		       const struct buf *key, struct err *err);

/* Returns true if a pair is loaded and valid at this time. */
bool key_store_ready(struct key_store *store);
/* Returns notAfter of the pair in seconds since the epoch, or 0 if no pair is
 * loaded. */
int64_t key_store_expiry(struct key_store *store);
/* Returns the number of times that the pair was replaced, by which logs and
 * tests see whether a load changed it. */
unsigned key_store_generation(const struct key_store *store);
/* Appends one line for the log: names, kind of key, dates, warnings. */
void key_store_describe(struct key_store *store, struct buf *out);
/* Sets the metric of the pair's expiry, and logs the pair once for each
 * generation; *reported is the generation that was logged last, 0 at first. */
void key_store_report(struct key_store *store, unsigned *reported,
		      struct log *log, struct metrics *metrics);

/* Returns a reference to the pair, or NULL if no pair is loaded. May be called
 * by any thread. */
struct key_pair *key_store_take(struct key_store *store);
void key_pair_drop(struct key_pair *pair); /* pair may be NULL */
/* Passes the pair to GnuTLS, in a callback of
 * gnutls_certificate_set_retrieve_function2(). Returns 0, or -1 if pair is
 * NULL. */
int key_pair_give(struct key_pair *pair, gnutls_pcert_st **certs,
		  unsigned *ncerts, gnutls_privkey_t *key);

/*
 * The CAs that may sign clients' certificates; they can be replaced while
 * requests are answered. A set is reference-counted: a verification uses the
 * set with which it started. When the set is replaced, results of earlier
 * verifications are no longer valid, not even on open connections.
 */

struct client_ca;

struct client_ca *client_ca_new(void);
void client_ca_free(struct client_ca *ca);
/*
 * Loads a file of PEM certificates. Uses all of them and returns 0, or returns
 * -1 and keeps the certificates loaded before. It fails if one certificate is
 * truncated, or if all have expired although a certificate that is in use has
 * not. A file with the same certificates changes nothing. Only one thread may
 * load at a time.
 */
int client_ca_load(struct client_ca *ca, const char *path, struct err *err);

/* Returns the number of times that the set was replaced, or 0 if no set is
 * loaded. May be called by any thread, like the functions below. */
unsigned client_ca_generation(const struct client_ca *ca);
/* Returns the expiry of the certificate that expires last, in seconds since the
 * epoch, or 0 if no set is loaded. */
int64_t client_ca_expiry(struct client_ca *ca);
/* Appends one line that describes the set, for the log. */
void client_ca_describe(struct client_ca *ca, struct buf *out);
/* Returns true if a CA of the set has signed the chain (DER, the client's
 * certificate first), and the chain is valid now and permits client
 * authentication. */
bool client_ca_verify(struct client_ca *ca, const gnutls_datum_t *chain,
		      unsigned n);

#endif
