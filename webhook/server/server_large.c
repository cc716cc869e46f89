/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks large reviews, which may take as long as hundreds of ordinary ones.
 * Threads of the lowest priority check them while their connections are
 * suspended, so that ordinary reviews wait neither behind them nor for a
 * processor. Large reviews are checked in order, as many at a time as
 * --max-memory and the number of threads allow.
 */
#include "server_internal.h"

#include <sched.h>
#include <stdlib.h>

enum { STACK_BYTES = 1 << 20 };

/* --- the queue ------------------------------------------------------------ */

void server_large_add(struct peer *peer, struct MHD_Connection *connection)
{
	struct server_large *large = &peer->server->large;

	peer->suspended = connection;
	peer->since = monotonic_ms();
	peer->next = NULL;
	MHD_suspend_connection(connection);
	pthread_mutex_lock(&large->lock);
	*large->last = peer;
	large->last = &peer->next;
	pthread_cond_signal(&large->changed);
	pthread_mutex_unlock(&large->lock);
}

/* Removes and returns the first connection of the queue. The caller holds the
 * lock. */
static struct peer *pop(struct server_large *large)
{
	struct peer *peer = large->first;

	if (!peer)
		return NULL;
	large->first = peer->next;
	if (!large->first)
		large->last = &large->first;
	return peer;
}

/* Waits for a review and for memory to check it. Returns NULL if the server
 * stops. */
static struct peer *next_review(struct server *server)
{
	struct server_large *large = &server->large;
	struct peer *peer;

	pthread_mutex_lock(&large->lock);
	while (!large->stopping &&
	       !(large->first &&
		 server_memory_judge(server, large->first->body.len)))
		pthread_cond_wait(&large->changed, &large->lock);
	peer = large->stopping ? NULL : pop(large);
	pthread_mutex_unlock(&large->lock);
	return peer;
}

static void end_review(struct server *server, size_t len)
{
	struct server_large *large = &server->large;

	pthread_mutex_lock(&large->lock);
	server_memory_judge_end(server, len);
	pthread_cond_broadcast(&large->changed);
	pthread_mutex_unlock(&large->lock);
}

/* --- the threads ---------------------------------------------------------- */

static void *run(void *arg)
{
	struct server *server = arg;
	struct peer *peer;

	while ((peer = next_review(server))) {
		server_judge_large(peer);
		end_review(server, peer->body.len);
		server_thread_resume(peer->thread, peer->suspended);
	}
	return NULL;
}

static int start_one(struct server *server)
{
	struct server_large *large = &server->large;
	const struct sched_param none = {0};
	pthread_attr_t attributes;
	pthread_t id;
	int code;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	code = pthread_create(&id, &attributes, run, server);
	pthread_attr_destroy(&attributes);
	if (code)
		return -1;
	large->threads[large->nthreads++] = id;
	pthread_setname_np(id, "large reviews");
	pthread_setschedparam(id, SCHED_IDLE, &none);
	return 0;
}

int server_large_start(struct server *server, unsigned n)
{
	struct server_large *large = &server->large;

	large->last = &large->first;
	pthread_mutex_init(&large->lock, NULL);
	pthread_cond_init(&large->changed, NULL);
	large->threads = calloc(n, sizeof(*large->threads));
	if (!large->threads)
		OUT_OF_MEMORY();
	while (n--)
		if (start_one(server) < 0)
			return -1;
	return 0;
}

void server_large_stop(struct server *server)
{
	struct server_large *large = &server->large;
	struct peer *peer;

	pthread_mutex_lock(&large->lock);
	large->stopping = true;
	pthread_cond_broadcast(&large->changed);
	pthread_mutex_unlock(&large->lock);
	for (unsigned i = 0; i < large->nthreads; i++)
		pthread_join(large->threads[i], NULL);
	/* All connections are resumed, because the library cannot stop a daemon
	 * with suspended connections. */
	while ((peer = pop(large)))
		server_thread_resume(peer->thread, peer->suspended);
	free(large->threads);
	pthread_cond_destroy(&large->changed);
	pthread_mutex_destroy(&large->lock);
}
