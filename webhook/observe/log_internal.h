/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private parts of the log: lines and the table of repeats.
 *
 * A line has at most LINE_BYTES, which a pipe takes whole or not at all
 * (PIPE_BUF). Each text of the user may take only a share of the line, so that
 * later fields always fit.
 */
#ifndef WEBHOOK_LOG_INTERNAL_H
#define WEBHOOK_LOG_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log.h"

enum {
	LINE_BYTES = 4096,
	REPEAT_SETS = 256,
	REPEAT_WAYS = 4,
	REPEAT_SECONDS = 300,
};

/* One object at one webhook, and the last line about it. */
struct repeat {
	uint64_t object;   /* hash of the object (0: free place) */
	uint64_t reported; /* hash of rules, decision, mode and ticket */
	int64_t since;	   /* monotonic seconds of the last line */
	unsigned count;	   /* repeats that were not logged */
	char webhook[12], decision[12];
	char namespace[64], kind[64], name[128];
};

struct log {
	int fd;
	enum log_level level;
	bool json;
	int64_t (*now)(void);  /* returns monotonic seconds */
	_Atomic unsigned lost; /* lines dropped since the last written one */
	pthread_mutex_t lock; /* protects the table, and keeps lines in order */
	struct repeat repeats[REPEAT_SETS][REPEAT_WAYS];
};

extern const char *const log_level_names[]; /* indexed by enum log_level */

struct log_line {
	bool json;
	size_t len;
	char text[LINE_BYTES];
};

/* Begins a line with the time and the level. */
void line_begin(struct log_line *line, bool json, enum log_level level,
		const char *message);
/* Adds a field; NULL values are omitted. A text of more than share bytes is cut
 * and ends with "...". */
void line_text(struct log_line *line, const char *key, const char *value,
	       size_t share);
void line_int(struct log_line *line, const char *key, int64_t value);
/* Adds the newline that ends the line. */
void line_end(struct log_line *line);

#endif
