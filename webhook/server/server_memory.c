/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the memory of all requests: of bodies, which this file stores as they
 * arrive, and of the trees, texts and findings of large bodies while they are
 * checked. A body beyond the limit is answered with 429 and Retry-After; the
 * check of a large body waits.
 *
 * The memory has three parts. An eighth is only for small bodies, so that
 * large ones do not lock out ordinary reviews. Half of the remaining memory,
 * or as much as the largest review needs, is for checks, so that bodies that
 * wait for a check do not block each other. The third part is for large
 * bodies. Memory for checking small reviews is not counted: each thread checks
 * one at a time, which mostly takes 3 MiB, at most 8 MiB.
 */
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	SMALL_SHARE = 8,
	/* Two bytes of JSON can become a node of 104 bytes, and a pod of 200
	 * bytes may take 15 KB. The number of nodes and pods is limited
	 * (review.c, doc/budget.c). */
	SHARE = 120,
	MOST = 27 << 20,
	SAY_SECONDS = 10,
};

/* Returns the memory for a check, including strings, which are copied. */
static size_t work_size(size_t len)
{
	return len + (len < MOST / SHARE ? len * SHARE : MOST);
}

size_t server_memory_least(size_t max_body)
{
	size_t rest = max_body + work_size(max_body);

	return rest + rest / (SMALL_SHARE - 1) + 1;
}

void server_memory_init(struct server_memory *memory, size_t bytes,
			size_t max_body)
{
	size_t least = server_memory_least(max_body), rest;

	if (bytes < least)
		bytes = least;
	rest = bytes - bytes / SMALL_SHARE;
	memory->work_max = work_size(max_body);
	if (memory->work_max < rest / 2)
		memory->work_max = rest / 2;
	memory->large_max = rest - memory->work_max;
	memory->bodies_max = bytes - memory->work_max;
}

static bool reserve_bytes(atomic_size_t *used, size_t bytes, size_t most)
{
	if (atomic_fetch_add(used, bytes) + bytes <= most)
		return true;
	atomic_fetch_sub(used, bytes);
	return false;
}

/* Logs a rejection, at most one per interval: a line for each would fill the
 * log. */
static void say_refused(struct server *server)
{
	int64_t now = monotonic_seconds();
	int64_t due = atomic_load(&server->memory.say_at);

	metrics_add(server->options.metrics, METRICS_MEMORY_REFUSED, 1);
	if (now < due ||
	    !atomic_compare_exchange_strong(&server->memory.say_at, &due,
					    now + SAY_SECONDS))
		return;
	log_event(server->options.log, LOG_WARN,
		  "reviews were rejected with 429: --max-memory is in use",
		  (struct log_field[]){
			  {"bodies", NULL,
			   (int64_t)atomic_load(&server->memory.bodies)},
			  {"judging", NULL,
			   (int64_t)atomic_load(&server->memory.work)},
		  },
		  2);
}

/* Reserves `more` bytes for a body of the total size `size`. Returns false,
 * counted and logged, if the memory for bodies of this size is in use. */
static bool server_memory_body(struct server *server, size_t more, size_t size)
{
	struct server_memory *memory = &server->memory;

	if (reserve_bytes(&memory->bodies, more,
			  size <= LARGE_OVER ? memory->bodies_max
					     : memory->large_max))
		return true;
	say_refused(server);
	return false;
}

static void server_memory_body_end(struct server *server, size_t size)
{
	atomic_fetch_sub(&server->memory.bodies, size);
}

bool server_memory_judge(struct server *server, size_t len)
{
	return reserve_bytes(&server->memory.work, work_size(len),
			     server->memory.work_max);
}

void server_memory_judge_end(struct server *server, size_t len)
{
	atomic_fetch_sub(&server->memory.work, work_size(len));
}

/*
 * Stores the body of a request. Its buffer grows with the received bytes, never
 * with the announced size, so that a thousand clients that announce 7 MiB and
 * send nothing use no memory.
 */

enum { FIRST_SIZE = 8 << 10 };

static int reserve(struct peer *peer, size_t size)
{
	size_t more = size - peer->body.size;
	char *data;

	if (!server_memory_body(peer->server, more, size))
		return -1;
	data = realloc(peer->body.data, size);
	if (!data) {
		server_memory_body_end(peer->server, more);
		return -1;
	}
	peer->body.data = data;
	peer->body.size = size;
	return 0;
}

int server_body_add(struct peer *peer, const char *data, size_t len)
{
	struct body *body = &peer->body;
	size_t size = body->size ? body->size : FIRST_SIZE;

	while (size < body->len + len)
		size *= 2;
	if (size > peer->expected)
		size = peer->expected;
	if (body->len + len > size ||
	    (size > body->size && reserve(peer, size) < 0))
		return -1;
	memcpy(body->data + body->len, data, len);
	body->len += len;
	return 0;
}

void server_body_release(struct peer *peer)
{
	if (!peer->body.data)
		return;
	free(peer->body.data);
	server_memory_body_end(peer->server, peer->body.size);
	memset(&peer->body, 0, sizeof(peer->body));
}
