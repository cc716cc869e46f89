/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks, in the order that explains most: a text that cannot be read,
 * then a key that does not match, then what is wrong with the certificate
 * itself, dates last.
 */
#include "pair_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>

enum pair_verdict pair_say(struct pair_parts *parts, enum pair_verdict verdict,
			   const char *fmt, ...)
{
	char text[sizeof(parts->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(parts->err, 0, "%s", text);
	return verdict;
}

void pair_warn(struct pair_parts *parts, const char *warning)
{
	if (parts->info->nwarnings < PAIR_WARNINGS)
		parts->info->warnings[parts->info->nwarnings++] = warning;
}

const char *pair_which(struct pair_parts *parts, size_t i)
{
	if (parts->n == 1)
		return parts->ask->cert_file;
	return arena_printf(parts->arena, "certificate %zu of %s", i + 1,
			    parts->ask->cert_file);
}

const char *pair_time(struct arena *arena, int64_t seconds)
{
	time_t at = seconds;
	struct tm tm;
	char text[64];

	if (!gmtime_r(&at, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return arena_printf(arena, "%lld", (long long)seconds);
	return arena_strdup(arena, text);
}

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
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
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
