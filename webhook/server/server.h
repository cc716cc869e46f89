/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTPS server in front of admission, on libmicrohttpd with its GnuTLS:
 * POST /mutate and POST /validate, nothing else. Deadlines for handshake,
 * headers and body are our own (a table of connections, shutdown()), because
 * the library's timeout only counts silence. Every request is answered as long
 * as its client reads.
 */
#ifndef WEBHOOK_SERVER_H
#define WEBHOOK_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "webhook/admission/admission.h"
#include "webhook/tls/client_ca.h"
#include "webhook/tls/key_store.h"

enum {
	/* Descriptors beside connections: files, sockets, epoll sets. */
	SERVER_SPARE_FDS = 128,
};

struct server;

struct server_options {
	const char *listen; /* ":8443", "127.0.0.1:0", "[::1]:8443" */
	unsigned threads;
	size_t max_body; /* bytes of one review */
	/* Bytes of all reviews at once, beyond it: 429 with Retry-After. Less
	 * than server_memory_least() counts as that. */
	size_t max_memory;
	unsigned max_in_flight; /* beyond it: 429 with Retry-After */
	unsigned max_connections;
	unsigned handshake_seconds; /* TCP accept to a finished handshake */
	unsigned header_seconds;    /* first byte of a request to its headers */
	unsigned body_seconds;	    /* headers to the whole body */
	unsigned idle_seconds;	    /* between requests, >= 300 */
	struct client_ca *client_ca;	 /* loaded, or NULL: anybody may ask */
	const char *const *client_names; /* NULL-terminated; CN or SAN */
	struct key_store *keys;
	struct admission *admission;
	struct metrics *metrics;
	struct log *log;
};

/* For one review of that size, and as many small ones as there are. */
size_t server_memory_least(size_t max_body);
/* NULL and err when it cannot listen. Serves at once. */
struct server *server_start(const struct server_options *options,
			    struct err *err);
unsigned server_port(const struct server *server);
/* From now on each connection gets `Connection: close` with its next reply.
 * New connections are still served. */
void server_drain(struct server *server);
/* Connections that are open; requests whose reply is not yet sent. */
unsigned server_connections(const struct server *server);
unsigned server_in_flight(const struct server *server);
/* Cut what is left and free. */
void server_stop(struct server *server);

/* -- probes: plain HTTP, GET /healthz, /livez, /readyz, /metrics --------- */

struct probe;
struct probe_options {
	const char *listen;
	struct metrics *metrics;
	/* NULL when ready, else the reason ("no policy is loaded"). */
	const char *(*not_ready)(void *context);
	/* Lines of /readyz?verbose before that; may be NULL. */
	void (*describe)(void *context, struct buf *out);
	void *context;
};
struct probe *probe_start(const struct probe_options *options, struct err *err);
unsigned probe_port(const struct probe *probe);
void probe_stop(struct probe *probe);

#endif
