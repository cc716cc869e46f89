/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time and random numbers for the live state. The time is monotonic, so that a
 * step of the clock does not change a wait, and it counts while the machine is
 * suspended, so that the state is old afterwards. Random waits keep replicas
 * from sending requests at the same moment.
 */
#include <sys/random.h>
#include <time.h>

#include "reflector.h"

int64_t live_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint32_t live_random(uint32_t n)
{
	uint32_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		bits = (uint32_t)live_now();
	return n ? bits % n : 0;
}

unsigned live_backoff(unsigned failures, unsigned first, unsigned most,
		      uint32_t chance)
{
	uint64_t wait = first;

	while (failures-- > 1 && wait < most)
		wait *= 2;
	if (wait > most)
		wait = most;
	return (unsigned)(wait / 2 + chance % (wait / 2 + 1));
}
