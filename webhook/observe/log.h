/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line per event on stderr, JSON or text, never an object's
 * body. A line is written with one write(), whole or not at all. Any thread
 * may log.
 */
#ifndef WEBHOOK_LOG_H
#define WEBHOOK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log;

/* fd is borrowed. */
struct log *log_new(int fd, enum log_level level, bool json);
/* Logs the remaining repeats. */
void log_free(struct log *log);
/* From now on BUG() writes a line of the log and ends with this status. */
enum { LOG_BUG_STATUS = 70 };
void log_bugs(int fd, bool json);
bool log_level_parse(const char *text, enum log_level *out);

/* A message: lower case, no full stop. */
void log_say(struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A message with further fields: `listening`, port 8443. */
struct log_field {
	const char *key;
	const char *text; /* NULL: the number */
	int64_t number;
};
void log_event(struct log *log, enum log_level level, const char *message,
	       const struct log_field *fields, size_t n);

/*
 * A decision with findings. Repeats for one object with the same rules and
 * decision within 5 minutes are counted, and logged with the next line about
 * that object or once the time has passed (log_flush_repeats()). Strings may be
 * NULL. The user's text is escaped.
 */
struct log_decision {
	const char *uid, *webhook, *operation, *user;
	const char *namespace, *kind, *name, *owner; /* owner: "Job/train" */
	const char *const *rules;
	size_t nrules;
	const char *decision;	   /* outcome: allow, deny, patch, warn */
	const char *would;	   /* outcome under enforce, or NULL */
	const char *mode, *policy; /* policy: hash */
	const char *break_glass;   /* the ticket, or NULL */
	int64_t state_age;	   /* seconds; -1: no cluster state */
	bool dry_run;
	uint64_t nanoseconds;
};
void log_decision(struct log *log, const struct log_decision *decision);
void log_flush_repeats(struct log *log);

#endif
