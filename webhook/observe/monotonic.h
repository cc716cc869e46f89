/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monotonic time, which is independent of steps of the wall clock. (The live
 * state uses live_now(), which also counts while the machine is suspended.)
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
