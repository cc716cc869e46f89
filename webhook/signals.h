/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that only waits for signals: a file that is slow to read keeps the
 * main thread, but neither the first SIGTERM nor the second.
 */
#ifndef WEBHOOK_SIGNALS_H
#define WEBHOOK_SIGNALS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct signals {
	/* On the signals' thread, at the first SIGTERM or SIGINT; and at the
	 * second. */
	void (*first)(void *context, unsigned signal);
	void (*second)(void *context);
	void *context;
	/* Reasons to wake the main thread; it clears reload. */
	atomic_bool reload, stop;
	/* private */
	pthread_t thread;
	bool runs;
	int fd, wake, end;
};

/* Before the first thread: signals arrive nowhere else. -1 with errno. */
int signals_block(struct signals *signals);
int signals_start(struct signals *signals);
/* Readable when there is something for the main thread. */
int signals_fd(const struct signals *signals);
void signals_clear(struct signals *signals);
void signals_release(struct signals *signals);

#endif
