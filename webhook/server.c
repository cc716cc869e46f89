/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: a libmicrohttpd daemon with a pool of threads, each with its
 * own epoll set and its own door_worker, around one listening socket.
 *
 * The memory pool of a connection holds its headers and the piece of the
 * body at hand; it is small because a thousand connections have one each.
 */
#include "server_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server_listen.h"

enum {
	POOL_BYTES = 8 << 10,
	STACK_BYTES = 1 << 20,
	/* Descriptors beside connections: files, sockets, epoll sets. */
	SPARE_FDS = 128,
};

/* --- what libmicrohttpd calls --------------------------------------------- */

struct peer *server_peer(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection,
				       MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

struct pool_thread *server_thread(struct server *server)
{
	struct pool_thread *mine = pthread_getspecific(server->thread);

	if (mine)
		return mine;
	mine = calloc(1, sizeof(*mine));
	if (!mine || pthread_setspecific(server->thread, mine))
		BUG("out of memory");
	mine->worker = door_worker_new(server->options.door);
	return mine;
}

static void count_connections(struct server *server)
{
	metrics_set(server->options.metrics, METRICS_CONNECTIONS,
		    connection_table_count(server->table));
}

static void opened(struct server *server, struct MHD_Connection *connection,
		   void **context)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		BUG("out of memory");
	peer->server = server;
	*context = peer;
	connection_enter(server->table, &peer->connection, info->connect_fd,
			 PHASE_HANDSHAKE);
	server_tls_attach(peer, connection);
}

static void closed(struct server *server, void **context)
{
	struct peer *peer = *context;

	connection_leave(&peer->connection);
	server_wire_detach(peer);
	key_pair_drop(peer->pair);
	free(peer);
	*context = NULL;
}

static void notify(void *cls, struct MHD_Connection *connection, void **context,
		   enum MHD_ConnectionNotificationCode code)
{
	struct server *server = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		opened(server, connection, context);
	else if (*context)
		closed(server, context);
	count_connections(server);
}

__attribute__((format(printf, 2, 0))) static void
say(void *cls, const char *fmt, va_list ap)
{
	const struct server *server = cls;
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\r\n")] = '\0';
	log_say(server->options.log, LOG_DEBUG, "libmicrohttpd: %s", text);
}

/* Inside of libmicrohttpd nothing can be trusted any more. */
static void panic(void *cls, const char *file, unsigned line,
		  const char *reason)
{
	bug_at(file, (int)line, "libmicrohttpd: %s", reason ? reason : "?");
}

static void thread_end(void *thread)
{
	struct pool_thread *mine = thread;

	door_worker_free(mine->worker);
	free(mine);
}

static void on_cut(void *context, enum phase phase)
{
	static const enum metrics_counter counters[PHASES] = {
		[PHASE_HANDSHAKE] = METRICS_TIMEOUTS_HANDSHAKE,
		[PHASE_HEADER] = METRICS_TIMEOUTS_HEADER,
		[PHASE_BODY] = METRICS_TIMEOUTS_BODY,
		[PHASE_REPLY] = METRICS_TIMEOUTS_BODY,
		[PHASE_SLOW] = METRICS_TIMEOUTS_BODY,
	};
	const struct server *server = context;

	if (phase == PHASE_IDLE)
		return;
	metrics_add(server->options.metrics, counters[phase], 1);
}

/* --- start ---------------------------------------------------------------- */

static struct connection_table *make_table(struct server *server)
{
	const struct server_options *o = &server->options;
	const struct connection_limits limits = {
		.seconds = {[PHASE_HANDSHAKE] = o->handshake_seconds,
			    [PHASE_HEADER] = o->header_seconds,
			    [PHASE_BODY] = o->body_seconds,
			    [PHASE_REPLY] = o->body_seconds,
			    [PHASE_SLOW] = o->body_seconds},
		.max = o->max_connections,
		.cut = on_cut,
		.context = server,
	};

	return connection_table_new(&limits);
}

static struct MHD_Daemon *start_daemon(struct server *server, int fd)
{
	const struct server_options *o = &server->options;
	const unsigned flags = MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD |
			       MHD_USE_TLS | MHD_USE_ITC | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem items[] = {
		{MHD_OPTION_LISTEN_SOCKET, fd, NULL},
		{MHD_OPTION_THREAD_POOL_SIZE, o->threads > 1 ? o->threads : 0,
		 NULL},
		{MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, o->max_connections, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, POOL_BYTES, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, o->idle_seconds, NULL},
		{MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)notify, server},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)server_request_end,
		 server},
		{MHD_OPTION_HTTPS_PRIORITIES, 0,
		 (void *)(uintptr_t)server_priorities},
		{MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
		 (void *)(uintptr_t)server_choose_certificate},
		{MHD_OPTION_END, 0, NULL},
	};

	return MHD_start_daemon(flags, 0, NULL, NULL, server_request, server,
				MHD_OPTION_EXTERNAL_LOGGER, say, server,
				MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

static int start(struct server *server, struct err *err)
{
	int fd = server_listen(server->options.listen, err);

	if (fd < 0)
		return -1;
	server->port = server_listen_port(fd);
	server->table = make_table(server);
	if (server->table)
		server->daemon = start_daemon(server, fd);
	if (server->daemon)
		return 0;
	close(fd);
	return err_set(err, 0, "cannot start the server on '%s'",
		       server->options.listen);
}

static void release(struct server *server)
{
	if (server->table)
		connection_table_free(server->table);
	pthread_key_delete(server->thread);
	free(server);
}

/* Connections that have no descriptor would wait for one unseen, behind idle
 * ones that the table believes there is room for; and probes and files that
 * are read anew would have none either. */
static unsigned fit_descriptors(unsigned wanted)
{
	struct rlimit limit;
	rlim_t spare = SPARE_FDS, most;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return wanted;
	if (limit.rlim_cur < 2 * spare)
		spare = limit.rlim_cur / 2;
	most = limit.rlim_cur - spare;
	return most < wanted ? (unsigned)most : wanted;
}

struct server *server_start(const struct server_options *options,
			    struct err *err)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server || pthread_key_create(&server->thread, thread_end))
		BUG("out of memory");
	server->options = *options;
	server->options.max_connections =
		fit_descriptors(options->max_connections);
	MHD_set_panic_func(panic, NULL);
	if (start(server, err) == 0)
		return server;
	if (server->table)
		connection_table_stop(server->table);
	release(server);
	return NULL;
}

/* --- the rest of its life ------------------------------------------------- */

unsigned server_port(const struct server *server)
{
	return server->port;
}

void server_drain(struct server *server)
{
	atomic_store(&server->draining, true);
}

unsigned server_connections(const struct server *server)
{
	return connection_table_count(server->table);
}

unsigned server_in_flight(const struct server *server)
{
	return atomic_load(&server->in_flight);
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	connection_table_stop(server->table);
	MHD_stop_daemon(server->daemon);
	release(server);
}
