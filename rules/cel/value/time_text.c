/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts times from and to text. Like Go's time.Parse with RFC 3339, it
 * accepts more than the standard: an hour of one digit, a comma before the
 * fraction, offsets up to 24:60.
 */
#include "value_internal.h"

#include <time.h>

#include "base/array.h"

enum { NANOS = 1000000000 };

int64_t cel_duration_nanos(struct cel_time time)
{
	/* The arithmetic is unsigned, because the smallest duration would
	 * overflow. */
	return (int64_t)((uint64_t)time.seconds * NANOS + (uint64_t)time.nanos);
}

struct cel_value cel_duration(int64_t nanos)
{
	int64_t seconds = nanos / NANOS, rest = nanos % NANOS;

	if (rest < 0) {
		rest += NANOS;
		seconds--;
	}
	return (struct cel_value){
		.kind = CEL_DURATION,
		.time = {.seconds = seconds, .nanos = (int32_t)rest}};
}

/* --- texts --------------------------------------------------------------- */

struct scan {
	struct cel_text text;
	size_t at;
};

static bool digit_at(const struct scan *scan, size_t at)
{
	return at < scan->text.len && scan->text.data[at] >= '0' &&
	       scan->text.data[at] <= '9';
}

static bool skip_char(struct scan *scan, char c)
{
	if (scan->at >= scan->text.len || scan->text.data[scan->at] != c)
		return false;
	scan->at++;
	return true;
}

/* Reads a number of least to most digits. Returns false if there are fewer. */
static bool number(struct scan *scan, int least, int most, int *out)
{
	int n = 0;

	for (*out = 0; n < most && digit_at(scan, scan->at); n++, scan->at++)
		*out = *out * 10 + (scan->text.data[scan->at] - '0');
	return n >= least;
}

static bool date(struct scan *scan, int64_t *seconds)
{
	struct tm tm = {0};
	int year, month, day;

	if (!number(scan, 4, 4, &year) || !skip_char(scan, '-') ||
	    !number(scan, 2, 2, &month) || !skip_char(scan, '-') ||
	    !number(scan, 2, 2, &day))
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	*seconds = timegm(&tm);
	/* timegm() changes a date that does not exist to another day. */
	return tm.tm_mday == day && tm.tm_mon == month - 1;
}

bool cel_date_parse(struct cel_text text, int64_t *seconds)
{
	struct scan scan = {text, 0};

	return date(&scan, seconds);
}

static int32_t fraction(struct scan *scan)
{
	int32_t nanos = 0, unit = NANOS;

	if (scan->at + 1 >= scan->text.len || !digit_at(scan, scan->at + 1) ||
	    (!skip_char(scan, '.') && !skip_char(scan, ',')))
		return 0;
	for (; digit_at(scan, scan->at); scan->at++) {
		unit /= 10;
		nanos += (scan->text.data[scan->at] - '0') * unit;
	}
	return nanos;
}

static bool offset(struct scan *scan, int32_t *seconds)
{
	bool negative =
		scan->at < scan->text.len && scan->text.data[scan->at] == '-';
	int hours, minutes;

	*seconds = 0;
	if (skip_char(scan, 'Z'))
		return true;
	if ((!skip_char(scan, '-') && !skip_char(scan, '+')) ||
	    !number(scan, 2, 2, &hours) || !skip_char(scan, ':') ||
	    !number(scan, 2, 2, &minutes) || hours > 24 || minutes > 60)
		return false;
	*seconds = (hours * 60 + minutes) * (negative ? -60 : 60);
	return true;
}

bool cel_timestamp_valid(struct cel_time time)
{
	return time.seconds >= -62135596800 && time.seconds < 253402300800;
}

bool cel_timestamp_parse(struct cel_text text, struct cel_time *out)
{
	struct scan scan = {text, 0};
	int hour, minute, second;

	if (!date(&scan, &out->seconds) || !skip_char(&scan, 'T') ||
	    !number(&scan, 1, 2, &hour) || !skip_char(&scan, ':') ||
	    !number(&scan, 2, 2, &minute) || !skip_char(&scan, ':') ||
	    !number(&scan, 2, 2, &second) || hour > 23 || minute > 59 ||
	    second > 59)
		return false;
	out->nanos = fraction(&scan);
	if (!offset(&scan, &out->offset) || scan.at != text.len)
		return false;
	out->seconds += (hour * 60 + minute) * 60 + second - out->offset;
	return true;
}

static const struct unit {
	const char *name;
	uint64_t nanos;
} units[] = {
	{"ns", 1},
	{"us", 1000},
	{"\302\265s", 1000}, /* with the micro sign, with the Greek letter mu */
	{"\316\274s", 1000},
	{"ms", 1000000},
	{"s", NANOS},
	{"m", 60ULL * NANOS},
	{"h", 3600ULL * NANOS},
};

static const uint64_t LIMIT = 1ULL << 63;

/* Returns the nanoseconds of a unit, which ends at the next digit or dot; 0 if
 * it is unknown. */
static uint64_t unit(struct scan *scan)
{
	size_t start = scan->at;
	struct cel_text name;

	while (scan->at < scan->text.len && !digit_at(scan, scan->at) &&
	       scan->text.data[scan->at] != '.')
		scan->at++;
	name = (struct cel_text){scan->text.data + start, scan->at - start};
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (cel_text_eq(name, units[i].name))
			return units[i].nanos;
	}
	return 0;
}

/* Reads a part such as `1.5h` and adds it to *nanos. Fractions are doubles, as
 * in Go. */
static bool component(struct scan *scan, uint64_t *nanos)
{
	size_t start = scan->at, dot;
	uint64_t whole = 0, part = 0, per;
	double scale = 1;

	for (; digit_at(scan, scan->at); scan->at++) {
		if (whole > LIMIT / 10)
			return false;
		whole = whole * 10 +
			(uint64_t)(scan->text.data[scan->at] - '0');
		if (whole > LIMIT)
			return false;
	}
	dot = scan->at;
	if (skip_char(scan, '.')) {
		for (; digit_at(scan, scan->at); scan->at++) {
			if (part > (LIMIT - 1) / 10)
				continue;
			part = part * 10 +
			       (uint64_t)(scan->text.data[scan->at] - '0');
			scale *= 10;
		}
	}
	if (dot == start && scan->at <= dot + 1)
		return false;
	per = unit(scan);
	if (!per || whole > LIMIT / per)
		return false;
	whole *= per;
	whole += (uint64_t)((double)part * ((double)per / scale));
	*nanos += whole;
	return whole <= LIMIT && *nanos <= LIMIT;
}

bool cel_duration_parse(struct cel_text text, int64_t *nanos)
{
	struct scan scan = {text, 0};
	bool negative = skip_char(&scan, '-');
	uint64_t sum = 0;

	if (!negative)
		skip_char(&scan, '+');
	*nanos = 0;
	if (text.len - scan.at == 1 && text.data[scan.at] == '0')
		return true;
	if (scan.at == text.len)
		return false;
	while (scan.at < text.len) {
		if (!component(&scan, &sum))
			return false;
	}
	*nanos = (int64_t)(negative ? -sum : sum);
	return negative || sum < LIMIT;
}
