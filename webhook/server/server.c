/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, drains and stops the server. */
#include "server_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server_listen.h"

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
