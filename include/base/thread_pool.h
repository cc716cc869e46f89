/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that work in parallel, phase after phase, together with the calling
 * one. They start when there is work for them, wait between phases, and end
 * with pool_release(). With fewer threads than requested the result is the
 * same, only later.
 */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <pthread.h>
#include <stdbool.h>

struct pool_thread {
	struct thread_pool *thread_pool;
	unsigned index;
	pthread_t thread;
};

struct thread_pool {
	pthread_mutex_t lock;
	pthread_cond_t begin, end;
	struct pool_thread *threads; /* [0] is unused: the caller's */
	unsigned most, made;	     /* including the caller */
	unsigned wanted, busy;	     /* of this phase, without the caller */
	unsigned phase;
	void (*work)(void *context, unsigned index);
	void *context;
	bool over;
};

/* most: the number of threads to use, including the caller. */
void pool_init(struct thread_pool *thread_pool, unsigned most);
/* Begins a phase: other threads call work(context, 1) to work(context, n - 1).
 * Returns n, which is at most the number requested. */
unsigned pool_call(struct thread_pool *thread_pool, unsigned n,
		   void (*work)(void *context, unsigned index), void *context);
/* Waits for the other threads after the caller has done its share. */
void pool_wait(struct thread_pool *thread_pool);
/* Lets the threads end while the caller continues; no phase follows. */
void pool_dismiss(struct thread_pool *thread_pool);
void pool_release(struct thread_pool *thread_pool);

#endif
