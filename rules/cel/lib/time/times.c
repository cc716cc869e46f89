/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timestamps and durations: conversions, arithmetic and fields (cel-go
 * common/types timestamp.go, duration.go, overflow.go).
 */
#include "rules/cel/lib/lib_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"

enum { NANOS = 1000000000 };

void cel_duration_text(struct cel_time time, struct buf *out)
{
	int64_t nanos = cel_duration_nanos(time);

	/* NOLINTNEXTLINE(bugprone-integer-division): whole units */
	cel_fixed_text((double)(nanos / NANOS) + (double)(nanos % NANOS) / 1e9,
		       out);
	buf_addc(out, 's');
}

static struct cel_value timestamp(struct cel_call *call, struct cel_time time)
{
	if (!cel_timestamp_valid(time))
		return cel_error(call->arena, "timestamp overflow");
	return (struct cel_value){.kind = CEL_TIMESTAMP, .time = time};
}

static struct cel_value timestamp_of_text(struct cel_call *call)
{
	struct cel_time time;

	if (!cel_timestamp_parse(call->args[0].text, &time))
		return cel_no_conversion(call, "google.protobuf.Timestamp");
	return timestamp(call, time);
}

static struct cel_value timestamp_of_int(struct cel_call *call)
{
	return timestamp(call,
			 (struct cel_time){.seconds = call->args[0].integer});
}

static struct cel_value duration_of_text(struct cel_call *call)
{
	int64_t nanos;

	if (!cel_duration_parse(call->args[0].text, &nanos))
		return cel_no_conversion(call, "google.protobuf.Duration");
	return cel_duration(nanos);
}

static struct cel_value duration_of_int(struct cel_call *call)
{
	return cel_no_conversion(call, "google.protobuf.Duration");
}

static struct cel_value seconds_of(struct cel_call *call)
{
	return cel_int(call->args[0].time.seconds);
}

static struct cel_value nanos_of(struct cel_call *call)
{
	return cel_int(cel_duration_nanos(call->args[0].time));
}

static struct cel_value overflow(struct cel_call *call)
{
	return cel_error(call->arena, "integer overflow");
}

static struct cel_value shift(struct cel_call *call, struct cel_time time,
			      struct cel_time by)
{
	time.seconds += by.seconds;
	time.nanos += by.nanos;
	if (time.nanos >= NANOS) {
		time.nanos -= NANOS;
		time.seconds++;
	}
	return timestamp(call, time);
}

static struct cel_value time_plus(struct cel_call *call)
{
	bool first = cel_is(call->args[0], CEL_TIMESTAMP);

	return shift(call, call->args[!first].time, call->args[first].time);
}

static struct cel_value time_minus(struct cel_call *call)
{
	int64_t nanos = cel_duration_nanos(call->args[1].time);

	if (nanos == INT64_MIN)
		return overflow(call);
	return shift(call, call->args[0].time, cel_duration(-nanos).time);
}

static struct cel_value time_difference(struct cel_call *call)
{
	struct cel_time a = call->args[0].time, b = call->args[1].time;
	int64_t nanos;

	if (__builtin_mul_overflow(a.seconds - b.seconds, NANOS, &nanos) ||
	    __builtin_add_overflow(nanos, a.nanos - b.nanos, &nanos))
		return overflow(call);
	return cel_duration(nanos);
}

/* Returns the sum or the difference of two durations. */
static struct cel_value combine(struct cel_call *call)
{
	int64_t a = cel_duration_nanos(call->args[0].time), nanos;
	int64_t b = cel_duration_nanos(call->args[1].time);
	bool over = text_eq(call->overload->name, "_+_")
			    ? __builtin_add_overflow(a, b, &nanos)
			    : __builtin_sub_overflow(a, b, &nanos);

	return over ? overflow(call) : cel_duration(nanos);
}

const struct cel_overload cel_times_library[] = {
	{"timestamp", "(int) timestamp", timestamp_of_int, NULL},
	{"timestamp", "(string) timestamp", timestamp_of_text, NULL},
	{"duration", "(int) duration", duration_of_int, NULL},
	{"duration", "(string) duration", duration_of_text, NULL},
	{"int", "(timestamp) int", seconds_of, NULL},
	{"int", "(duration) int", nanos_of, NULL},
	/* The order is that of cel-go: for arguments of unknown type, the first
	 * overload decides. */
	{"_+_", "(duration, duration) duration", combine, NULL},
	{"_+_", "(timestamp, duration) timestamp", time_plus, NULL},
	{"_+_", "(duration, timestamp) timestamp", time_plus, NULL},
	{"_-_", "(duration, duration) duration", combine, NULL},
	{"_-_", "(timestamp, duration) timestamp", time_minus, NULL},
	{"_-_", "(timestamp, timestamp) duration", time_difference, NULL},
	{0},
};

/*
 * The fields of timestamps, in UTC or at an offset such as "+05:30", and of
 * durations. For names of time zones, which need tables that differ between
 * machines, the results are unknown.
 */

static struct tm civil_of(int64_t seconds)
{
	time_t time = seconds;
	struct tm tm;

	gmtime_r(&time, &tm);
	return tm;
}

void cel_timestamp_text(struct cel_time time, struct buf *out)
{
	struct tm tm = civil_of(time.seconds + time.offset);
	int offset = time.offset / 60;
	char fraction[12];
	size_t n;

	buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
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

/* Returns the seconds east of UTC; sets *problem if the zone is unknown or
 * invalid. */
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
	if (!cel_integer(cel_part(text, 0, colon), &hours) ||
	    !cel_integer(cel_part(text, colon + 1, text.len), &minutes)) {
		*problem = cel_error(call->arena, "'%.*s' is not a time zone",
				     (int)text.len, text.data);
		return 0;
	}
	minutes = *text.data == '-' ? -minutes : minutes;
	/* Go computes nanoseconds in 64 bits, which overflow only for offsets
	 * far beyond any time zone. */
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

/* Months and days count from 0, except in getDate(). */
static struct cel_value of_time(struct cel_call *call)
{
	struct cel_value problem = cel_null();
	struct cel_time time = call->args[0].time;
	const struct tm tm = civil_of(time.seconds + zone(call, &problem));
	const struct {
		const char *name;
		int value;
	} fields[] = {
		{"getFullYear", tm.tm_year + 1900},
		{"getMonth", tm.tm_mon},
		{"getDayOfYear", tm.tm_yday},
		{"getDate", tm.tm_mday},
		{"getDayOfMonth", tm.tm_mday - 1},
		{"getDayOfWeek", tm.tm_wday},
		{"getHours", tm.tm_hour},
		{"getMinutes", tm.tm_min},
		{"getSeconds", tm.tm_sec},
	};

	if (cel_is_abnormal(problem))
		return problem;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (text_eq(call->overload->name, fields[i].name))
			return cel_int(fields[i].value);
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
