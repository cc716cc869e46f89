/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CAs that may sign clients' certificates; they can be replaced while
 * requests are answered. A set is reference-counted: a verification uses the
 * set with which it started. When the set is replaced, results of earlier
 * verifications are no longer valid, not even on open connections.
 */
#ifndef WEBHOOK_CLIENT_CA_H
#define WEBHOOK_CLIENT_CA_H

#include <stdbool.h>
#include <stdint.h>

#include <gnutls/gnutls.h>

#include "base/buf.h"
#include "base/err.h"

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
