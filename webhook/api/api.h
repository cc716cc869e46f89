/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of one API server: HTTPS with a verified certificate, no redirects,
 * no proxies, bounded sizes and times. Credentials and certificates from files
 * are read again for each request; the last texts stay in use while a file is
 * missing or unreadable.
 *
 * Any thread may send requests.
 */
#ifndef WEBHOOK_API_H
#define WEBHOOK_API_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct api;

/* Must be called before there are threads. kubeconfig NULL: the process runs in
 * a pod. The server need not be reachable. */
struct api *api_open(const char *kubeconfig, struct err *err);
void api_close(struct api *api);
/* https://host[:port][/path], for logs. */
const char *api_server(const struct api *api);
/* Checks that the files are valid and that the name can be resolved: for the
 * log at the start, and to open the resolver's files before the sandbox. */
int api_warm_up(struct api *api, struct err *err);

struct api_call {
	const char *method;	  /* NULL: GET */
	const char *path;	  /* "/api/v1/..." with its query */
	const char *content_type; /* of the body */
	const char *body;	  /* NULL: none */
	size_t len;
	size_t max;		 /* longest response in bytes; 0: 16 MiB */
	unsigned timeout;	 /* seconds; 0: 10 */
	const atomic_bool *stop; /* give up if true; may be NULL */
};

struct api_reply {
	long status;
	unsigned retry_after; /* seconds; 0: not given */
	struct buf body;
};

/* Returns 0 for any status, -1 without a response. The caller releases
 * reply->body, which is initialized here. */
int api_request(struct api *api, const struct api_call *call,
		struct api_reply *reply, struct err *err);
/* Sets err for a response with an unexpected status: the message of its
 * Status. */
int api_refused(const struct api_reply *reply, struct err *err);

#endif
