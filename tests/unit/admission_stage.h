/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The admission code with all rules and one worker, for tests that post reviews
 * to it. They set its policy.
 */
#ifndef TESTS_ADMISSION_STAGE_H
#define TESTS_ADMISSION_STAGE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/registry.h"
#include "webhook/admission/admission.h"

struct stage {
	struct rule_set rules;
	struct metrics *metrics;
	struct log *log;
	struct admission *admission;
	struct admission_worker *worker;
	struct admission_reply reply; /* the last reply */
	const char *user;	      /* user of the request */
	int log_fd;
};

/* Starts the stage, which closes log_fd at its end. */
static inline void stage_begin(struct stage *s, int log_fd,
			       enum log_level level, bool json)
{
	struct admission_options options;

	s->rules = (struct rule_set){.items = all_rules, .n = all_rules_count};
	s->metrics = metrics_new();
	s->log_fd = log_fd;
	s->log = log_new(log_fd, level, json);
	options = (struct admission_options){
		.rules = &s->rules, .metrics = s->metrics, .log = s->log};
	s->admission = admission_new(&options);
	s->worker = admission_worker_new(s->admission);
}

static inline void stage_end(struct stage *s)
{
	admission_worker_free(s->worker);
	admission_free(s->admission);
	log_free(s->log);
	metrics_free(s->metrics);
	close(s->log_fd);
}

/* For cmocka: a new stage for each test, without a log. */
static inline int stage_setup(void **state)
{
	struct stage *s = calloc(1, sizeof(*s));

	stage_begin(s, open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR,
		    false);
	*state = s;
	return 0;
}

static inline int stage_teardown(void **state)
{
	struct stage *s = *state;

	stage_end(s);
	free(s);
	return 0;
}

#endif
