/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* What the main thread has to end in order, at a second signal. */
enum { GRACE_MS = 1000 };

int signals_block(struct signals *signals)
{
	sigset_t set;

	signals->fd = signals->wake[0] = signals->wake[1] = -1;
	signals->end[0] = signals->end[1] = -1;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) ||
	    pipe2(signals->wake, O_CLOEXEC | O_NONBLOCK) ||
	    pipe2(signals->end, O_CLOEXEC))
		return -1;
	signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return signals->fd < 0 ? -1 : 0;
}

static void wake(struct signals *signals)
{
	/* A full pipe wakes, too. */
	ssize_t ignored = write(signals->wake[1], "", 1);

	(void)ignored;
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
		wake(signals);
		if (!poll(&(struct pollfd){signals->end[0], 0, 0}, 1, GRACE_MS))
			_exit(0);
	}
	wake(signals);
}

static void *run(void *context)
{
	struct signals *signals = context;
	struct pollfd fds[] = {{signals->fd, POLLIN, 0},
			       {signals->end[0], 0, 0}};
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
	return signals->wake[0];
}

void signals_clear(struct signals *signals)
{
	char bytes[64];

	while (read(signals->wake[0], bytes, sizeof(bytes)) > 0)
		;
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void signals_release(struct signals *signals)
{
	close_one(signals->end[1]);
	if (signals->runs)
		pthread_join(signals->thread, NULL);
	close_one(signals->end[0]);
	close_one(signals->wake[0]);
	close_one(signals->wake[1]);
	close_one(signals->fd);
}
