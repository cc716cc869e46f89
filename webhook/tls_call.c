/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GnuTLS over a socket whose silence is limited by SO_RCVTIMEO. The request
 * says `Connection: close`, so the reply ends where the connection does.
 */
#include "tls_call.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <gnutls/gnutls.h>

enum { REPLY_MAX = 1 << 20 };

static int open_one(const struct addrinfo *a, unsigned seconds)
{
	struct timeval limit = {.tv_sec = seconds};
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC,
			a->ai_protocol);

	if (fd < 0)
		return -1;
	if (!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) &&
	    !connect(fd, a->ai_addr, a->ai_addrlen))
		return fd;
	limit.tv_sec = errno; /* kept over close() */
	close(fd);
	errno = (int)limit.tv_sec;
	return -1;
}

static int open_connection(const struct tls_call *call, struct err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
	int rc = getaddrinfo(call->host, call->port, &hints, &list), fd = -1;

	if (rc)
		return err_set(err, 0, "%s: %s", call->host, gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = open_one(a, call->seconds);
	if (fd < 0)
		err_set(err, errno, "cannot connect to %s:%s: %s", call->host,
			call->port, strerror(errno));
	freeaddrinfo(list);
	return fd;
}

static int tls_error(struct err *err, const char *what, int rc)
{
	return err_set(err, 0, "%s: %s", what, gnutls_strerror(rc));
}

static int set_up(gnutls_session_t session,
		  gnutls_certificate_credentials_t credentials,
		  const struct tls_call *call, struct err *err)
{
	int rc = gnutls_set_default_priority(session);

	if (rc >= 0 && call->ca) {
		gnutls_datum_t pem = {(unsigned char *)call->ca->data,
				      (unsigned)call->ca->len};

		rc = gnutls_certificate_set_x509_trust_mem(credentials, &pem,
							   GNUTLS_X509_FMT_PEM);
		gnutls_session_set_verify_cert(session, call->name, 0);
	}
	if (rc >= 0)
		rc = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE,
					    credentials);
	if (rc >= 0 && call->name)
		rc = gnutls_server_name_set(session, GNUTLS_NAME_DNS,
					    call->name, strlen(call->name));
	if (rc < 0)
		return tls_error(err, "TLS", rc);
	gnutls_handshake_set_timeout(session, call->seconds * 1000);
	return 0;
}

static int handshake(gnutls_session_t session, struct err *err)
{
	int rc;

	do
		rc = gnutls_handshake(session);
	while (rc < 0 && !gnutls_error_is_fatal(rc));
	return rc < 0 ? tls_error(err, "TLS handshake", rc) : 0;
}

static int send_all(gnutls_session_t session, const char *data, size_t len,
		    struct err *err)
{
	while (len) {
		ssize_t n = gnutls_record_send(session, data, len);

		if (n == GNUTLS_E_INTERRUPTED)
			continue;
		if (n < 0)
			return tls_error(err, "sending", (int)n);
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Until the peer closes. */
static int receive_all(gnutls_session_t session, struct buf *out,
		       struct err *err)
{
	char bytes[4096];

	for (;;) {
		ssize_t n = gnutls_record_recv(session, bytes, sizeof(bytes));

		if (n == GNUTLS_E_INTERRUPTED)
			continue;
		if (n == 0 || n == GNUTLS_E_PREMATURE_TERMINATION)
			return 0;
		if (n < 0)
			return tls_error(err, "receiving", (int)n);
		buf_add(out, bytes, (size_t)n);
		if (out->len > REPLY_MAX)
			return err_set(err, 0, "a reply of over 1 MiB");
	}
}

static int take_reply(const struct buf *raw, struct buf *reply, struct err *err)
{
	const char *body = strstr(raw->data, "\r\n\r\n");
	static const char version[] = "HTTP/1.1 ";
	long status;

	if (!body || strncmp(raw->data, version, strlen(version)) != 0)
		return err_set(err, 0, "the reply is no HTTP");
	status = strtol(raw->data + strlen(version), NULL, 10);
	if (status < 100 || status > 999)
		return err_set(err, 0, "the reply is no HTTP");
	body += 4;
	buf_add(reply, body, raw->len - (size_t)(body - raw->data));
	return (int)status;
}

static int exchange(gnutls_session_t session, const struct tls_call *call,
		    struct buf *reply, struct err *err)
{
	struct buf request, raw;
	int status = -1;

	buf_init(&request);
	buf_init(&raw);
	buf_addf(&request,
		 "POST %s HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n"
		 "Content-Type: application/json\r\nContent-Length: %zu\r\n"
		 "User-Agent: gpugated-selftest\r\n\r\n",
		 call->path, call->host, call->port, call->len);
	buf_add(&request, call->body, call->len);
	if (!handshake(session, err) &&
	    !send_all(session, request.data, request.len, err) &&
	    !receive_all(session, &raw, err))
		status = take_reply(&raw, reply, err);
	buf_release(&request);
	buf_release(&raw);
	return status;
}

int tls_call(const struct tls_call *call, struct buf *reply, struct err *err)
{
	gnutls_certificate_credentials_t credentials;
	int fd = open_connection(call, err), status = -1;
	gnutls_session_t session;

	if (fd < 0)
		return -1;
	if (gnutls_certificate_allocate_credentials(&credentials) < 0 ||
	    gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL) < 0)
		BUG("out of memory");
	gnutls_transport_set_int(session, fd);
	if (!set_up(session, credentials, call, err))
		status = exchange(session, call, reply, err);
	gnutls_deinit(session);
	gnutls_certificate_free_credentials(credentials);
	close(fd);
	return status;
}
