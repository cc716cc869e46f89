/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time that goes on evenly, whatever becomes of the date. (The live state
 * wants one that also goes on while the machine sleeps: live_now().)
 */
#ifndef WEBHOOK_MONOTONIC_H
#define WEBHOOK_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline int64_t monotonic_seconds(void)
{
	return monotonic_ms() / 1000;
}

#endif
