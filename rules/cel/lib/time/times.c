/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timestamps and durations: conversions and arithmetic (cel-go common/types
 * timestamp.go, duration.go, overflow.go).
 */
#include "rules/cel/lib/lib_internal.h"

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
