/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of timestamps, in UTC or at an offset such as "+05:30", and of
 * durations. Names of time zones need tables, those of the machine that runs:
 * what they give is not known here.
 */
#include "rules/cel/lib/lib_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { NANOS = 1000000000, DAY = 86400 };

/* Broken down; month and days count from 0. */
struct civil {
	int64_t year, days; /* days since 1970-01-01 */
	int month, day, second;
};

static struct civil civil_of(int64_t seconds)
{
	struct civil civil = {.days = seconds / DAY};
	int64_t era, of_era, year_of_era, of_year;
	int month;

	civil.second = (int)(seconds % DAY);
	if (civil.second < 0) {
		civil.second += DAY;
		civil.days--;
	}
	of_era = civil.days +
		 719468; /* years begin in March, as in cel_days() */
	era = (of_era >= 0 ? of_era : of_era - 146096) / 146097;
	of_era -= era * 146097;
	year_of_era =
		(of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) /
		365;
	of_year = of_era -
		  (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	month = (int)((5 * of_year + 2) / 153);
	civil.day = (int)(of_year - (153 * month + 2) / 5);
	civil.month = month < 10 ? month + 2 : month - 10;
	civil.year = year_of_era + era * 400 + (civil.month < 2);
	return civil;
}

void cel_timestamp_text(struct cel_time time, struct buf *out)
{
	struct civil civil = civil_of(time.seconds + time.offset);
	int second = civil.second, offset = time.offset / 60;
	char fraction[12];
	size_t n;

	buf_addf(out, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)civil.year,
		 civil.month + 1, civil.day + 1, second / 3600,
		 second / 60 % 60, second % 60);
	if (time.nanos) {
		snprintf(fraction, sizeof(fraction), ".%09d", (int)time.nanos);
		for (n = strlen(fraction); fraction[n - 1] == '0';)
			n--;
		buf_add(out, fraction, n);
	}
	if (offset)
		buf_addf(out, "%c%02d:%02d", offset < 0 ? '-' : '+',
			 abs(offset) / 60, abs(offset) % 60);
	else
		buf_addc(out, 'Z');
}

/* strconv.Atoi; the error in *problem. */
static int64_t integer(struct cel_call *call, struct cel_text text,
		       struct cel_value *problem)
{
	size_t at = text.len && strchr("+-", *text.data) ? 1 : 0;
	bool negative = at && *text.data == '-', valid = at < text.len;
	int64_t value = 0;
	bool overflow = false;

	for (; at < text.len; at++) {
		int digit = text.data[at] - '0';

		valid = valid && digit >= 0 && digit <= 9;
		overflow =
			overflow || __builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, negative ? -digit : digit,
					       &value);
	}
	if (!valid || overflow)
		*problem = cel_error(
			call->arena, "strconv.Atoi: parsing %s: %s",
			cel_quoted(call->arena, text),
			valid ? "value out of range" : "invalid syntax");
	return value;
}

/* Seconds east of UTC; or *problem says why not. */
static int64_t zone(struct cel_call *call, struct cel_value *problem)
{
	struct cel_text text;
	int64_t hours, minutes;
	uint64_t nanos;
	size_t colon;

	if (call->n < 2)
		return 0;
	text = call->args[1].text;
	colon = cel_text_find(text, ':');
	if (!text.len || cel_text_eq(text, "UTC"))
		return 0;
	if (colon == text.len) {
		*problem = cel_unknown(NULL);
		return 0;
	}
	hours = integer(call, cel_part(text, 0, colon), problem);
	if (cel_is(*problem, CEL_ERROR))
		return 0;
	minutes = integer(call, cel_part(text, colon + 1, text.len), problem);
	minutes = *text.data == '-' ? -minutes : minutes;
	/* Go multiplies nanoseconds, which overflow far from any place. */
	nanos = (uint64_t)hours * 60 + (uint64_t)minutes;
	return (int64_t)(nanos * 60 * NANOS) / NANOS;
}

static int64_t duration_field(struct cel_call *call)
{
	int64_t nanos = cel_duration_nanos(call->args[0].time);
	const char *name = call->overload->name;

	if (text_eq(name, "getHours"))
		return nanos / NANOS / 3600;
	if (text_eq(name, "getMinutes"))
		return nanos / NANOS / 60;
	if (text_eq(name, "getSeconds"))
		return nanos / NANOS;
	return nanos / 1000000;
}

static struct cel_value of_duration(struct cel_call *call)
{
	return cel_int(duration_field(call));
}

/* The fields of times, in the order of the switch. */
static const char *const fields[] = {
	"getFullYear", "getMonth",	"getDayOfYear",
	"getDate",     "getDayOfMonth", "getDayOfWeek",
	"getHours",    "getMinutes",	"getSeconds",
};

static int64_t field(const char *name, struct civil c, struct cel_time time)
{
	size_t i = 0;

	while (i < sizeof(fields) / sizeof(*fields) &&
	       !text_eq(name, fields[i]))
		i++;
	switch (i) {
	case 0:
		return c.year;
	case 1:
		return c.month;
	case 2:
		return c.days - cel_days(c.year, 1, 1);
	case 3:
		return c.day + 1;
	case 4:
		return c.day;
	case 5:
		return ((c.days + 4) % 7 + 7) % 7; /* 1970 began on Thursday */
	case 6:
		return c.second / 3600;
	case 7:
		return c.second / 60 % 60;
	case 8:
		return c.second % 60;
	default:
		return time.nanos / 1000000;
	}
}

static struct cel_value of_time(struct cel_call *call)
{
	struct cel_value problem = cel_null();
	struct cel_time time = call->args[0].time;
	int64_t east = zone(call, &problem);

	if (cel_is_abnormal(problem))
		return problem;
	return cel_int(field(call->overload->name,
			     civil_of(time.seconds + east), time));
}

#define FIELD(name)                                                            \
	{name, "timestamp.() int", of_time, NULL},                             \
	{                                                                      \
		name, "timestamp.(string) int", of_time, NULL                  \
	}

const struct cel_overload cel_time_fields_library[] = {
	FIELD("getFullYear"),
	FIELD("getMonth"),
	FIELD("getDayOfYear"),
	FIELD("getDate"),
	FIELD("getDayOfMonth"),
	FIELD("getDayOfWeek"),
	FIELD("getHours"),
	FIELD("getMinutes"),
	FIELD("getSeconds"),
	FIELD("getMilliseconds"),
	{"getHours", "duration.() int", of_duration, NULL},
	{"getMinutes", "duration.() int", of_duration, NULL},
	{"getSeconds", "duration.() int", of_duration, NULL},
	{"getMilliseconds", "duration.() int", of_duration, NULL},
	{0},
};
