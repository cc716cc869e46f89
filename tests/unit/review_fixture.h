/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reviews for the admission code, written as flow YAML and converted to the
 * JSON that an API server posts, and a search in the reply.
 */
#ifndef TESTS_REVIEW_FIXTURE_H
#define TESTS_REVIEW_FIXTURE_H

#include "admission_stage.h"
#include "value_reading.h"

#define DENIED "\"allowed\":false"
#define LET_IN "\"allowed\":true"

/* Appends the review with these fields of a request. */
static inline void review_json(struct buf *body, const char *request)
{
	struct reading reading;
	struct buf review;

	buf_init(&review);
	buf_addf(&review,
		 "{apiVersion: admission.k8s.io/v1, kind: AdmissionReview, "
		 "request: {uid: u-1, %s}}",
		 request);
	node_json(read_value(&reading, review.data), body);
	reading_release(&reading);
	buf_release(&review);
}

static inline bool says(const struct stage *s, const char *text)
{
	return memmem(s->reply.body, s->reply.len, text, strlen(text));
}

#endif
