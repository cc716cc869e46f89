/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client for one API server, with its configuration and single transfers:
 * HTTPS with a verified certificate, without redirects and proxies, with
 * limits for sizes and times. Credentials and certificates from files are read
 * again for each request; if a file is missing or unreadable, the texts read
 * before stay in use.
 *
 * Requests may be sent by several threads at a time.
 */
#ifndef WEBHOOK_API_H
#define WEBHOOK_API_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

#include "base/arena.h"
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

/*
 * Reads the address of an API server and the credentials for it, from a
 * kubeconfig file or a pod's service account. Files that the configuration
 * names are read later. Unsupported settings (plain http, skipped verification,
 * proxies, passwords, impersonation, credential plugins) are rejected with
 * their line, never ignored.
 */

/* A PEM text, from a file or inline. Both are NULL if it is absent. */
struct api_pem {
	const char *path;
	const char *text; /* decoded text */
};

struct api_config {
	struct arena arena; /* memory of all strings */
	/* https://host[:port][/path], without '/' at the end */
	const char *server;
	const char *tls_server_name; /* may be NULL */
	struct api_pem ca, cert, key;
	const char *token, *token_file; /* may be NULL */
};

/* Reads a kubeconfig file. Returns 0, or -1 with FILE:LINE:COLUMN in err. */
int api_config_load(struct api_config *config, const char *path,
		    struct err *err);
int api_config_parse(struct api_config *config, const char *path,
		     const char *text, size_t len, struct err *err);
/* Reads the configuration from the environment and the files of a pod. */
int api_config_in_cluster(struct api_config *config, struct err *err);
void api_config_release(struct api_config *config);

/*
 * One request as a libcurl handle, performed alone or together with others.
 * Used by api.c and reflector.c.
 */

struct api_transfer {
	CURL *easy;
	struct curl_slist *headers;
	struct curl_slist *connect_to;
	char error[CURL_ERROR_SIZE];
};

/* Prepares a GET of the path; the caller sets the callbacks for the response.
 * Returns -1 if the credentials cannot be read. */
int api_transfer_begin(struct api *api, struct api_transfer *transfer,
		       const char *path, struct err *err);
void api_transfer_end(struct api_transfer *transfer);
/* Adds the received bytes to the body, for a write callback of libcurl. Returns
 * 0, which ends the transfer, if the body would exceed max or memory runs
 * out. */
size_t api_take_body(struct buf *body, size_t max, const char *data,
		     size_t len);
/* Appends text, escaped for a path or a query of a URL. */
void api_add_escaped(struct buf *out, const char *text);
/* Returns the error as a text. */
const char *api_transfer_error(const struct api_transfer *transfer,
			       CURLcode code);

/* Appends the message of a Status (meta/v1); of any other response, its first
 * bytes. */
void api_status_message(const char *text, size_t len, struct buf *out);

#endif
