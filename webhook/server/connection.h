/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening sockets, and deadlines of connections. libmicrohttpd has only a
 * timeout for silence, and a client that sends one byte per second is never
 * silent.
 *
 * Each connection records its phase; a watchdog thread checks all connections
 * ten times a second and shuts down the sockets of those that are late. It
 * calls only shutdown(), never close(), because libmicrohttpd owns the
 * descriptor. libmicrohttpd closes the descriptor after
 * MHD_CONNECTION_NOTIFY_CLOSED, where connection_leave() takes the lock that
 * the watchdog holds while it works; so a descriptor that was reused for
 * another connection is never shut down.
 *
 * The phase and its start are one atomic word: a connection changes its phase
 * without a lock, and the watchdog cuts a connection only if its word has not
 * changed.
 */
#ifndef WEBHOOK_CONNECTION_H
#define WEBHOOK_CONNECTION_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"

enum phase {
	PHASE_HANDSHAKE, /* accepted; the TLS handshake is not finished */
	PHASE_IDLE,	 /* no byte of the next request has arrived */
	PHASE_HEADER,
	PHASE_BODY,
	PHASE_REPLY, /* the reply is computed or sent */
	/* body or reply takes longer than clients in the cluster need */
	PHASE_SLOW,
	PHASE_CUT,
	PHASES,
};

struct connection_table;

struct connection {
	struct connection_table *table;
	/* protected by the lock of the table */
	struct connection *next, **link;
	int fd;
	atomic_uint_fast64_t state;
	atomic_bool served; /* has had a reply */
};

struct connection_limits {
	unsigned seconds[PHASES]; /* time limit of each phase (0: unlimited) */
	/* near this number of connections, idle ones are closed */
	unsigned max;
	/* Called by the watchdog under the lock; may be NULL. */
	void (*cut)(void *context, enum phase phase);
	void *context;
};

/* Creates the table and its watchdog. Returns NULL if no thread can be
 * created. */
struct connection_table *
connection_table_new(const struct connection_limits *limits);
/* Ends the watchdog; connections may still call connection_leave() after
 * that. */
void connection_table_stop(struct connection_table *table);
void connection_table_free(struct connection_table *table);
unsigned connection_table_count(const struct connection_table *table);
/* Returns the number of connections in PHASE_SLOW: slow because of their
 * clients, not because of load. */
unsigned connection_table_slow(const struct connection_table *table);

/* Adds a connection to the table. The caller owns c, which must stay in place
 * until connection_leave(). */
void connection_enter(struct connection_table *table, struct connection *c,
		      int fd, enum phase phase);
void connection_leave(struct connection *c);

/* Begins a phase now. */
void connection_phase(struct connection *c, enum phase phase);
/* Notes received bytes. The first byte of a request starts its time limit;
 * later bytes do not. */
void connection_heard(struct connection *c);

/* Opens listening sockets: ":8443", "127.0.0.1:0", "[::1]:8443". */

/* Returns the descriptor of the socket, or -1. An empty host means all
 * addresses, IPv6 and IPv4. */
int server_listen(const char *address, struct err *err);
unsigned server_listen_port(int fd);

#endif
