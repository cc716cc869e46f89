/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations as texts, for self-managed certificates. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "self_managed.h"
#include "self_managed_internal.h"

int64_t managed_time(const char *text)
{
	struct tm tm = {0};
	const char *end =
		text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return end && !strcmp(end, "Z") ? (int64_t)timegm(&tm) : -1;
}

int64_t self_managed_life(const char *text)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	const int64_t most = 100LL * 366 * 86400;
	long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name) && !errno && value > 0 &&
		    value <= most / units[i].seconds)
			return value * units[i].seconds;
	return -1;
}
