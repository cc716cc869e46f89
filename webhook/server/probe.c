/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers probes and metrics over plain HTTP on a separate thread, also while
 * all other threads are busy. A connection serves one request and lasts at most
 * 10 seconds, and one address may hold only a few connections, so that a client
 * cannot lock out the kubelet.
 */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "connection.h"
#include "server.h"

enum {
	POOL_BYTES = 8 << 10,
	STACK_BYTES = 256 << 10,
	CONNECTIONS = 256,
	CONNECTIONS_PER_ADDRESS = 32,
	SECONDS = 10,
};

struct probe {
	struct probe_options options;
	struct MHD_Daemon *daemon;
	struct connection_table *table;
	unsigned port;
};

/* --- pages ---------------------------------------------------------------- */

static const char *not_ready(const struct probe *probe)
{
	return probe->options.not_ready
		       ? probe->options.not_ready(probe->options.context)
		       : NULL;
}

static void write_figures(const struct probe *probe, struct buf *out)
{
	static const char name[] = "gpugate_ready";

	metrics_write(probe->options.metrics, out);
	buf_addf(out, "# HELP %s Whether /readyz succeeds.\n", name);
	buf_addf(out, "# TYPE %s gauge\n%s %d\n", name, name,
		 !not_ready(probe));
}

static unsigned write_ready(const struct probe *probe, bool verbose,
			    struct buf *out)
{
	const char *reason = not_ready(probe);

	if (verbose && probe->options.describe)
		probe->options.describe(probe->options.context, out);
	buf_addf(out, "%s\n", reason ? reason : "ok");
	return reason ? 503 : 200;
}

static unsigned write_page(const struct probe *probe, const char *url,
			   bool verbose, struct buf *out)
{
	if (!strcmp(url, "/healthz") || !strcmp(url, "/livez")) {
		buf_adds(out, "ok\n");
		return 200;
	}
	if (!strcmp(url, "/readyz"))
		return write_ready(probe, verbose, out);
	if (!strcmp(url, "/metrics")) {
		write_figures(probe, out);
		return 200;
	}
	buf_adds(
		out,
		"not found: there are /healthz, /livez, /readyz and /metrics\n");
	return 404;
}

static bool is_read(const char *method)
{
	return !strcmp(method, MHD_HTTP_METHOD_GET) ||
	       !strcmp(method, MHD_HTTP_METHOD_HEAD);
}

/* Returns true if the query has `verbose`, with or without a value. */
static bool is_verbose(struct MHD_Connection *connection)
{
	static const char key[] = "verbose";

	return MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND,
					     key, sizeof(key) - 1, NULL,
					     NULL) == MHD_YES;
}

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status,
			     const struct buf *page)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		page->len, page->data, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; version=0.0.4; charset=utf-8");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == 405)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					"GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

struct visit {
	const struct probe *probe;
	struct MHD_Connection *connection;
	const char *url, *method;
	struct buf page;
	enum MHD_Result result;
};

static void answer_visit(void *context)
{
	struct visit *v = context;
	unsigned status = 405;

	if (is_read(v->method))
		status = write_page(v->probe, v->url, is_verbose(v->connection),
				    &v->page);
	else
		buf_adds(&v->page, "GET only\n");
	v->result = reply(v->connection, status, &v->page);
}

/* NOLINTNEXTLINE(readability-function-size): signature of the library. */
static enum MHD_Result answer(void *cls, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_len, void **context)
{
	struct visit v = {.probe = cls,
			  .connection = connection,
			  .url = url,
			  .method = method,
			  .result = MHD_NO};

	buf_init(&v.page);
	/* Without memory the connection is closed. */
	escape_run(answer_visit, &v, NULL);
	buf_release(&v.page);
	return v.result;
}

/* --- connections ---------------------------------------------------------- */

static void notify(void *cls, struct MHD_Connection *connection, void **context,
		   enum MHD_ConnectionNotificationCode code)
{
	const struct probe *probe = cls;
	struct connection *c = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		int fd = MHD_get_connection_info(
				 connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd;

		*context = c = calloc(1, sizeof(*c));
		if (c)
			connection_enter(probe->table, c, fd, PHASE_HEADER);
		else
			shutdown(fd, SHUT_RDWR);
	} else if (c) {
		connection_leave(c);
		free(c);
		*context = NULL;
	}
}

static struct MHD_Daemon *start_daemon(struct probe *probe, int fd)
{
	return MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC,
		0, NULL, NULL, answer, probe, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS_PER_ADDRESS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS,
		MHD_OPTION_NOTIFY_CONNECTION, notify, probe, MHD_OPTION_END);
}

struct probe *probe_start(const struct probe_options *options, struct err *err)
{
	const struct connection_limits limits = {
		.seconds = {[PHASE_HEADER] = SECONDS}};
	int fd = server_listen(options->listen, err);
	struct probe *probe;

	if (fd < 0)
		return NULL;
	probe = calloc(1, sizeof(*probe));
	if (!probe)
		OUT_OF_MEMORY();
	probe->options = *options;
	probe->port = server_listen_port(fd);
	probe->table = connection_table_new(&limits);
	if (probe->table)
		probe->daemon = start_daemon(probe, fd);
	if (probe->daemon)
		return probe;
	close(fd);
	if (probe->table) {
		connection_table_stop(probe->table);
		connection_table_free(probe->table);
	}
	free(probe);
	err_set(err, 0, "cannot serve probes on '%s'", options->listen);
	return NULL;
}

unsigned probe_port(const struct probe *probe)
{
	return probe->port;
}

void probe_stop(struct probe *probe)
{
	if (!probe)
		return;
	connection_table_stop(probe->table);
	MHD_stop_daemon(probe->daemon);
	connection_table_free(probe->table);
	free(probe);
}
