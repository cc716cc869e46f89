/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a Kubernetes API server would accept a certificate chain and
 * its key. The API server's client is Go's crypto/tls. It requires a subject
 * alternative name (the common name does not count), a signature without SHA-1,
 * and serverAuth if the certificate limits its use. GnuTLS, which serves,
 * requires digitalSignature. A wrong date alone is a separate verdict: an
 * expired pair is better than none, but never replaces a valid one.
 */
#ifndef CERTS_PAIR_H
#define CERTS_PAIR_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum pair_verdict {
	PAIR_GOOD,
	/* valid except for its date: notBefore is in the future */
	PAIR_NOT_YET,
	/* valid except for its date: notAfter is in the past */
	PAIR_EXPIRED,
	/* possibly being replaced: empty, truncated, or the key belongs to
	 * another certificate */
	PAIR_UNFINISHED,
	PAIR_REFUSED, /* wrong; reading again does not help */
};

struct pair_ask {
	const char *cert, *key; /* PEM */
	size_t cert_len, key_len;
	const char *cert_file, *key_file; /* names for messages */
	/* names that the certificate must cover; NULL-terminated */
	const char *const *dns;
	int64_t now; /* seconds since the epoch */
};

enum { PAIR_WARNINGS = 8 };

/* Facts about a pair; strings live in the arena. */
struct pair_info {
	/* dates for which the whole chain is valid */
	int64_t not_before, not_after;
	const char *subject;	  /* "CN=gpugate,O=example" */
	const char *key;	  /* "ECDSA P-256", "RSA 2048" */
	const char *const *names; /* DNS names and addresses */
	size_t nnames, nchain;
	/* Warnings about an accepted pair. */
	const char *warnings[PAIR_WARNINGS];
	size_t nwarnings;
};

/* Checks a pair. Sets err unless the verdict is PAIR_GOOD. */
enum pair_verdict pair_check(struct arena *arena, const struct pair_ask *ask,
			     struct pair_info *info, struct err *err);

/* Returns the time as "2026-11-21T06:59:00Z". */
const char *pair_time(struct arena *arena, int64_t seconds);

#endif
