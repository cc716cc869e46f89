/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that work in parallel with the calling thread, phase after phase.
 * They start with the first phase that needs them, wait between phases, and end
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
	/* [0] is unused: the calling thread is number 0 */
	struct pool_thread *threads;
	unsigned most, made; /* most allowed and created so far, each including
				the caller */
	unsigned wanted, busy; /* threads of this phase, without the caller:
				  requested, still working */
	unsigned phase;
	void (*work)(void *context, unsigned index);
	void *context;
	bool over;
};

/* Initializes a pool without threads. most is the largest number of threads to
 * use, including the caller. */
void pool_init(struct thread_pool *thread_pool, unsigned most);
/* Begins a phase: other threads call work(context, 1) to work(context, n - 1).
 * Returns n, which is at most the number requested. */
unsigned pool_call(struct thread_pool *thread_pool, unsigned n,
		   void (*work)(void *context, unsigned index), void *context);
/* Waits until the other threads have finished the phase; call it after the
 * caller's own part. */
void pool_wait(struct thread_pool *thread_pool);
/* Ends the threads in the background; no phase may follow. */
void pool_dismiss(struct thread_pool *thread_pool);
void pool_release(struct thread_pool *thread_pool);

#endif
