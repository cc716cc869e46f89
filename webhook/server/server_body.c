/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the body of a request. Its buffer grows with the received bytes, never
 * with the announced size, so that a thousand clients that announce 7 MiB and
 * send nothing use no memory.
 */
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>

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
