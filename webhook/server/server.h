/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTPS server in front of admission, on libmicrohttpd with its GnuTLS:
 * POST /mutate and POST /validate, nothing else. Deadlines for handshake,
 * headers and body are enforced here (a table of connections, shutdown()),
 * because the library's timeout only counts silence. Every request is answered
 * as long as its client reads.
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
	/* Descriptors besides connections: files, sockets, epoll sets. */
	SERVER_SPARE_FDS = 128,
};

struct server;

struct server_options {
	const char *listen; /* ":8443", "127.0.0.1:0", "[::1]:8443" */
	unsigned threads;
	size_t max_body; /* bytes of one review */
	/* Bytes of all reviews at the same time; more are answered with 429 and
	 * Retry-After. The least value is server_memory_least(). */
	size_t max_memory;
	unsigned max_in_flight; /* more are answered with 429 and Retry-After */
	unsigned max_connections;
	unsigned handshake_seconds; /* TCP accept to the finished handshake */
	unsigned header_seconds;    /* first byte of a request to its headers */
	unsigned body_seconds;	    /* headers to the whole body */
	unsigned idle_seconds;	    /* between requests, >= 300 */
	struct client_ca *client_ca;	 /* NULL: anybody may send requests */
	const char *const *client_names; /* NULL-terminated; CN or SAN */
	struct key_store *keys;
	struct admission *admission;
	struct metrics *metrics;
	struct log *log;
};

/* Memory for one review of that size, and for the usual number of small
 * ones. */
size_t server_memory_least(size_t max_body);
/* Returns NULL and err if it cannot listen. Serves at once. */
struct server *server_start(const struct server_options *options,
			    struct err *err);
unsigned server_port(const struct server *server);
/* From now on each connection gets `Connection: close` with its next reply.
 * New connections are still served. */
void server_drain(struct server *server);
/* Number of open connections; number of requests without a complete reply. */
unsigned server_connections(const struct server *server);
unsigned server_in_flight(const struct server *server);
/* Cuts the remaining connections and frees the server. */
void server_stop(struct server *server);

/* -- probes: plain HTTP, GET /healthz, /livez, /readyz, /metrics --------- */

struct probe;
struct probe_options {
	const char *listen;
	struct metrics *metrics;
	/* NULL if ready, else the reason ("no policy is loaded"). */
	const char *(*not_ready)(void *context);
	/* Lines of /readyz?verbose before that; may be NULL. */
	void (*describe)(void *context, struct buf *out);
	void *context;
};
struct probe *probe_start(const struct probe_options *options, struct err *err);
unsigned probe_port(const struct probe *probe);
void probe_stop(struct probe *probe);

#endif
