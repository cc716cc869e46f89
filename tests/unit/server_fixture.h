/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server in front of the stub webhook, and a client that sends given
 * bytes unchanged, over TLS.
 */
#ifndef SERVER_FIXTURE_H
#define SERVER_FIXTURE_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "certs_fixture.h"
#include "metrics_reading.h"
#include "server_stub.h"
#include "webhook/server/server.h"

#define UNUSED __attribute__((unused))

/* --- the server ----------------------------------------------------------- */

struct stage {
	struct server *server;
	struct server_options options;
	struct key_store *keys;
	struct metrics *metrics;
	struct log *log;
	struct admission admission;
	struct made leaf;
	int silent;
};

static void stage_init(struct stage *stage)
{
	const struct recipe recipe = {.cn = "server",
				      .san = "DNS:localhost,IP:127.0.0.1",
				      .eku = "serverAuth"};
	struct err err = {0};
	struct buf cert, key;

	memset(stage, 0, sizeof(*stage));
	buf_init(&cert);
	buf_init(&key);
	stage->leaf = make(&recipe, NULL);
	pem_cert(&cert, stage->leaf.cert);
	pem_key(&key, stage->leaf.key);
	stage->keys = key_store_new();
	if (key_store_load_pem(stage->keys, &cert, &key, &err) < 0)
		BUG("%s", err.text);
	buf_release(&cert);
	buf_release(&key);
	stage->metrics = metrics_new();
	stage->silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
	stage->log =
		log_new(getenv("DEBUG") ? 2 : stage->silent, LOG_DEBUG, false);
	stage->options = (struct server_options){
		.listen = "127.0.0.1:0",
		.threads = 2,
		.max_body = 1 << 20,
		.max_in_flight = 100,
		.max_connections = 200,
		.handshake_seconds = 10,
		.header_seconds = 10,
		.body_seconds = 10,
		.idle_seconds = 300,
		.keys = stage->keys,
		.admission = &stage->admission,
		.metrics = stage->metrics,
		.log = stage->log,
	};
}

UNUSED static void stage_start(struct stage *stage)
{
	struct err err = {0};

	stage->server = server_start(&stage->options, &err);
	if (!stage->server)
		BUG("%s", err.text);
}

static void stage_end(struct stage *stage)
{
	server_stop(stage->server);
	key_store_free(stage->keys);
	log_free(stage->log);
	metrics_free(stage->metrics);
	unmake(&stage->leaf);
	close(stage->silent);
}

UNUSED static double stage_figure(const struct stage *stage, const char *name)
{
	return metrics_figure(stage->metrics, name);
}

UNUSED static void pause_ms(int ms)
{
	poll(NULL, 0, ms);
}

UNUSED static int64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- the client ----------------------------------------------------------- */

struct caller {
	int fd;
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
};

struct answer {
	int status; /* 0: the connection ended without a status */
	char head[2000];
	char *body;
	size_t len;
};

