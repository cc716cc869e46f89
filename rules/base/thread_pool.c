/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that work together on the phases of a task. Phases are numbered; a
 * thread that waits for the next phase cannot miss it, because a phase ends
 * only after all of its threads have worked.
 */
#include "base/thread_pool.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { TRIES = 400 /* takes some hundred microseconds */ };

void pool_init(struct thread_pool *thread_pool, unsigned most)
{
	memset(thread_pool, 0, sizeof(*thread_pool));
	pthread_mutex_init(&thread_pool->lock, NULL);
	pthread_cond_init(&thread_pool->begin, NULL);
	pthread_cond_init(&thread_pool->end, NULL);
	thread_pool->most = most;
	thread_pool->made = 1;
}

/* Waits for cond while the lock is held; may return without a signal. *tries is
 * initially 0: the first waits poll, because the event is often near and
 * sleeping takes longer. */
static void doze(pthread_cond_t *cond, pthread_mutex_t *lock, unsigned *tries)
{
	if (++*tries > TRIES) {
		pthread_cond_wait(cond, lock);
		return;
	}
	pthread_mutex_unlock(lock);
	sched_yield();
	pthread_mutex_lock(lock);
}

/* Waits for the next phase after *phase in which this thread takes part, and
 * updates *phase. Returns false if the pool ends. */
static bool await_call(struct thread_pool *thread_pool, unsigned index,
		       unsigned *phase)
{
	unsigned tries = 0;
	bool called;

	pthread_mutex_lock(&thread_pool->lock);
	for (;;) {
		called = thread_pool->phase != *phase &&
			 index <= thread_pool->wanted;
		*phase = thread_pool->phase;
		if (called || thread_pool->over)
			break;
		doze(&thread_pool->begin, &thread_pool->lock, &tries);
	}
	pthread_mutex_unlock(&thread_pool->lock);
	return called;
}

static void *thread_main(void *context)
{
	struct pool_thread *self = context;
	struct thread_pool *thread_pool = self->thread_pool;
	unsigned phase = 0;

	while (await_call(thread_pool, self->index, &phase)) {
		thread_pool->work(thread_pool->context, self->index);
		pthread_mutex_lock(&thread_pool->lock);
		if (!--thread_pool->busy)
			pthread_cond_signal(&thread_pool->end);
		pthread_mutex_unlock(&thread_pool->lock);
	}
	return NULL;
}

/* Starts the threads that this phase needs and that do not exist yet. */
static void make_threads(struct thread_pool *thread_pool, unsigned n)
{
	if (!thread_pool->threads)
		thread_pool->threads = array_zalloc(
			thread_pool->most, sizeof(*thread_pool->threads));
	while (thread_pool->made < n) {
		struct pool_thread *thread =
			&thread_pool->threads[thread_pool->made];

		*thread =
			(struct pool_thread){thread_pool, thread_pool->made, 0};
		if (pthread_create(&thread->thread, NULL, thread_main, thread))
			break;
		thread_pool->made++;
	}
}

unsigned pool_call(struct thread_pool *thread_pool, unsigned n,
		   void (*work)(void *context, unsigned index), void *context)
{
	if (n > thread_pool->most)
		n = thread_pool->most;
	if (n < 2)
		return 1;
	pthread_mutex_lock(&thread_pool->lock);
	make_threads(thread_pool, n);
	if (n > thread_pool->made)
		n = thread_pool->made;
	thread_pool->work = work;
	thread_pool->context = context;
	thread_pool->wanted = thread_pool->busy = n - 1;
	thread_pool->phase++;
	pthread_cond_broadcast(&thread_pool->begin);
	pthread_mutex_unlock(&thread_pool->lock);
	return n;
}

void pool_wait(struct thread_pool *thread_pool)
{
	unsigned tries = 0;

	pthread_mutex_lock(&thread_pool->lock);
	while (thread_pool->busy)
		doze(&thread_pool->end, &thread_pool->lock, &tries);
	pthread_mutex_unlock(&thread_pool->lock);
}

void pool_dismiss(struct thread_pool *thread_pool)
{
	pthread_mutex_lock(&thread_pool->lock);
	thread_pool->over = true;
	pthread_cond_broadcast(&thread_pool->begin);
	pthread_mutex_unlock(&thread_pool->lock);
}

void pool_release(struct thread_pool *thread_pool)
{
	pool_dismiss(thread_pool);
	for (unsigned i = 1; i < thread_pool->made; i++)
		pthread_join(thread_pool->threads[i].thread, NULL);
	free(thread_pool->threads);
	pthread_mutex_destroy(&thread_pool->lock);
	pthread_cond_destroy(&thread_pool->begin);
	pthread_cond_destroy(&thread_pool->end);
}
