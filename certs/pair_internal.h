/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a pair while it is checked. Each step returns PAIR_GOOD or another
 * verdict, with the reason in err; messages contain the name of the file to
 * correct.
 */
#ifndef CERTS_PAIR_INTERNAL_H
#define CERTS_PAIR_INTERNAL_H

#include <stdbool.h>

#include "pair.h"
#include "ssl.h"

enum { CHAIN_MAX = 10 };

struct pair_parts {
	struct arena *arena;
	const struct pair_ask *ask;
	struct pair_info *info;
	struct err *err;
	X509 *chain[CHAIN_MAX]; /* the server's certificate is the first */
	size_t n;
	EVP_PKEY *key;
};

__attribute__((format(printf, 3, 4))) enum pair_verdict
pair_say(struct pair_parts *parts, enum pair_verdict verdict, const char *fmt,
	 ...);
void pair_warn(struct pair_parts *parts, const char *warning);

/* Functions of pair_read.c that parse the texts. */
enum pair_verdict pair_read_chain(struct pair_parts *parts);
enum pair_verdict pair_read_key(struct pair_parts *parts);

/* Functions of pair.c that check kinds of keys, signatures, issuers and
 * dates. */
enum pair_verdict pair_check_keys(struct pair_parts *parts);
enum pair_verdict pair_check_links(struct pair_parts *parts);
enum pair_verdict pair_check_dates(struct pair_parts *parts);

/* Functions of pair.c that check permitted uses and names of the leaf. */
enum pair_verdict pair_check_use(struct pair_parts *parts);
enum pair_verdict pair_check_names(struct pair_parts *parts);

#endif
