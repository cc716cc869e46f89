/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, drains and stops the server and its threads. */
#include "server_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"

/*
 * Threads that answer requests. Each has a libmicrohttpd daemon for the shared
 * listening socket, an epoll set and an admission_worker.
 *
 * libmicrohttpd has a pool of threads too, but version 0.9.75 does not notice
 * that a handshake found no data to read, and retries at once: a client that
 * sends three bytes and waits would use a whole processor until its deadline.
 * Therefore gpugated runs its own loop. After a round without progress, and
 * while there are handshakes, the thread waits for an event even if the library
 * asks to be called at once. It waits only briefly, because progress may be
 * possible without an event. In such a loop the library does not notice that
 * another thread has resumed a connection. That thread therefore raises an
 * event of gpugated.
 */

enum {
	/* Memory of each connection, for headers and the current piece of the
	 * body. */
	POOL_BYTES = 8 << 10,
	STACK_BYTES = 1 << 20,
	ROUND_MS = 1000,
	STALL_MS = 2,
};

/* --- one thread ----------------------------------------------------------- */

static void wait_for_events(struct server_thread *thread, bool moved)
{
	struct pollfd events[] = {{.fd = thread->epoll_fd, .events = POLLIN},
				  {.fd = thread->wake_fd, .events = POLLIN}};
	int wait = ROUND_MS;
	MHD_UNSIGNED_LONG_LONG left;
	eventfd_t n;

	if (MHD_get_timeout(thread->daemon, &left) == MHD_YES && !left) {
		if (moved || !thread->shaking)
			return;
		/* During a handshake the daemon may be due at once although
		 * nothing can proceed, so wait a moment. */
		wait = STALL_MS;
	}
	poll(events, 2, wait);
	if (events[1].revents)
		eventfd_read(thread->wake_fd, &n);
}

static void *run(void *arg)
{
	struct server_thread *thread = arg;

	while (!atomic_load(&thread->server->stopping)) {
		uint64_t before = thread->moves;

		if (MHD_run_wait(thread->daemon, 0) != MHD_YES)
			poll(NULL, 0, STALL_MS);
		wait_for_events(thread, thread->moves != before);
	}
	return NULL;
}

void server_thread_resume(struct server_thread *thread,
			  struct MHD_Connection *connection)
{
	MHD_resume_connection(connection);
	eventfd_write(thread->wake_fd, 1);
}

static int start_one(struct server_thread *thread)
{
	pthread_attr_t attributes;
	int code;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	code = pthread_create(&thread->id, &attributes, run, thread);
	pthread_attr_destroy(&attributes);
	if (code)
		return -1;
	thread->runs = true;
	pthread_setname_np(thread->id, "reviews");
	return 0;
}

/* --- daemons -------------------------------------------------------------- */

__attribute__((format(printf, 2, 0))) static void
say(void *cls, const char *fmt, va_list ap)
{
	const struct server *server = cls;
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\r\n")] = '\0';
	log_say(server->options.log, LOG_DEBUG, "libmicrohttpd: %s", text);
}

/* Keeps the path undecoded: an API server escapes no character of these paths,
 * and text behind an escaped NUL would be hidden. */
static size_t keep_path(void *cls, struct MHD_Connection *connection,
			char *text)
{
	return strlen(text);
}

/* Creates a daemon, which closes the descriptor when it stops. */
static struct MHD_Daemon *make_daemon(struct server_thread *thread, int fd,
				      unsigned connections)
{
	const struct server_options *o = &thread->server->options;
	const unsigned flags = MHD_USE_EPOLL | MHD_USE_TLS | MHD_USE_ERROR_LOG |
			       MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem items[] = {
		{MHD_OPTION_LISTEN_SOCKET, fd, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, connections, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, POOL_BYTES, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, o->idle_seconds, NULL},
		{MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
		{MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)keep_path, NULL},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)server_connection,
		 thread},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)server_request_end,
		 thread},
		{MHD_OPTION_HTTPS_PRIORITIES, 0,
		 (void *)(uintptr_t)server_priorities},
		{MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
		 (void *)(uintptr_t)server_choose_certificate},
		{MHD_OPTION_END, 0, NULL},
	};

	return MHD_start_daemon(flags, 0, NULL, NULL, server_request, thread,
				MHD_OPTION_EXTERNAL_LOGGER, say, thread->server,
				MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

static int make_one(struct server *server, int listener, unsigned connections)
{
	struct server_thread *thread = calloc(1, sizeof(*thread));
	int fd = fcntl(listener, F_DUPFD_CLOEXEC, 0);

	if (!thread)
		OUT_OF_MEMORY();
	thread->server = server;
	thread->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd >= 0 && thread->wake_fd >= 0)
		thread->daemon = make_daemon(thread, fd, connections);
	if (!thread->daemon) {
		if (fd >= 0)
			close(fd);
		if (thread->wake_fd >= 0)
			close(thread->wake_fd);
		free(thread);
		return -1;
	}
	thread->epoll_fd =
		MHD_get_daemon_info(thread->daemon, MHD_DAEMON_INFO_EPOLL_FD)
			->epoll_fd;
	server->threads[server->nthreads++] = thread;
	return 0;
}

