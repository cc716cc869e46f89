/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that work side by side, phase after phase, with the calling one
 * among them. They are made when there is work for them, wait between phases,
 * and end with crew_release(). Fewer than asked for are slower, not wrong.
 */
#ifndef LINT_CREW_H
#define LINT_CREW_H

#include <pthread.h>
#include <stdbool.h>

struct crew_thread {
	struct crew *crew;
	unsigned index;
	pthread_t thread;
};

struct crew {
	pthread_mutex_t lock;
	pthread_cond_t begin, end;
	struct crew_thread *threads; /* [0] is the caller's, and not used */
	unsigned most, made;	     /* the caller included */
	unsigned wanted, busy;	     /* of this phase, without the caller */
	unsigned phase;
	void (*work)(void *context, unsigned index);
	void *context;
	bool over;
};

/* most: threads to use, the caller included. */
void crew_init(struct crew *crew, unsigned most);
/* Begin a phase: others call work(context, 1) to work(context, n - 1), where
 * n, the answer, is at most the one asked for. */
unsigned crew_call(struct crew *crew, unsigned n,
		   void (*work)(void *context, unsigned index), void *context);
/* The caller has done its share: wait for the others. */
void crew_wait(struct crew *crew);
/* There will be no other phase: threads end while the caller goes on. */
void crew_dismiss(struct crew *crew);
void crew_release(struct crew *crew);

#endif
