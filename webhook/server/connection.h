/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines of connections, which libmicrohttpd does not have: its timeout
 * counts silence, and a client that sends one byte per second is never silent.
 *
 * Each connection records its phase; a watchdog checks all of them ten times a
 * second and shuts down the sockets of those that are late. Only shutdown(),
 * never close(): libmicrohttpd owns the descriptor. It closes it after
 * MHD_CONNECTION_NOTIFY_CLOSED, where connection_leave() takes the lock that
 * the watchdog holds while it works, so that a descriptor that was reused for
 * another connection is never shut down.
 *
 * The phase and its start are one atomic word: a connection changes its phase
 * without a lock, and the watchdog cuts only connections whose word has not
 * changed.
 */
#ifndef WEBHOOK_CONNECTION_H
#define WEBHOOK_CONNECTION_H

#include <stdatomic.h>
#include <stdint.h>

enum phase {
	PHASE_HANDSHAKE, /* accepted, before the end of the TLS handshake */
	PHASE_IDLE,	 /* no byte of the next request has arrived */
	PHASE_HEADER,
	PHASE_BODY,
	PHASE_REPLY, /* the reply is computed and sent */
	PHASE_SLOW, /* body or reply, longer than clients in the cluster need */
	PHASE_CUT,
	PHASES,
};

struct connection_table;

struct connection {
	struct connection_table *table;
	struct connection *next, **link; /* under its lock */
	int fd;
	atomic_uint_fast64_t state;
	atomic_bool served; /* has had a reply */
};

struct connection_limits {
	unsigned seconds[PHASES]; /* 0: no limit */
	unsigned max; /* close to this number, idle ones are closed */
	/* Called by the watchdog, under the lock; or NULL. */
	void (*cut)(void *context, enum phase phase);
	void *context;
};

/* Returns NULL if no thread can be created. */
struct connection_table *
connection_table_new(const struct connection_limits *limits);
/* Ends the watchdog; connections may leave after that. */
void connection_table_stop(struct connection_table *table);
void connection_table_free(struct connection_table *table);
unsigned connection_table_count(const struct connection_table *table);
/* Returns the number in PHASE_SLOW, which is due to the clients, not to
 * load. */
unsigned connection_table_slow(const struct connection_table *table);

void connection_enter(struct connection_table *table, struct connection *c,
		      int fd, enum phase phase);
void connection_leave(struct connection *c);

void connection_phase(struct connection *c, enum phase phase);
/* The first byte of the next request starts its time; later bytes do not. */
void connection_heard(struct connection *c);

#endif