/* --- all of them ---------------------------------------------------------- */

/* Starts the threads. Takes over the listening socket, on -1 too; on -1
 * server_threads_stop() must be called as well. */
static int server_threads_start(struct server *server, int listener)
{
	unsigned n = server->options.threads ? server->options.threads : 1;
	unsigned all = server->options.max_connections;

	server->listener = listener;
	server->threads = calloc(n, sizeof(struct server_thread *));
	if (!server->threads)
		OUT_OF_MEMORY();
	if (server_large_start(server, n) < 0)
		return -1;
	for (unsigned i = 0; i < n; i++)
		if (make_one(server, listener, (all + n - 1) / n) < 0)
			return -1;
	for (unsigned i = 0; i < n; i++)
		if (start_one(server->threads[i]) < 0)
			return -1;
	return 0;
}

/* Ends the threads and cuts the remaining connections. */
static void server_threads_stop(struct server *server)
{
	atomic_store(&server->stopping, true);
	/* Every thread waits for events of this socket, and wakes up now. */
	shutdown(server->listener, SHUT_RDWR);
	for (unsigned i = 0; i < server->nthreads; i++)
		if (server->threads[i]->runs)
			pthread_join(server->threads[i]->id, NULL);
	server_large_stop(server);
	for (unsigned i = 0; i < server->nthreads; i++) {
		struct server_thread *thread = server->threads[i];

		MHD_stop_daemon(thread->daemon);
		admission_worker_free(thread->worker);
		close(thread->wake_fd);
		free(thread);
	}
	free(server->threads);
	server->threads = NULL;
	server->nthreads = 0;
	close(server->listener);
}

/* --- callbacks ------------------------------------------------------------ */

/* Ends the process after a failure inside of libmicrohttpd, whose state may be
 * wrong. */
static void panic(void *cls, const char *file, unsigned line,
		  const char *reason)
{
	bug_at(file, (int)line, "libmicrohttpd: %s", reason ? reason : "?");
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

static int start(struct server *server, int fd, struct err *err)
{
	server->port = server_listen_port(fd);
	server->table = make_table(server);
	if (!server->table)
		close(fd);
	else if (!server_threads_start(server, fd))
		return 0;
	return err_set(err, 0, "cannot start the server on '%s'",
		       server->options.listen);
}

/* Limits the number of connections to the available descriptors. Otherwise
 * connections without a descriptor would wait behind idle ones although the
 * table has room, and probes and files that are read again would have no
 * descriptor either. */
static unsigned fit_descriptors(unsigned wanted)
{
	struct rlimit limit;
	rlim_t spare = SERVER_SPARE_FDS, most;

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
	int fd = server_listen(options->listen, err);
	struct server *server;

	if (fd < 0)
		return NULL;
	server = calloc(1, sizeof(*server));
	if (!server)
		OUT_OF_MEMORY();
	server->options = *options;
	server->options.max_connections =
		fit_descriptors(options->max_connections);
	server_memory_init(&server->memory, options->max_memory,
			   options->max_body);
	MHD_set_panic_func(panic, NULL);
	if (start(server, fd, err) == 0)
		return server;
	server_stop(server);
	return NULL;
}

/* --- after the start ------------------------------------------------------ */

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
	if (server->table) {
		connection_table_stop(server->table);
		server_threads_stop(server);
		connection_table_free(server->table);
	}
	free(server);
}
