/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTPS server with a key store, as webhook/tls/key_store.h describes,
 * and a client that returns the server's certificate.
 */
#ifndef TLS_FIXTURE_H
#define TLS_FIXTURE_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>

#include "webhook/tls/key_store.h"

struct tls_server {
	struct MHD_Daemon *daemon;
	struct key_store *keys;
	unsigned port;
};

struct tls_connection {
	struct tls_server *server;
	struct key_pair *pair;
};

static int tls_choose(gnutls_session_t session, const gnutls_datum_t *names,
		      int nnames, const gnutls_pk_algorithm_t *algorithms,
		      int nalgorithms, gnutls_pcert_st **certs,
		      unsigned *ncerts, gnutls_privkey_t *key)
{
	struct MHD_Connection *http = gnutls_session_get_ptr(session);
	struct tls_connection *connection =
		MHD_get_connection_info(http,
					MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;

	if (!connection->pair)
		connection->pair = key_store_take(connection->server->keys);
	return key_pair_give(connection->pair, certs, ncerts, key);
}

static void tls_notify(void *context, struct MHD_Connection *http,
		       void **socket_context,
		       enum MHD_ConnectionNotificationCode code)
{
	struct tls_connection *connection = *socket_context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		connection = calloc(1, sizeof(*connection));
		connection->server = context;
		*socket_context = connection;
		return;
	}
	key_pair_drop(connection->pair);
	free(connection);
}

static enum MHD_Result tls_answer(void *context, struct MHD_Connection *http,
				  const char *url, const char *method,
				  const char *version, const char *data,
				  size_t *len, void **request)
{
	static char ok[] = "ok", begun;
	struct MHD_Response *response;
	enum MHD_Result result;

	/* A response at the first call would close the connection. */
	if (!*request) {
		*request = &begun;
		return MHD_YES;
	}
	response =
		MHD_create_response_from_buffer(2, ok, MHD_RESPMEM_PERSISTENT);
	result = MHD_queue_response(http, 200, response);
	MHD_destroy_response(response);
	return result;
}

static struct tls_server *tls_server_start(struct key_store *keys)
{
	struct tls_server *server = calloc(1, sizeof(*server));

	server->keys = keys;
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS |
			MHD_USE_ITC,
		0, NULL, NULL, tls_answer, NULL, MHD_OPTION_HTTPS_CERT_CALLBACK,
		tls_choose, MHD_OPTION_NOTIFY_CONNECTION, tls_notify, server,
		MHD_OPTION_THREAD_POOL_SIZE, 2U, MHD_OPTION_END);
	if (!server->daemon)
		abort();
	server->port =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)
			->port;
	return server;
}

static void tls_server_stop(struct tls_server *server)
{
	MHD_stop_daemon(server->daemon);
	free(server);
}

struct tls_client {
	int fd;
	gnutls_certificate_credentials_t credentials;
	gnutls_session_t session;
	char peer[100]; /* its subject */
};

static void tls_close(struct tls_client *client)
{
	if (client->session)
		gnutls_deinit(client->session);
	if (client->credentials)
		gnutls_certificate_free_credentials(client->credentials);
	if (client->fd >= 0)
		close(client->fd);
	memset(client, 0, sizeof(*client));
	client->fd = -1;
}

static void tls_meet(struct tls_client *client)
{
	unsigned n;
	size_t size = sizeof(client->peer);
	const gnutls_datum_t *certs =
		gnutls_certificate_get_peers(client->session, &n);
	gnutls_x509_crt_t cert;

	gnutls_x509_crt_init(&cert);
	if (!certs ||
	    gnutls_x509_crt_import(cert, certs, GNUTLS_X509_FMT_DER) < 0 ||
	    gnutls_x509_crt_get_dn(cert, client->peer, &size) < 0)
		client->peer[0] = '\0';
	gnutls_x509_crt_deinit(cert);
}

/* Connects and shakes hands. If that fails, closes the client and returns
 * false. */
static bool tls_connect(struct tls_client *client,
			const struct tls_server *server)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)server->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int code, on = 1;

	memset(client, 0, sizeof(*client));
	client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(client->fd, (const struct sockaddr *)&address,
		    sizeof(address)) < 0) {
		tls_close(client);
		return false;
	}
	setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	gnutls_certificate_allocate_credentials(&client->credentials);
	gnutls_init(&client->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
	gnutls_set_default_priority(client->session);
	gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE,
			       client->credentials);
	gnutls_transport_set_int(client->session, client->fd);
	gnutls_handshake_set_timeout(client->session, 10000);
	do
		code = gnutls_handshake(client->session);
	while (code < 0 && !gnutls_error_is_fatal(code));
	if (code < 0) {
		tls_close(client);
		return false;
	}
	tls_meet(client);
	return true;
}

/* Sends one request on a connection that stays open. */
static bool tls_ask(struct tls_client *client)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	char reply[1000];
	size_t len = 0;
	ssize_t n;

	if (client->fd < 0 || gnutls_record_send(client->session, request,
						 sizeof(request) - 1) < 0)
		return false;
	do {
		n = gnutls_record_recv(client->session, reply + len,
				       sizeof(reply) - 1 - len);
		if (n < 0 && !gnutls_error_is_fatal((int)n))
			continue;
		if (n <= 0)
			return false;
		len += n;
		reply[len] = '\0';
	} while (len < 2 || strcmp(reply + len - 2, "ok") != 0);
	return strncmp(reply, "HTTP/1.1 200", 12) == 0;
}

#endif
