/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTPS request as the API server makes it, for the self-test. Small on
 * purpose: a connection for each, no redirects, a reply of at most 1 MiB.
 */
#ifndef WEBHOOK_TLS_CALL_H
#define WEBHOOK_TLS_CALL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct tls_call {
	const char *host, *port;
	/* PEM: the server must have a certificate of this CA for the name;
	 * NULL: any certificate will do. */
	const struct buf *ca;
	const char *name;
	const char *path; /* "/validate" */
	const char *body;
	size_t len;
	unsigned seconds; /* that the peer may be silent */
};

/* POST it; the reply's body is appended. The HTTP status, or -1. */
int tls_call(const struct tls_call *call, struct buf *reply, struct err *err);

#endif
