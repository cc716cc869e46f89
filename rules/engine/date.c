/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Days from a date and back, without locale and time zone. The year counts
 * from March, so that the leap day is its last one: then the days before a
 * month are (153 m + 2) / 5, and 400 years have 146,097 days.
 */
#include "date.h"

#include <stdio.h>
#include <time.h>

enum { ERA_DAYS = 146097, EPOCH_DAYS = 719468 /* 0000-03-01 to 1970 */ };

static int digits(const char *text, size_t n)
{
	int value = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + (text[i] - '0');
	}
	return value;
}

static int month_length(int year, int month)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30,
				      31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return lengths[month - 1] + (month == 2 && leap);
}

static int64_t days_from(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era, year_of_era, day_of_year;

	/* Year 0 before March lies in the era before. */
	era = (y >= 0 ? y : y - 399) / 400;
	year_of_era = y - era * 400;
	day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
	return era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 -
	       year_of_era / 100 + day_of_year - EPOCH_DAYS;
}

bool date_parse(const char *text, size_t len, int64_t *days)
{
	int year, month, day;

	if (len != 10 || text[4] != '-' || text[7] != '-')
		return false;
	year = digits(text, 4);
	month = digits(text + 5, 2);
	day = digits(text + 8, 2);
	if (year < 0 || month < 1 || month > 12 || day < 1 ||
	    day > month_length(year, month))
		return false;
	*days = days_from(year, month, day);
	return true;
}

const char *date_text(int64_t days, char out[DATE_TEXT])
{
	time_t seconds = (time_t)(days * 86400);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(out, DATE_TEXT, "%F", &tm))
		snprintf(out, DATE_TEXT, "day %lld", (long long)days);
	return out;
}

int64_t date_today(void)
{
	return (int64_t)(time(NULL) / 86400);
}
