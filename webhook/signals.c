/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that waits for signals. SIGHUP makes the main thread reload. The
 * first SIGTERM or SIGINT calls first(). The second one calls second(), and
 * ends the process if the main thread does not end within GRACE_MS.
 */
#include "serve.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Milliseconds for the main thread to clean up after a second signal. */
enum { GRACE_MS = 1000 };

int signals_block(struct signals *signals)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	signals->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	signals->end = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (signals->fd < 0 || signals->wake < 0 || signals->end < 0)
		return -1;
	return pthread_sigmask(SIG_BLOCK, &set, NULL) ? -1 : 0;
}

static void take(struct signals *signals, unsigned signal, unsigned *ends)
{
	if (signal == SIGHUP) {
		atomic_store(&signals->reload, true);
	} else if (++*ends == 1) {
		signals->first(signals->context, signal);
	} else {
		signals->second(signals->context);
		atomic_store(&signals->stop, true);
		eventfd_write(signals->wake, 1);
		if (!poll(&(struct pollfd){signals->end, POLLIN, 0}, 1,
			  GRACE_MS))
			_exit(0);
	}
	eventfd_write(signals->wake, 1);
}

static void *run(void *context)
{
	struct signals *signals = context;
	struct pollfd fds[] = {{signals->fd, POLLIN, 0},
			       {signals->end, POLLIN, 0}};
	struct signalfd_siginfo info;
	unsigned ends = 0;

	while (!fds[1].revents) {
		while (read(signals->fd, &info, sizeof(info)) == sizeof(info))
			take(signals, info.ssi_signo, &ends);
		poll(fds, 2, -1);
	}
	return NULL;
}

int signals_start(struct signals *signals)
{
	if (pthread_create(&signals->thread, NULL, run, signals))
		return -1;
	signals->runs = true;
	pthread_setname_np(signals->thread, "signals");
	return 0;
}

int signals_fd(const struct signals *signals)
{
	return signals->wake;
}

void signals_clear(struct signals *signals)
{
	eventfd_t ignored;

	eventfd_read(signals->wake, &ignored);
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void signals_release(struct signals *signals)
{
	if (signals->runs) {
		eventfd_write(signals->end, 1);
		pthread_join(signals->thread, NULL);
	}
	close_one(signals->end);
	close_one(signals->wake);
	close_one(signals->fd);
}
