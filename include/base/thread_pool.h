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
	struct pool_thread *threads; /* [0] is the caller's, and not used */
	unsigned most, made;	     /* the caller included */
	unsigned wanted, busy;	     /* of this phase, without the caller */
	unsigned phase;
	void (*work)(void *context, unsigned index);
	void *context;
	bool over;
};

/* most: threads to use, the caller included. */
void pool_init(struct thread_pool *thread_pool, unsigned most);
/* Begin a phase: others call work(context, 1) to work(context, n - 1), where
 * n, the answer, is at most the one asked for. */
unsigned pool_call(struct thread_pool *thread_pool, unsigned n,
		   void (*work)(void *context, unsigned index), void *context);
/* The caller has done its share: wait for the others. */
void pool_wait(struct thread_pool *thread_pool);
/* No phase follows: threads end while the caller goes on. */
void pool_dismiss(struct thread_pool *thread_pool);
void pool_release(struct thread_pool *thread_pool);

#endif
