/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the processor time and the memory of one review. The limit of the time
 * is strict only with TIMES=strict (check-load), which needs a fast machine and
 * build; otherwise it only catches work that does not end.
 */
#ifndef TESTS_COSTLY_REVIEW_H
#define TESTS_COSTLY_REVIEW_H

#include "cost_fixture.h"
#include "review_fixture.h"

enum {
	LIMIT_MS = 200,
	/* limit without TIMES=strict, for slow machines and sanitizers */
	MOST_MS = 60000,
};

#define GPU "resources: {limits: {nvidia.com/gpu: 1}}"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEMORY_MB = 4000 };
#else
enum { MEMORY_MB = 36 };
#endif

/* Posts a review of the object that write() writes, for an UPDATE also as the
 * old object, and checks its cost. */
static inline void judge(struct stage *s, enum admission_path path,
			 const char *operation, const char *kind,
			 void (*write)(struct buf *out))
{
	const char *times = getenv("TIMES");
	struct buf request, body;
	int64_t ms;
	long mb;

	buf_init(&request);
	buf_init(&body);
	buf_addf(&request,
		 "operation: %s, kind: {kind: %s}, namespace: ml, object: ",
		 operation, kind);
	write(&request);
	if (!strcmp(operation, "UPDATE")) {
		buf_adds(&request, ", oldObject: ");
		write(&request);
	}
	review_json(&body, request.data);
	mb = memory_peak_mb(true);
	ms = cpu_ms();
	admission_review(s->worker, path, body.data, body.len, &s->reply);
	ms = cpu_ms() - ms;
	mb = memory_peak_mb(false) - mb;
	print_message("    %s %s: %d ms for %zu kB, %ld MB\n",
		      path == ADMISSION_MUTATE ? "mutate" : "validate",
		      operation, (int)ms, body.len / 1000, mb);
	assert_int_equal(s->reply.status, 200);
	assert_true(mb < MEMORY_MB);
	assert_true(ms <
		    (times && !strcmp(times, "strict") ? LIMIT_MS : MOST_MS));
	buf_release(&request);
	buf_release(&body);
}

/* An object that costs much in comparison with its length. */
struct costly_object {
	const char *what, *kind;
	void (*write)(struct buf *out);
};

/* Posts each object to /validate and /mutate, and as an UPDATE, under the
 * preset strict. */
static inline void judge_all(struct stage *s, const struct costly_object *items,
			     size_t n)
{
	admission_set_policy(s->admission, policy_default(&s->rules, "strict"));
	for (const struct costly_object *one = items; one < items + n; one++) {
		print_message("  %s\n", one->what);
		judge(s, ADMISSION_VALIDATE, "CREATE", one->kind, one->write);
		judge(s, ADMISSION_MUTATE, "CREATE", one->kind, one->write);
		judge(s, ADMISSION_VALIDATE, "UPDATE", one->kind, one->write);
	}
}

#endif
