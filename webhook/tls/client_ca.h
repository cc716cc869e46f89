/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authorities that may sign clients' certificates, replaced while requests
 * are answered. A set is reference-counted: verification uses the set that it
 * started with. Results of an earlier generation are no longer valid, not even
 * on open connections.
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
 * Loads a file of PEM certificates. Either all of them are used or, on -1,
 * none, and the loaded ones stay: if one is truncated, or if all have expired
 * and the loaded ones have not. A file with the same certificates changes
 * nothing. Only one thread may load at a time.
 */
int client_ca_load(struct client_ca *ca, const char *path, struct err *err);

/* The rest is for any thread. Number of replacements; 0: nothing is loaded. */
unsigned client_ca_generation(const struct client_ca *ca);
/* Expiry of the certificate that ends last, in seconds since the epoch; 0:
 * none. */
int64_t client_ca_expiry(struct client_ca *ca);
/* Appends one line for the log. */
void client_ca_describe(struct client_ca *ca, struct buf *out);
/* True if the chain (DER, the client's own first) is signed by one of them,
 * valid now and meant for clients. */
bool client_ca_verify(struct client_ca *ca, const gnutls_datum_t *chain,
		      unsigned n);

#endif
