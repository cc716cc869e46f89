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

/* What the functions give; months and days count from 0, but the date. */
enum civil {
	YEAR,
	MONTH,
	DAY_OF_YEAR,
	DATE,
	DAY_OF_MONTH,
	DAY_OF_WEEK,
	HOUR,
	MINUTE,
	SECOND,
	NCIVIL,
};

static void civil_of(int64_t seconds, int civil[NCIVIL])
{
	int64_t days = seconds / DAY - (seconds % DAY < 0);
	int64_t era, of_era, year_of_era, of_year;
	int second = (int)(seconds - days * DAY), month;

	of_era = days + 719468; /* years begin in March, as in cel_days() */
	era = (of_era >= 0 ? of_era : of_era - 146096) / 146097;
	of_era -= era * 146097;
	year_of_era =
		(of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) /
		365;
	of_year = of_era -
		  (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	month = (int)((5 * of_year + 2) / 153);
	civil[MONTH] = month < 10 ? month + 2 : month - 10;
	civil[YEAR] = (int)(year_of_era + era * 400) + (civil[MONTH] < 2);
	civil[DAY_OF_YEAR] = (int)(days - cel_days(civil[YEAR], 1, 1));
	civil[DAY_OF_MONTH] = (int)(of_year - (153 * month + 2) / 5);
	civil[DATE] = civil[DAY_OF_MONTH] + 1;
	/* 1970 began on Thursday. */
	civil[DAY_OF_WEEK] = (int)((days + 4) % 7 + 7) % 7;
	civil[HOUR] = second / 3600;
	civil[MINUTE] = second / 60 % 60;
	civil[SECOND] = second % 60;
}

void cel_timestamp_text(struct cel_time time, struct buf *out)
{
	int civil[NCIVIL], offset = time.offset / 60;
	char fraction[12];
	size_t n;

	civil_of(time.seconds + time.offset, civil);
	buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d", civil[YEAR],
		 civil[MONTH] + 1, civil[DATE], civil[HOUR], civil[MINUTE],
		 civil[SECOND]);
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
	bool negative = cel_text_at(text, 0, "-");
	bool sign = negative || cel_text_at(text, 0, "+");
	uint64_t size;
	const char *wrong = cel_digits(cel_part(text, sign, text.len), &size);

	if (!wrong && size > (uint64_t)INT64_MAX + negative)
		wrong = "value out of range";
	if (wrong)
		*problem =
			cel_error(call->arena, "strconv.Atoi: parsing %s: %s",
				  cel_quoted(call->arena, text), wrong);
	return (int64_t)(negative ? -size : size);
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

static struct cel_value of_duration(struct cel_call *call)
{
	int64_t nanos = cel_duration_nanos(call->args[0].time);
	const char *name = call->overload->name;

	if (text_eq(name, "getHours"))
		return cel_int(nanos / NANOS / 3600);
	if (text_eq(name, "getMinutes"))
		return cel_int(nanos / NANOS / 60);
	if (text_eq(name, "getSeconds"))
		return cel_int(nanos / NANOS);
	return cel_int(nanos / 1000000);
}

static struct cel_value of_time(struct cel_call *call)
{
	static const char *const names[NCIVIL] = {
		"getFullYear", "getMonth",	"getDayOfYear",
		"getDate",     "getDayOfMonth", "getDayOfWeek",
		"getHours",    "getMinutes",	"getSeconds",
	};
	struct cel_value problem = cel_null();
	struct cel_time time = call->args[0].time;
	int64_t east = zone(call, &problem);
	int civil[NCIVIL];

	if (cel_is_abnormal(problem))
		return problem;
	civil_of(time.seconds + east, civil);
	for (int i = 0; i < NCIVIL; i++)
		if (text_eq(call->overload->name, names[i]))
			return cel_int(civil[i]);
	return cel_int(time.nanos / 1000000);
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
