/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the parts of the server share.
 *
 *	server.c          start, drain, stop
 *	server_thread.c   the threads that answer
 *	server_peer.c     start and end of connections
 *	server_listen.c   sockets
 *	server_tls.c      TLS parameters and handshake
 *	server_wire.c     the bytes below TLS
 *	server_client.c   checks of client certificates
 *	server_body.c     the bytes of a review
 *	server_memory.c   memory limit of all requests
 *	server_request.c  from the headers to the reply
 *	server_large.c    large reviews
 *
 * A struct peer is one connection. It belongs to the thread of the pool that
 * serves the connection, except for struct connection.
 */
#ifndef WEBHOOK_SERVER_INTERNAL_H
#define WEBHOOK_SERVER_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "connection.h"
#include "server.h"
#include "webhook/observe/monotonic.h"

enum {
	HOLD_MAX = 512,
	LARGE_OVER = 64 << 10, /* bytes of a body */
};

/* Bytes in use, and their limit. */
struct server_memory {
	atomic_size_t bodies, work;
	size_t bodies_max, large_max, work_max;
	_Atomic int64_t say_at; /* monotonic seconds of the next log line */
};

/* Reviews that wait, and the threads that check them. */
struct server_large {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct peer *first, **last;
	pthread_t *threads;
	unsigned nthreads;
	bool stopping;
};

struct server {
	struct server_options options;
	struct connection_table *table;
	struct server_thread **threads;
	unsigned nthreads;
	int listener;
	unsigned port;
	atomic_bool stopping;
	atomic_bool draining;
	atomic_uint in_flight;
	struct server_memory memory;
	struct server_large large;
};

/* A reply that is not an AdmissionReview. */
struct refusal {
	unsigned status;
	const char *text;
	bool close; /* close at once, else after reading the whole body */
};

/* State of one thread of the pool. */
struct server_thread {
	struct server *server;
	struct MHD_Daemon *daemon;
	pthread_t id;
	bool runs;
	int epoll_fd;			 /* the daemon's */
	int wake_fd;			 /* a connection is resumed */
	unsigned shaking;		 /* unfinished handshakes */
	uint64_t moves;			 /* counts progress of any kind */
	struct admission_worker *worker; /* NULL until the first review */
	/* Bytes read ahead, for one connection at a time. */
	struct peer *owner;
	size_t at, end;
	char ahead[8 << 10];
};

struct body {
	char *data;
	size_t len, size;
};

struct peer {
	struct connection connection;
	struct server *server;
	struct server_thread *thread;
	bool agreed;	       /* upon TLS */
	struct key_pair *pair; /* NULL until a handshake needs it */

	/* server_wire.c */
	char *kept; /* bytes read ahead, moved out of the thread's buffer */
	size_t kept_at, kept_end;
	bool broken;  /* no memory to keep them */
	bool holding; /* the record of the headers waits for that of the body */
	unsigned held;
	char hold[HOLD_MAX];

	/* server_client.c */
	const struct refusal *verdict;
	time_t verdict_since, verdict_until; /* 0: no result yet */
	unsigned verdict_generation;	     /* of the client CA */

	/* State of the current request. */
	bool counted; /* among those in flight */
	enum admission_path path;
	const struct refusal *refusal;
	size_t expected; /* Content-Length */
	struct body body;
	struct MHD_Response *response; /* ready, but not yet sent */
	unsigned status;

	/* server_large.c */
	struct peer *next;
	struct MHD_Connection *suspended;
	int64_t since; /* monotonic_ms() */
};

static inline struct peer *server_peer(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection,
				       MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

/* -- server_peer.c --------------------------------------------------------- */

/* An MHD_NotifyConnectionCallback; cls is the thread, here and below. */
void server_connection(void *cls, struct MHD_Connection *connection,
		       void **context,
		       enum MHD_ConnectionNotificationCode code);

/* -- server_thread.c ------------------------------------------------------- */

/* Takes over the listening socket, on -1 too: the thread must then still be
 * stopped. */
int server_threads_start(struct server *server, int listener);
/* Cuts what is left. */
void server_threads_stop(struct server *server);
/* Called from another thread; the connection may be gone afterwards. */
void server_thread_resume(struct server_thread *thread,
			  struct MHD_Connection *connection);

/* -- server_wire.c --------------------------------------------------------- */

/* Makes the session's bytes go through the peer from now on. */
void server_wire_attach(struct peer *peer, gnutls_session_t session);
void server_wire_detach(struct peer *peer);
/* Announces a reply with a body: its headers are sent together with it. */
void server_wire_hold(struct peer *peer);
/* Ends the request. */
void server_wire_release(struct peer *peer);

/* -- server_tls.c ---------------------------------------------------------- */

extern const char *const server_priorities;

/* For gnutls_certificate_retrieve_function2. */
int server_choose_certificate(gnutls_session_t session,
			      const gnutls_datum_t *ca_names, int ncas,
			      const gnutls_pk_algorithm_t *algorithms,
			      int nalgorithms, gnutls_pcert_st **certs,
			      unsigned *ncerts, gnutls_privkey_t *key);
/* Must be called before the handshake. */
void server_tls_attach(struct peer *peer, struct MHD_Connection *connection);

/* -- server_client.c ------------------------------------------------------- */

/* NULL: it may ask. */
const struct refusal *server_check_client(struct peer *peer,
					  struct MHD_Connection *connection);

/* -- server_memory.c ------------------------------------------------------- */

/* bytes: at least server_memory_least(max_body) are used. */
void server_memory_init(struct server_memory *memory, size_t bytes,
			size_t max_body);
/* Reserves memory for a body of this total size. Returns false, counted and
 * logged, if it is in use. */
bool server_memory_body(struct server *server, size_t more, size_t size);
void server_memory_body_end(struct server *server, size_t size);
/* Reserves memory for checking a large body. Returns false if others use it
 * now. */
bool server_memory_judge(struct server *server, size_t len);
void server_memory_judge_end(struct server *server, size_t len);

/* -- server_body.c --------------------------------------------------------- */

/* Returns -1 if the memory for all bodies is in use. */
int server_body_add(struct peer *peer, const char *data, size_t len);
void server_body_release(struct peer *peer);

/* -- server_request.c ------------------------------------------------------ */

/* An MHD_AccessHandlerCallback. */
enum MHD_Result server_request(void *cls, struct MHD_Connection *connection,
			       const char *url, const char *method,
			       const char *version, const char *upload,
			       size_t *upload_len, void **context);
/* An MHD_RequestCompletedCallback. */
void server_request_end(void *cls, struct MHD_Connection *connection,
			void **context, enum MHD_RequestTerminationCode reason);
/* Makes the response to a large review, or sets the refusal. */
void server_judge_large(struct peer *peer);

/* -- server_large.c -------------------------------------------------------- */

/* On -1, too, it must be stopped. */
int server_large_start(struct server *server, unsigned threads);
/* Called after the other threads have ended, and before their daemons. */
void server_large_stop(struct server *server);
/* Suspends the connection until its body is checked. */
void server_large_add(struct peer *peer, struct MHD_Connection *connection);

#endif
