/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library for LD_PRELOAD that moves the clock while a program runs. The file
 * named by CLOCK_STEP_FILE has the seconds by which the wall clock is wrong;
 * the file named by CLOCK_SLEEP_FILE has the seconds for which the machine
 * slept, which the wall clock and the boot-time clock both show. Monotonic time
 * is not affected.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long seconds(const char *variable)
{
	const char *path = getenv(variable);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[32] = "";

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, out);

	if (!rc && clock == CLOCK_REALTIME)
		out->tv_sec += seconds("CLOCK_STEP_FILE");
	if (!rc && (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME))
		out->tv_sec += seconds("CLOCK_SLEEP_FILE");
	return rc;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
