/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request as a libcurl handle, performed alone or together with others.
 * Used by api.c and reflector.c.
 */
#ifndef WEBHOOK_API_TRANSFER_H
#define WEBHOOK_API_TRANSFER_H

#include <curl/curl.h>

#include "api.h"

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
