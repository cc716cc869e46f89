/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Issues a CA and the serving certificate that it signs, ECDSA P-256 with
 * SHA-256. Input and output are PEM texts, so that both can be kept in files or
 * in a Secret; nothing else is stored. notBefore is 5 minutes in the past,
 * because the API server's clock may be behind.
 *
 * Rotation with overlap: issue a new CA, publish bundle_add(new, old), wait
 * until clients have it, then issue the leaf from the new CA; remove the old CA
 * once no leaf of it is served any more.
 */
#ifndef CERTS_ISSUE_H
#define CERTS_ISSUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct issued {
	struct buf cert; /* PEM */
	struct buf key;	 /* PEM, PKCS #8, not encrypted */
};

void issued_init(struct issued *issued);
void issued_release(struct issued *issued); /* the key is wiped */

struct issue_ask {
	const char *common_name; /* NULL: leaf only, first DNS name */
	/* DNS names, IPv4 and IPv6 addresses; NULL-terminated; leaf only. */
	const char *const *names;
	int64_t now;	 /* seconds since the epoch */
	int64_t seconds; /* of life, from now on */
};

/* The caller initializes out, whose content is lost. */
int issue_ca(const struct issue_ask *ask, struct issued *out, struct err *err);
/* The leaf never outlives its CA. Returns -1 if ca is not a CA, is expired or
 * does not match. */
int issue_leaf(const struct issue_ask *ask, const struct issued *ca,
	       struct issued *out, struct err *err);

/*
 * Appends the certificates of a PEM text that the bundle does not contain yet
 * and that are not expired at `now`. The order is kept: add the newest first.
 */
int bundle_add(struct buf *bundle, const struct buf *pem, int64_t now,
	       struct err *err);

#endif
