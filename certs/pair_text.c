/* SPDX-License-Identifier: Apache-2.0 */
/* Writes messages about the result of a check. */
#include "pair_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

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
