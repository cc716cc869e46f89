/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies as libmicrohttpd wants them. Most say that a review is allowed and
 * nothing else: they differ in the uid alone and are all of one length. Such
 * a reply is kept by its thread when it has been sent, and the next one is
 * written over it: what it would cost to make one anew, with its headers, is
 * a tenth of a judgement. It is used by one request at a time, from
 * server_reply() until server_reply_end().
 *
 * libmicrohttpd would write the date for each reply; a kept one has it as a
 * header, and is made anew when its second is over.
 */
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { READY_BYTES = 256 };

struct ready_reply {
	struct MHD_Response *response;
	struct ready_reply *next; /* of those that are not in use */
	time_t second;
	size_t len;
	char text[READY_BYTES];
};

/* As RFC 9110 has it, whatever the locale. */
static void write_date(time_t second, char *out, size_t size)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct tm tm;

	gmtime_r(&second, &tm);
	snprintf(out, size, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
		 days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon,
		 tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* --- kept ones ------------------------------------------------------------ */

/* The reply without words, for texts of this length. */
static bool make_ready(struct ready_reply *ready, size_t len, time_t now,
		       const char *content_type)
{
	char date[64];

	ready->response = MHD_create_response_from_buffer(
		len, ready->text, MHD_RESPMEM_PERSISTENT);
	if (!ready->response)
		return false;
	ready->len = len;
	ready->second = now;
	write_date(now, date, sizeof(date));
	MHD_add_response_header(ready->response, MHD_HTTP_HEADER_DATE, date);
	MHD_add_response_header(ready->response, MHD_HTTP_HEADER_CONTENT_TYPE,
				content_type);
	return true;
}

static time_t second_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec;
}

/* NULL: there is no memory for it. */
static struct ready_reply *take_ready(struct pool_thread *thread,
				      const struct door_reply *reply)
{
	struct ready_reply *ready = thread->ready;
	time_t now = second_now();

	if (ready)
		thread->ready = ready->next;
	if (ready && ready->len == reply->len && ready->second == now)
		return ready;
	if (ready)
		MHD_destroy_response(ready->response);
	else
		ready = malloc(sizeof(*ready));
	if (!ready)
		BUG("out of memory");
	if (make_ready(ready, reply->len, now, reply->content_type))
		return ready;
	free(ready);
	return NULL;
}

static bool is_usual(const struct door_reply *reply)
{
	return reply->status == MHD_HTTP_OK && !reply->retry_after &&
	       reply->len <= READY_BYTES;
}

void server_reply_release(struct pool_thread *thread)
{
	struct ready_reply *next;

	for (struct ready_reply *ready = thread->ready; ready; ready = next) {
		next = ready->next;
		MHD_destroy_response(ready->response);
		free(ready);
	}
	thread->ready = NULL;
}

/* --- all ------------------------------------------------------------------ */

static struct MHD_Response *make(const struct door_reply *reply, bool last)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		reply->len, (void *)(uintptr_t)reply->body,
		MHD_RESPMEM_MUST_COPY);

	if (!response)
		return NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				reply->content_type);
	if (reply->retry_after)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER,
					"1");
	if (last)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION,
					"close");
	return response;
}

struct MHD_Response *server_reply(struct peer *peer,
				  const struct door_reply *reply)
{
	bool last = atomic_load_explicit(&peer->server->draining,
					 memory_order_relaxed);
	struct ready_reply *ready = NULL;

	peer->status = reply->status;
	if (is_usual(reply) && !last && !peer->ready)
		ready = take_ready(peer->thread, reply);
	if (!ready)
		return make(reply, last);
	memcpy(ready->text, reply->body, reply->len);
	peer->ready = ready;
	return ready->response;
}

void server_reply_drop(struct peer *peer, struct MHD_Response *response)
{
	if (response && (!peer->ready || peer->ready->response != response))
		MHD_destroy_response(response);
}

void server_reply_end(struct peer *peer)
{
	struct ready_reply *ready = peer->ready;

	if (!ready)
		return;
	peer->ready = NULL;
	ready->next = peer->thread->ready;
	peer->thread->ready = ready;
}
