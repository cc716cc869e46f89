/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A body grows with the bytes received, never with the bytes announced: a
 * thousand clients that announce 7 MiB and send nothing use no memory. The
 * total of all bodies is bounded. Only small bodies may use its last quarter,
 * so that a few large ones that arrive slowly do not lock out ordinary ones.
 */
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST_SIZE = 8 << 10,
	SMALL_SIZE = 64 << 10,
	BODIES_MIN = 32 << 20,
	BODIES_MAX = 4, /* of the largest */
};

static size_t bytes_allowed(const struct server *server, size_t size)
{
	size_t all = server->options.max_body * BODIES_MAX;

	if (all < BODIES_MIN)
		all = BODIES_MIN;
	return size <= SMALL_SIZE ? all : all - all / 4;
}

static int reserve(struct peer *peer, size_t size)
{
	struct server *server = peer->server;
	size_t more = size - peer->body.size;
	char *data;

	if (atomic_fetch_add(&server->body_bytes, more) + more >
	    bytes_allowed(server, size))
		goto refuse;
	data = realloc(peer->body.data, size);
	if (!data)
		goto refuse;
	peer->body.data = data;
	peer->body.size = size;
	return 0;
refuse:
	atomic_fetch_sub(&server->body_bytes, more);
	return -1;
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
	atomic_fetch_sub(&peer->server->body_bytes, peer->body.size);
	memset(&peer->body, 0, sizeof(peer->body));
}
