/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Abandons work that ran out of memory or exceeded a limit: calls the guards
 * that were set during escape_run(), then jumps back to it.
 */
#include "base/escape.h"

#include <setjmp.h>
#include <stdbool.h>
#include <time.h>

struct way_out {
	jmp_buf place;
	struct way_out *outer;
	struct escape_guard *guards;
	struct escape_limits limits;
	int64_t began, processor_began; /* ms */
	size_t memory;
};

static _Thread_local struct way_out *way_out;

static int64_t now_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

enum escape escape_run(void (*work)(void *context), void *context,
		       const struct escape_limits *limits)
{
	struct way_out here = {.outer = way_out};
	int why;

	if (limits) {
		here.limits = *limits;
		here.began = now_ms(CLOCK_MONOTONIC);
		here.processor_began = now_ms(CLOCK_THREAD_CPUTIME_ID);
	}
	way_out = &here;
	why = setjmp(here.place);
	if (!why)
		work(context);
	way_out = here.outer;
	return (enum escape)why;
}

void escape_leave(enum escape why)
{
	struct way_out *out = way_out;

	if (!out)
		return;
	/* If a guard fails in turn, the program ends. */
	way_out = NULL;
	for (struct escape_guard *guard = out->guards; guard;
	     guard = guard->outer)
		guard->end(guard->what);
	longjmp(out->place, (int)why);
}

void escape_check(size_t bytes)
{
	const struct escape_limits *limits = way_out ? &way_out->limits : NULL;
	int64_t elapsed;

	if (!limits)
		return;
	way_out->memory += bytes;
	if (limits->memory && way_out->memory > limits->memory)
		escape_leave(ESCAPE_WORK);
	if (!limits->elapsed && !limits->processor)
		return;
	elapsed = now_ms(CLOCK_MONOTONIC) - way_out->began;
	/* Reading the clock of the thread takes a system call, so the elapsed
	 * time, which is at least as long, is compared first. */
	if (limits->processor && elapsed > limits->processor &&
	    now_ms(CLOCK_THREAD_CPUTIME_ID) - way_out->processor_began >
		    limits->processor)
		escape_leave(ESCAPE_WORK);
	if (limits->elapsed && elapsed > limits->elapsed)
		escape_leave(ESCAPE_TIME);
}

void escape_guard(struct escape_guard *guard, void (*end)(void *what),
		  void *what)
{
	*guard = (struct escape_guard){.end = end, .what = what};
	if (!way_out)
		return;
	guard->outer = way_out->guards;
	way_out->guards = guard;
}

void escape_unguard(struct escape_guard *guard)
{
	if (way_out)
		way_out->guards = guard->outer;
}
