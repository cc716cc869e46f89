/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses and prints calendar days (Gregorian, YYYY-MM-DD).
 */
#include "date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DAY = 86400 };

/* strptime() alone would accept blanks, fewer digits, and days that do not
 * exist. */
bool date_parse(const char *text, size_t len, int64_t *days)
{
	char copy[sizeof("YYYY-MM-DD")] = "";
	struct tm tm = {0};
	const char *end;
	int day;

	if (len != sizeof(copy) - 1)
		return false;
	memcpy(copy, text, len);
	end = strptime(copy, "%Y-%m-%d", &tm);
	day = tm.tm_mday;
	if (end != copy + len || strspn(copy, "0123456789-") != len)
		return false;
	*days = (int64_t)timegm(&tm) / DAY;
	return tm.tm_mday == day;
}

const char *date_text(int64_t days, char out[DATE_TEXT])
{
	time_t seconds = (time_t)(days * DAY);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(out, DATE_TEXT, "%F", &tm))
		snprintf(out, DATE_TEXT, "day %lld", (long long)days);
	return out;
}

int64_t date_today(void)
{
	return (int64_t)(time(NULL) / DAY);
}
