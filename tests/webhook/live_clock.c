/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD: the clock of the wall is off by the seconds in the file that
 * CLOCK_STEP_FILE names; the monotonic one goes on as it does.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long step(void)
{
	const char *path = getenv("CLOCK_STEP_FILE");
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
		out->tv_sec += step();
	return rc;
}
