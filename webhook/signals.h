/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that only waits for signals: a slow read of a file blocks the main
 * thread, but not the handling of SIGTERM.
 */
#ifndef WEBHOOK_SIGNALS_H
#define WEBHOOK_SIGNALS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct signals {
	/* Called on the thread for signals: first() at the first SIGTERM or
	 * SIGINT, second() at the second. */
	void (*first)(void *context, unsigned signal);
	void (*second)(void *context);
	void *context;
	/* Reasons to wake the main thread, which resets `reload`. */
	atomic_bool reload, stop;
	/* Private fields. */
	pthread_t thread;
	bool runs;
	int fd, wake, end;
};

/* Blocks signals, so that only the thread of signals_start() gets them. Must be
 * called before the first thread starts. Returns -1 and sets errno. */
int signals_block(struct signals *signals);
int signals_start(struct signals *signals);
/* Returns a descriptor that is readable if a signal has arrived for the main
 * thread. */
int signals_fd(const struct signals *signals);
void signals_clear(struct signals *signals);
void signals_release(struct signals *signals);

#endif
