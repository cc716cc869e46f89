/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A door with all rules and one worker, and what it needs; for tests that post
 * reviews to it. Its policy is theirs to set.
 */
#ifndef TESTS_DOOR_STAGE_H
#define TESTS_DOOR_STAGE_H

#include <stdbool.h>
#include <unistd.h>

#include "engine/registry.h"
#include "webhook/door.h"

struct stage {
	struct rule_set rules;
	struct metrics *metrics;
	struct log *log;
	struct door *door;
	struct door_worker *worker;
	struct door_reply reply; /* the last one */
	const char *user;	 /* who asks */
	int log_fd;
};

/* log_fd becomes the stage's. */
static inline void stage_begin(struct stage *s, int log_fd,
			       enum log_level level, bool json)
{
	struct door_options options;

	s->rules = (struct rule_set){all_rules, all_rules_count};
	s->metrics = metrics_new();
	s->log_fd = log_fd;
	s->log = log_new(log_fd, level, json);
	options = (struct door_options){
		.rules = &s->rules, .metrics = s->metrics, .log = s->log};
	s->door = door_new(&options);
	s->worker = door_worker_new(s->door);
}

static inline void stage_end(struct stage *s)
{
	door_worker_free(s->worker);
	door_free(s->door);
	log_free(s->log);
	metrics_free(s->metrics);
	close(s->log_fd);
}

#endif
