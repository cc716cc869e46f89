/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A phase is a number that grows: a thread that waits for the next one cannot
 * miss it, since the phase ends only when all that were called have worked.
 */
#include "crew.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

enum { TRIES = 400 /* some hundred microseconds */ };

void crew_init(struct crew *crew, unsigned most)
{
	memset(crew, 0, sizeof(*crew));
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->begin, NULL);
	pthread_cond_init(&crew->end, NULL);
	crew->most = most;
	crew->made = 1;
}

/* Wait for cond under the lock; may return without a signal. *tries, 0 at
 * first: what is awaited is often near, and to sleep takes longer. */
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

/* true: the phase after the one given began, and this thread is called. */
static bool await_call(struct crew *crew, unsigned index, unsigned *phase)
{
	unsigned tries = 0;
	bool called;

	pthread_mutex_lock(&crew->lock);
	for (;;) {
		called = crew->phase != *phase && index <= crew->wanted;
		*phase = crew->phase;
		if (called || crew->over)
			break;
		doze(&crew->begin, &crew->lock, &tries);
	}
	pthread_mutex_unlock(&crew->lock);
	return called;
}

static void *thread_main(void *context)
{
	struct crew_thread *self = context;
	struct crew *crew = self->crew;
	unsigned phase = 0;

	while (await_call(crew, self->index, &phase)) {
		crew->work(crew->context, self->index);
		pthread_mutex_lock(&crew->lock);
		if (!--crew->busy)
			pthread_cond_signal(&crew->end);
		pthread_mutex_unlock(&crew->lock);
	}
	return NULL;
}

/* Threads that were asked for and are not there yet. */
static void make_threads(struct crew *crew, unsigned n)
{
	if (!crew->threads)
		crew->threads = heap_zalloc(crew->most, sizeof(*crew->threads));
	while (crew->made < n) {
		struct crew_thread *thread = &crew->threads[crew->made];

		*thread = (struct crew_thread){crew, crew->made, 0};
		if (pthread_create(&thread->thread, NULL, thread_main, thread))
			break;
		crew->made++;
	}
}

unsigned crew_call(struct crew *crew, unsigned n,
		   void (*work)(void *context, unsigned index), void *context)
{
	if (n > crew->most)
		n = crew->most;
	if (n < 2)
		return 1;
	pthread_mutex_lock(&crew->lock);
	make_threads(crew, n);
	if (n > crew->made)
		n = crew->made;
	crew->work = work;
	crew->context = context;
	crew->wanted = crew->busy = n - 1;
	crew->phase++;
	pthread_cond_broadcast(&crew->begin);
	pthread_mutex_unlock(&crew->lock);
	return n;
}

void crew_wait(struct crew *crew)
{
	unsigned tries = 0;

	pthread_mutex_lock(&crew->lock);
	while (crew->busy)
		doze(&crew->end, &crew->lock, &tries);
	pthread_mutex_unlock(&crew->lock);
}

void crew_dismiss(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->over = true;
	pthread_cond_broadcast(&crew->begin);
	pthread_mutex_unlock(&crew->lock);
}

void crew_release(struct crew *crew)
{
	crew_dismiss(crew);
	for (unsigned i = 1; i < crew->made; i++)
		pthread_join(crew->threads[i].thread, NULL);
	free(crew->threads);
	pthread_mutex_destroy(&crew->lock);
	pthread_cond_destroy(&crew->begin);
	pthread_cond_destroy(&crew->end);
}
