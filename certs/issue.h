/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Issues a CA and the serving certificate that it signs, ECDSA P-256 with
 * SHA-256. Input and output are PEM texts, so that both can be stored in files
 * or in a Secret. notBefore is 5 minutes in the past, because the API server's
 * clock may be behind.
 *
 * To rotate, issue a new CA, publish bundle_add(new, old), wait until all
 * clients have it, then issue the leaf from the new CA. Remove the old CA when
 * its leaf is no longer served.
 */
#ifndef CERTS_ISSUE_H
#define CERTS_ISSUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct issued {
	struct buf cert; /* PEM */
	struct buf key;	 /* PEM, PKCS #8, not encrypted */
};

void issued_init(struct issued *issued);
void issued_release(struct issued *issued); /* wipes the key */

struct issue_ask {
	/* NULL means the first DNS name of a leaf or, without one or if it is
	 * too long, "gpugated". */
	const char *common_name;
	/* DNS names, IPv4 and IPv6 addresses, NULL-terminated; only for a
	 * leaf. */
	const char *const *names;
	int64_t now;	 /* seconds since the epoch */
	int64_t seconds; /* validity in seconds, from now on */
};

/* Replaces the content of out, which the caller initializes. */
int issue_ca(const struct issue_ask *ask, struct issued *out, struct err *err);
/* Issues a leaf, which never outlives its CA. Returns -1 if a name or the
 * validity is not acceptable, or if ca is not a CA, has expired or does not
 * match its key. */
int issue_leaf(const struct issue_ask *ask, const struct issued *ca,
	       struct issued *out, struct err *err);

/*
 * Appends certificates of a PEM text that the bundle lacks and that have not
 * expired at `now`. Certificates stay in the order of the calls, so the newest
 * must be added first.
 */
int bundle_add(struct buf *bundle, const struct buf *pem, int64_t now,
	       struct err *err);

/* Checks names for a certificate. */

/* Returns true for labels of letters, digits, '-' and '_', separated by dots;
 * the first label may be "*". Returns false for addresses, and for names of
 * more than 253 bytes. */
bool name_is_dns(const char *name);
/* Returns true for an IPv4 or IPv6 address. */
bool name_is_address(const char *text);

#endif
