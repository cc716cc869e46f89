/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the parts of the server share.
 *
 *	server.c          start, drain, stop; the threads that answer
 *	connection.c      sockets, and deadlines of connections
 *	server_wire.c     start and end of connections, TLS, the bytes below TLS
 *	server_client.c   checks of client certificates
 *	server_memory.c   memory limit of all requests; the bytes of a review
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
	LARGE_OVER = 64 << 10, /* bytes; a body that is longer is large */
};

/* Bytes in use, and the limits for them. */
struct server_memory {
	atomic_size_t bodies, work;
	size_t bodies_max, large_max, work_max;
	_Atomic int64_t say_at; /* monotonic seconds of the next log line */
};

/* Large reviews that wait, and the threads that check them. */
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

/* A reply that is an HTTP error instead of an AdmissionReview. */
struct refusal {
	unsigned status;
	const char *text;
	bool close; /* close at once, without reading the whole body */
};

/* State of one thread of the pool. */
struct server_thread {
	struct server *server;
	struct MHD_Daemon *daemon;
	pthread_t id;
	bool runs;
	int epoll_fd; /* descriptor of the daemon */
	/* raised when a connection is resumed */
	int wake_fd;
	unsigned shaking;		 /* number of unfinished handshakes */
	uint64_t moves;			 /* counts progress of any kind */
	struct admission_worker *worker; /* NULL before the first review */
	/* Buffer for bytes that were read ahead, of one connection at a
	 * time. */
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
	bool agreed;	       /* TLS is established */
	struct key_pair *pair; /* NULL before a handshake needs it */

	/* State of server_wire.c. */
	char *kept; /* bytes read ahead, moved out of the thread's buffer */
	size_t kept_at, kept_end;
	bool broken;  /* memory ran out for bytes read ahead */
	bool holding; /* the record of the headers waits for that of the body */
	unsigned held;
	char hold[HOLD_MAX];

	/* State of server_client.c. */
	const struct refusal *verdict;
	time_t verdict_since, verdict_until; /* 0: no result yet */
	unsigned verdict_generation;	     /* generation of the client CA */

	/* State of the current request. */
	bool counted; /* included in the number of requests in flight */
	enum admission_path path;
	const struct refusal *refusal;
	size_t expected; /* value of Content-Length */
	struct body body;
	struct MHD_Response *response; /* complete, but not yet sent */
	unsigned status;

	/* State of server_large.c. */
	struct peer *next;
	struct MHD_Connection *suspended;
	int64_t since; /* time from monotonic_ms() */
};

static inline struct peer *server_peer(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection,
				       MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

/* -- server.c -------------------------------------------------------------- */

/* Resumes a connection from another thread; the connection may be freed when
 * this returns. */
void server_thread_resume(struct server_thread *thread,
			  struct MHD_Connection *connection);

/* -- server_wire.c --------------------------------------------------------- */

/* An MHD_NotifyConnectionCallback; cls is the thread, in all callbacks here. */
void server_connection(void *cls, struct MHD_Connection *connection,
		       void **context,
		       enum MHD_ConnectionNotificationCode code);

/* Announces a reply with a body: the headers are sent together with the
 * body. */
void server_wire_hold(struct peer *peer);
/* Ends the request, so that held bytes are sent. */
void server_wire_release(struct peer *peer);

extern const char *const server_priorities;

/* Chooses the certificate, as callback of
 * gnutls_certificate_set_retrieve_function2(). */
int server_choose_certificate(gnutls_session_t session,
			      const gnutls_datum_t *ca_names, int ncas,
			      const gnutls_pk_algorithm_t *algorithms,
			      int nalgorithms, gnutls_pcert_st **certs,
			      unsigned *ncerts, gnutls_privkey_t *key);

/* -- server_client.c ------------------------------------------------------- */

/* Returns NULL if the client is allowed. */
const struct refusal *server_check_client(struct peer *peer,
					  struct MHD_Connection *connection);

/* -- server_memory.c ------------------------------------------------------- */

/* Sets the limit to bytes, but at least to server_memory_least(max_body). */
void server_memory_init(struct server_memory *memory, size_t bytes,
			size_t max_body);
/* Reserves memory for checking a large body. Returns false if other reviews use
 * it now. */
bool server_memory_judge(struct server *server, size_t len);
void server_memory_judge_end(struct server *server, size_t len);

/* Adds bytes to the body. Returns -1 if the memory for bodies is in use, or the
 * body would become longer than announced. */
int server_body_add(struct peer *peer, const char *data, size_t len);
void server_body_release(struct peer *peer);

/* -- server_request.c ------------------------------------------------------ */

/* Handles a request, as MHD_AccessHandlerCallback. */
enum MHD_Result server_request(void *cls, struct MHD_Connection *connection,
			       const char *url, const char *method,
			       const char *version, const char *upload,
			       size_t *upload_len, void **context);
/* Ends a request, as MHD_RequestCompletedCallback. */
void server_request_end(void *cls, struct MHD_Connection *connection,
			void **context, enum MHD_RequestTerminationCode reason);
/* Checks a large review: sets the response, or the refusal. */
void server_judge_large(struct peer *peer);

/* -- server_large.c -------------------------------------------------------- */

/* Starts the threads. On -1, server_large_stop() must be called as well. */
int server_large_start(struct server *server, unsigned threads);
/* Ends the threads. Must be called after the other threads have ended, and
 * before their daemons are stopped. */
void server_large_stop(struct server *server);
/* Suspends the connection until its body is checked. */
void server_large_add(struct peer *peer, struct MHD_Connection *connection);

#endif
