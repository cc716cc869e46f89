/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library for LD_PRELOAD: monotonic time is ahead by the milliseconds in the
 * file named by CLOCK_AHEAD, a number of eight bytes. A thread that waits
 * notices within 10 ms that its time has come, so a test moves the clock
 * instead of waiting. Other clocks show the machine's time.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_MS = 10 };

static const volatile int64_t *ahead_ms;

/* Maps the file before a sandbox is entered. */
__attribute__((constructor)) static void map(void)
{
	const char *path = getenv("CLOCK_AHEAD");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at;

	if (fd < 0)
		return;
	at = mmap(NULL, sizeof(*ahead_ms), PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		ahead_ms = at;
	close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, out);
	int64_t ms = ahead_ms ? *ahead_ms : 0;

	if (rc || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE))
		return rc;
	out->tv_sec += ms / 1000;
	out->tv_nsec += ms % 1000 * 1000000;
	if (out->tv_nsec >= 1000000000) {
		out->tv_sec++;
		out->tv_nsec -= 1000000000;
	}
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Returns the real time to wait in one slice. */
static int64_t slice(int64_t until)
{
	int64_t rest = until - now_ms();

	return rest < 0 ? 0 : rest < SLICE_MS ? rest : SLICE_MS;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int);
	int64_t until = now_ms() + timeout;
	int rc;

	*(void **)&real = dlsym(RTLD_NEXT, "poll");
	if (timeout <= 0)
		return real(fds, n, timeout);
	do
		rc = real(fds, n, (int)slice(until));
	while (rc == 0 && now_ms() < until);
	return rc;
}

/* The end of a slice is a spurious wake-up, which callers must expect. */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	int (*real)(pthread_cond_t *, pthread_mutex_t *,
		    const struct timespec *);
	int64_t until_ms =
		(int64_t)until->tv_sec * 1000 + until->tv_nsec / 1000000;
	struct timespec end;
	int rc;

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &end);
	end.tv_nsec += slice(until_ms) * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	rc = real(cond, mutex, &end);
	return rc == ETIMEDOUT && now_ms() < until_ms ? 0 : rc;
}
