/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a certificate chain and its key can be served to a Kubernetes
 * API server. Its client is Go's crypto/tls: it requires a subject alternative
 * name (the common name does not count), no SHA-1, and serverAuth if the
 * certificate limits its use; GnuTLS, which serves, requires digitalSignature.
 * A wrong date alone is a separate verdict: an expired pair is better than
 * none, but never replaces a good one.
 */
#ifndef CERTS_PAIR_H
#define CERTS_PAIR_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum pair_verdict {
	PAIR_GOOD,
	PAIR_NOT_YET,	 /* valid except for its date */
	PAIR_EXPIRED,	 /* the same */
	PAIR_UNFINISHED, /* possibly being replaced: empty, truncated, or with
			    the key of another certificate */
	PAIR_REFUSED,	 /* wrong; waiting does not help */
};

struct pair_ask {
	const char *cert, *key; /* PEM */
	size_t cert_len, key_len;
	const char *cert_file, *key_file; /* named in messages */
	const char *const *dns; /* each must be covered; NULL-terminated */
	int64_t now;		/* seconds since the epoch */
};

enum { PAIR_WARNINGS = 8 };

/* Facts about a pair; strings live in the arena. */
struct pair_info {
	int64_t not_before, not_after; /* of the whole chain */
	const char *subject;	       /* "CN=gpugate,O=example" */
	const char *key;	       /* "ECDSA P-256", "RSA 2048" */
	const char *const *names;      /* DNS names and addresses */
	size_t nnames, nchain;
	/* Accepted, but worth a look. */
	const char *warnings[PAIR_WARNINGS];
	size_t nwarnings;
};

/* err is set unless the verdict is PAIR_GOOD. */
enum pair_verdict pair_check(struct arena *arena, const struct pair_ask *ask,
			     struct pair_info *info, struct err *err);

/* Returns the time as "2026-11-21T06:59:00Z". */
const char *pair_time(struct arena *arena, int64_t seconds);

#endif
