/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces webhook/admission/admission.c and checks no objects: the answer
 * depends on the first bytes of the body. Included by one file of a program.
 *
 *	sleep MS	an answer after this time
 *	work		none, because the review used its processor time
 *	work slowly	none after 1.9 s; an answer from the start of the
 *			review then takes all of its time
 *	status N	an answer with this status (and Retry-After for 503)
 *	large N		an answer of N bytes
 *	anything else	an answer of 140 bytes that looks like a review
 *
 * A review that is too long is answered from its start, with status 201, if the
 * body begins with `long`; one that costs too much, if it begins with `work`.
 */
#ifndef SERVER_STUB_H
#define SERVER_STUB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/escape.h"
#include "webhook/admission/admission.h"

struct admission {
	int nothing;
};

struct admission_worker {
	char *out;
	size_t size;
};

struct admission_worker *admission_worker_new(struct admission *admission)
{
	(void)admission;
	return calloc(1, sizeof(struct admission_worker));
}

void admission_worker_free(struct admission_worker *worker)
{
	if (!worker)
		return;
	free(worker->out);
	free(worker);
}

static void stub_fill(struct admission_worker *worker, size_t size)
{
	free(worker->out);
	worker->out = malloc(size + 1);
	if (!worker->out)
		BUG("out of memory");
	memset(worker->out, 'x', size);
	worker->size = size;
}

static int64_t stub_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Milliseconds that the last slow review got for its start. */
static _Atomic int64_t stub_given;

/* Waits without using the processor, whose time has another limit. */
static void stub_wait(int64_t ms)
{
	const struct timespec nap = {0, 1000000};
	int64_t began = stub_ms(), now;

	stub_given = 0;
	while ((now = stub_ms() - began) < ms) {
		escape_check(0);
		stub_given = now;
		nanosleep(&nap, NULL);
	}
}

static const char stub_review[] =
	"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
	"\"response\":{\"uid\":\"00000000-0000-0000-0000-000000000000\","
	"\"allowed\":true}}\n";

void admission_review(struct admission_worker *worker, enum admission_path path,
		      const char *body, size_t len,
		      struct admission_reply *reply)
{
	char head[32] = "";
	int number = 0;

	*reply = (struct admission_reply){.status = 200,
					  .content_type = "application/json",
					  .body = stub_review,
					  .len = sizeof(stub_review) - 1};
	(void)path;
	memcpy(head, body, len < sizeof(head) - 1 ? len : sizeof(head) - 1);
	if (sscanf(head, "sleep %d", &number) == 1) {
		struct timespec ts = {number / 1000, number % 1000 * 1000000L};

		nanosleep(&ts, NULL);
	} else if (strncmp(head, "work", 4) == 0) {
		if (strncmp(head, "work slowly", 11) == 0)
			stub_wait(1900);
		escape_leave(ESCAPE_WORK);
	} else if (sscanf(head, "status %d", &number) == 1) {
		reply->status = (unsigned)number;
		reply->retry_after = number == 503;
		reply->content_type = "text/plain";
	} else if (sscanf(head, "large %d", &number) == 1) {
		stub_fill(worker, (size_t)number);
		reply->body = worker->out;
		reply->len = worker->size;
	}
}

/* The problem of the last review that was answered from its start. */
static _Atomic(const char *) stub_problem;

bool admission_review_start(struct admission_worker *worker,
			    enum admission_path path,
			    const struct review_start *start,
			    struct admission_reply *reply)
{
	const char *text = start->text;
	size_t len = start->len;

	stub_problem = start->problem;
	if (len >= 11 && memcmp(text, "work slowly", 11) == 0)
		stub_wait(60000);
	if (len >= 4 && memcmp(text, "work", 4) == 0) {
		admission_review(worker, path, "status 201", 10, reply);
		return true;
	}
	if (len < 4 || memcmp(text, "long", 4) != 0)
		return false;
	admission_review(worker, path, text, len, reply);
	return true;
}

#endif
