/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line per event on stderr, as JSON or text, never with an
 * object's body. One write() writes a line, whole or not at all. May be called
 * by any thread.
 */
#ifndef WEBHOOK_LOG_H
#define WEBHOOK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log;

/* fd is not closed by the log. */
struct log *log_new(int fd, enum log_level level, bool json);
/* Logs the counted repeats and frees the log. */
void log_free(struct log *log);
/* Makes BUG() write a line to fd and end the process with LOG_BUG_STATUS. */
enum { LOG_BUG_STATUS = 70 };
void log_bugs(int fd, bool json);
bool log_level_parse(const char *text, enum log_level *out);

/* Logs a message, written in lower case without a full stop. */
void log_say(struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A field of a log line, such as port 8443 of `listening`. */
struct log_field {
	const char *key;
	const char *text; /* NULL: the field has a number */
	int64_t number;
};
void log_event(struct log *log, enum log_level level, const char *message,
	       const struct log_field *fields, size_t n);

/*
 * A decision about an object with findings. Within 5 minutes, repeats for one
 * object with the same rules, decision and mode are only counted; the count is
 * logged with the next line about that object, or by log_flush_repeats() once
 * the time has passed. Strings may be NULL. Text from the user is escaped.
 */
struct log_decision {
	const char *uid, *webhook, *operation, *user;
	const char *namespace, *kind, *name;
	const char *owner; /* "Job/train" */
	const char *const *rules;
	size_t nrules;
	const char *decision; /* deny, patch, warn or audit */
	const char *would;    /* outcome in mode enforce, or NULL */
	const char *mode;
	const char *policy;	 /* hash of the policy */
	const char *break_glass; /* break-glass ticket, or NULL */
	int64_t state_age;	 /* seconds (-1: no cluster state) */
	bool dry_run;
	uint64_t nanoseconds;
};
void log_decision(struct log *log, const struct log_decision *decision);
/* Logs the counts of repeats whose 5 minutes have passed. */
void log_flush_repeats(struct log *log);

#endif
