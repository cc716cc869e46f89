/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTPS server in front of admission (POST /mutate and POST /validate
 * only), and the plain HTTP server for probes and metrics, both on
 * libmicrohttpd. The HTTPS server uses GnuTLS and enforces deadlines for
 * handshake, headers and body itself (connection.h), because the library's
 * timeout only counts silence.
 */
#ifndef WEBHOOK_SERVER_H
#define WEBHOOK_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "webhook/admission/admission.h"
#include "webhook/tls/key_store.h"

enum {
	/* Descriptors in addition to connections: files, sockets, epoll
	 * sets. */
	SERVER_SPARE_FDS = 128,
};

struct server;

struct server_options {
	const char *listen; /* ":8443", "127.0.0.1:0", "[::1]:8443" */
	unsigned threads;
	size_t max_body; /* maximum bytes of one review */
	/* Maximum bytes of all reviews at a time; further reviews are answered
	 * with 429 and Retry-After. Must be at least server_memory_least(). */
	size_t max_memory;
	/* further reviews are answered with 429 and Retry-After */
	unsigned max_in_flight;
	unsigned max_connections;
	/* limit from TCP accept to the finished handshake */
	unsigned handshake_seconds;
	/* limit from the first byte of a request to its headers */
	unsigned header_seconds;
	/* limit from the headers to the whole body */
	unsigned body_seconds;
	/* limit between requests; API servers keep connections for 90 s */
	unsigned idle_seconds;
	/* NULL: client certificates are not required */
	struct client_ca *client_ca;
	/* NULL-terminated list of accepted CN or SAN; may be NULL */
	const char *const *client_names;
	struct key_store *keys;
	struct admission *admission;
	struct metrics *metrics;
	struct log *log;
};

/* Returns the least memory for reviews: the need of one review of that size,
 * and the share that is reserved for small ones. */
size_t server_memory_least(size_t max_body);
/* Starts a server, which serves at once. Returns NULL and sets err if it cannot
 * listen or start its threads. */
struct server *server_start(const struct server_options *options,
			    struct err *err);
unsigned server_port(const struct server *server);
/* Sends `Connection: close` with the next reply of each connection from now on.
 * New connections are still served. */
void server_drain(struct server *server);
/* Return the number of open connections, and of requests without a complete
 * reply. */
unsigned server_connections(const struct server *server);
unsigned server_in_flight(const struct server *server);
/* Cuts the remaining connections and frees the server. */
void server_stop(struct server *server);

/* -- probes: plain HTTP, GET /healthz, /livez, /readyz, /metrics --------- */

struct probe;
struct probe_options {
	const char *listen;
	struct metrics *metrics;
	/* Returns NULL if the server is ready, else the reason ("no policy is
	 * loaded"). */
	const char *(*not_ready)(void *context);
	/* Writes lines of /readyz?verbose that come before the result; may be
	 * NULL. */
	void (*describe)(void *context, struct buf *out);
	void *context;
};
struct probe *probe_start(const struct probe_options *options, struct err *err);
unsigned probe_port(const struct probe *probe);
void probe_stop(struct probe *probe);

#endif
