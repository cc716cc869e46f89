/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a certificate and its key. The order of the checks decides which error
 * is reported if there are several: first a text that cannot be read, then a
 * key that does not match, then errors of the certificate, and last wrong
 * dates.
 */
#include "pair_internal.h"

#include <string.h>

#include <openssl/err.h>

#include "base/array.h"

enum pair_verdict pair_check(struct arena *arena, const struct pair_ask *ask,
			     struct pair_info *info, struct err *err)
{
	static enum pair_verdict (*const steps[])(struct pair_parts *) = {
		pair_read_chain,  pair_read_key,    pair_check_keys,
		pair_check_use,	  pair_check_names, pair_check_links,
		pair_check_dates,
	};
	struct pair_parts parts = {
		.arena = arena, .ask = ask, .info = info, .err = err};
	enum pair_verdict verdict = PAIR_GOOD;

	memset(info, 0, sizeof(*info));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		verdict = steps[i](&parts);
		if (verdict != PAIR_GOOD)
			break;
	}
	for (size_t i = 0; i < parts.n; i++)
		X509_free(parts.chain[i]);
	EVP_PKEY_free(parts.key);
	ERR_clear_error();
	return verdict;
}