/* Connects from the address 127.0.0.x. */
static int dial_from(unsigned port, unsigned char x)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0x7f000000 + x),
	};
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval limit = {.tv_sec = 120};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (bind(fd, (const struct sockaddr *)&here, sizeof(here)) ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		BUG("cannot connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

static int dial(unsigned port)
{
	return dial_from(port, 1);
}

static void caller_use(struct caller *caller, const struct made *as)
{
	struct buf cert, key;
	gnutls_datum_t cert_text, key_text;

	buf_init(&cert);
	buf_init(&key);
	pem_cert(&cert, as->cert);
	pem_key(&key, as->key);
	cert_text = (gnutls_datum_t){(void *)cert.data, (unsigned)cert.len};
	key_text = (gnutls_datum_t){(void *)key.data, (unsigned)key.len};
	if (gnutls_certificate_set_x509_key_mem(caller->credentials, &cert_text,
						&key_text,
						GNUTLS_X509_FMT_PEM) < 0)
		BUG("cannot use a client certificate");

	buf_release(&cert);
	buf_release(&key);
}

static void caller_close(struct caller *caller)
{
	if (caller->session)
		gnutls_deinit(caller->session);
	if (caller->credentials)
		gnutls_certificate_free_credentials(caller->credentials);
	if (caller->fd >= 0)
		close(caller->fd);
	memset(caller, 0, sizeof(*caller));
	caller->fd = -1;
}

/* Opens a connection with a certificate (or NULL) and a priority string (or
 * NULL). Returns 0, or GnuTLS' error. */
UNUSED static int caller_open_as(struct caller *caller,
				 const struct stage *stage,
				 const struct made *as, const char *priority)
{
	int code;

	memset(caller, 0, sizeof(*caller));
	caller->fd = dial(server_port(stage->server));
	gnutls_certificate_allocate_credentials(&caller->credentials);
	if (as)
		caller_use(caller, as);
	/* Sends the certificate whatever CA names the server lists. */
	gnutls_init(&caller->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL |
					      GNUTLS_FORCE_CLIENT_CERT);
	code = gnutls_priority_set_direct(caller->session,
					  priority ? priority : "NORMAL", NULL);
	if (code < 0)
		BUG("priority: %s", gnutls_strerror(code));
	gnutls_credentials_set(caller->session, GNUTLS_CRD_CERTIFICATE,
			       caller->credentials);
	gnutls_transport_set_int(caller->session, caller->fd);
	gnutls_handshake_set_timeout(caller->session, 120000);
	do
		code = gnutls_handshake(caller->session);
	while (code < 0 && !gnutls_error_is_fatal(code));
	if (code < 0)
		caller_close(caller);
	return code;
}

UNUSED static void caller_open(struct caller *caller, const struct stage *stage)
{
	int code = caller_open_as(caller, stage, NULL, NULL);

	if (code < 0)
		BUG("handshake: %s", gnutls_strerror(code));
}

/* Returns false if the connection is gone. */
UNUSED static bool caller_send(struct caller *caller, const void *data,
			       size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = gnutls_record_send(caller->session, at, len);

		if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static ssize_t caller_read(struct caller *caller, void *out, size_t size)
{
	ssize_t n;

	do
		n = gnutls_record_recv(caller->session, out, size);
	while (n == GNUTLS_E_INTERRUPTED);
	return n;
}

UNUSED static void answer_free(struct answer *answer)
{
	free(answer->body);
	answer->body = NULL;
}

static bool read_head(struct caller *caller, struct answer *answer)
{
	size_t len = 0;

	while (len < sizeof(answer->head) - 1) {
		if (caller_read(caller, answer->head + len, 1) != 1)
			return false;
		answer->head[++len] = '\0';
		if (len >= 4 && !memcmp(answer->head + len - 4, "\r\n\r\n", 4))
			return true;
	}
	return false;
}

/* Reads one reply, and skips "100 Continue". */
UNUSED static void caller_answer(struct caller *caller, struct answer *answer)
{
	const char *length;

	memset(answer, 0, sizeof(*answer));
	do {
		if (!read_head(caller, answer))
			return;
		sscanf(answer->head, "HTTP/1.%*d %d", &answer->status);
	} while (answer->status == 100);
	length = strstr(answer->head, "Content-Length: ");
	answer->len = length ? strtoul(length + 16, NULL, 10) : 0;
	answer->body = calloc(1, answer->len + 1);
	for (size_t at = 0; at < answer->len;) {
		ssize_t n = caller_read(caller, answer->body + at,
					answer->len - at);

		if (n <= 0) {
			answer->status = 0;
			return;
		}
		at += (size_t)n;
	}
}

UNUSED static int caller_status(struct caller *caller)
{
	struct answer answer;

	caller_answer(caller, &answer);
	answer_free(&answer);
	return answer.status;
}

/* Returns true if the server closes the connection within ms. Received data is
 * ignored. */
UNUSED static bool caller_ends(struct caller *caller, int ms)
{
	int64_t until = clock_ms() + ms;
	struct timeval limit = {.tv_usec = 20000};
	char byte[100];

	setsockopt(caller->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	while (clock_ms() < until) {
		ssize_t n = caller_read(caller, byte, sizeof(byte));

		if (n == 0 || (n < 0 && n != GNUTLS_E_AGAIN))
			return true;
	}
	return false;
}

UNUSED static bool caller_post(struct caller *caller, const char *body,
			       size_t len)
{
	char head[300];
	int n = snprintf(head, sizeof(head),
			 "POST /validate?timeout=10s HTTP/1.1\r\n"
			 "Host: gpugate.gpugate.svc:443\r\n"
			 "Content-Type: application/json\r\n"
			 "Content-Length: %zu\r\n\r\n",
			 len);

	return caller_send(caller, head, (size_t)n) &&
	       caller_send(caller, body, len);
}

/* Sends a whole request on a new connection; returns the status of the
 * reply. */
UNUSED static int stage_ask(const struct stage *stage, const char *body)
{
	struct caller caller;
	int status = 0;

	caller_open(&caller, stage);
	if (caller_post(&caller, body, strlen(body)))
		status = caller_status(&caller);
	caller_close(&caller);
	return status;
}

#endif
