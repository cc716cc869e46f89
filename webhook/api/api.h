/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client for one API server: HTTPS with a verified certificate, without
 * redirects and proxies, with limits for sizes and times. Credentials and
 * certificates from files are read again for each request; if a file is missing
 * or unreadable, the texts read before stay in use.
 *
 * Requests may be sent by several threads at a time.
 */
#ifndef WEBHOOK_API_H
#define WEBHOOK_API_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct api;

/* Reads the configuration. Must be called before threads start. If kubeconfig
 * is NULL, reads the configuration of the pod in which the process runs. Does
 * not connect to the server. Returns NULL and sets err on failure. */
struct api *api_open(const char *kubeconfig, struct err *err);
void api_close(struct api *api);
/* Returns https://host[:port][/path], for logs. */
const char *api_server(const struct api *api);
/* Resolves the name of the server. Called at the start, so that a wrong name is
 * logged and the resolver has opened its files before the sandbox starts. */
int api_warm_up(struct api *api, struct err *err);

struct api_call {
	const char *method;	  /* NULL: GET */
	const char *path;	  /* "/api/v1/..." with its query */
	const char *content_type; /* content type of the body */
	const char *body;	  /* NULL: none */
	size_t len;
	size_t max;	  /* longest response in bytes (0: 16 MiB) */
	unsigned timeout; /* seconds (0: 10) */
	/* the request ends when *stop is true; may be NULL */
	const atomic_bool *stop;
};

struct api_reply {
	long status;
	unsigned retry_after; /* seconds (0: header missing) */
	struct buf body;
};

/* Sends a request. Returns 0 for any status, or -1 without a response. The
 * caller releases reply->body, which api_request() initializes. */
int api_request(struct api *api, const struct api_call *call,
		struct api_reply *reply, struct err *err);
/* Sets err for a response with an unexpected status, from the message of the
 * Status in its body. */
int api_refused(const struct api_reply *reply, struct err *err);

#endif
