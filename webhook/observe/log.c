/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the log. Logging must not wait for the reader of the log. Before a
 * line is written, the file is polled for at most WAIT_MS, and after a loss
 * without waiting. A line that does not fit is dropped and counted, and the
 * next written line has the count.
 *
 * The table of repeats has a fixed size: four places for each of 256 sets of
 * objects. A new object replaces the oldest one of its set, whose repeats are
 * logged first.
 */
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "log_internal.h"
#include "monotonic.h"

enum { WAIT_MS = 50 };

struct log *log_new(int fd, enum log_level level, bool json)
{
	struct log *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->fd = fd;
	log->level = level;
	log->json = json;
	log->now = monotonic_seconds;
	pthread_mutex_init(&log->lock, NULL);
	return log;
}

bool log_level_parse(const char *text, enum log_level *out)
{
	for (unsigned i = LOG_ERROR; i <= LOG_DEBUG; i++)
		if (text_eq(text, log_level_names[i])) {
			*out = (enum log_level)i;
			return true;
		}
	return false;
}

/* --- writing -------------------------------------------------------------- */

static bool takes_a_line(int fd, int wait)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, wait) == 1 && p.revents & POLLOUT;
}

static bool write_line(int fd, const struct log_line *line, int wait)
{
	ssize_t n;

	if (!takes_a_line(fd, wait))
		return false;
	do
		n = write(fd, line->text, line->len);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)line->len;
}

/* Writes a line. The caller holds the lock. */
static void emit(struct log *log, struct log_line *line)
{
	unsigned lost = atomic_exchange(&log->lost, 0);

	if (lost)
		line_int(line, "linesLost", lost);
	line_end(line);
	if (!write_line(log->fd, line, lost ? 0 : WAIT_MS))
		atomic_fetch_add(&log->lost, lost + 1);
}

void log_say(struct log *log, enum log_level level, const char *fmt, ...)
{
	char message[2048];
	struct log_line line;
	va_list ap;

	if (level > log->level)
		return;
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	line_begin(&line, log->json, level, message);
	pthread_mutex_lock(&log->lock);
	emit(log, &line);
	pthread_mutex_unlock(&log->lock);
}

void log_event(struct log *log, enum log_level level, const char *message,
	       const struct log_field *fields, size_t n)
{
	struct log_line line;

	if (level > log->level)
		return;
	line_begin(&line, log->json, level, message);
	for (size_t i = 0; i < n; i++)
		if (fields[i].text)
			line_text(&line, fields[i].key, fields[i].text, 1024);
		else
			line_int(&line, fields[i].key, fields[i].number);
	pthread_mutex_lock(&log->lock);
	emit(log, &line);
	pthread_mutex_unlock(&log->lock);
}

/* --- repeats -------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const char *text)
{
	return text ? text_hash(text, strlen(text) + 1, hash)
		    : text_hash("\xff", 1, hash);
}

/* Returns a hash of the object. The secret key is only applied at the end, so
 * objects with equal hashes before that stay equal; a user who finds two such
 * objects gains only that a line is counted instead of logged. */
static uint64_t object_hash(const struct log_decision *d)
{
	uint64_t hash = mix(0, d->webhook);

	hash = mix(hash, d->operation);
	hash = mix(hash, d->namespace);
	hash = mix(hash, d->kind);
	hash = mix(hash, d->name);
	hash = mix(hash, d->owner);
	hash = text_keyed_hash(&hash, sizeof(hash));
	return hash ? hash : 1;
}

static uint64_t decision_hash(const struct log_decision *d)
{
	uint64_t hash = mix(d->dry_run, d->decision);

	hash = mix(hash, d->would);
	hash = mix(hash, d->mode);
	hash = mix(hash, d->break_glass);
	for (size_t i = 0; i < d->nrules; i++)
		hash = mix(hash, d->rules[i]);
	return hash;
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static void report_repeats(struct log *log, struct repeat *repeat)
{
	struct log_line line;

	if (repeat->count && log->level >= LOG_INFO) {
		line_begin(&line, log->json, LOG_INFO, "decision repeated");
		line_text(&line, "webhook", or_null(repeat->webhook), 32);
		line_text(&line, "namespace", or_null(repeat->namespace), 400);
		line_text(&line, "kind", or_null(repeat->kind), 400);
		line_text(&line, "name", or_null(repeat->name), 800);
		line_text(&line, "decision", or_null(repeat->decision), 32);
		line_int(&line, "repeats", repeat->count);
		emit(log, &line);
	}
	repeat->count = 0;
}

static void copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text ? text : "");
}

/* Returns the place of the object; for a new object, a free place or the oldest
 * one of its set. */
static struct repeat *repeat_of(struct log *log, uint64_t object)
{
	struct repeat *set = log->repeats[object % REPEAT_SETS];
	struct repeat *best = set;

	for (int i = 0; i < REPEAT_WAYS; i++) {
		if (set[i].object == object)
			return &set[i];
		if (!set[i].object || set[i].since < best->since)
			best = &set[i];
	}
	return best;
}

/* Counts the decision and returns true if it is already logged. Otherwise the
 * caller logs it with *repeats, the number of lines that were only counted
 * before. */
static bool is_repeat(struct log *log, const struct log_decision *d,
		      unsigned *repeats)
{
	uint64_t object = object_hash(d), reported = decision_hash(d);
	struct repeat *repeat = repeat_of(log, object);
	int64_t now = log->now();

	if (repeat->object == object && repeat->reported == reported &&
	    now - repeat->since < REPEAT_SECONDS) {
		repeat->count++;
		return true;
	}
	if (repeat->object == object)
		*repeats = repeat->count;
	else
		report_repeats(log, repeat);
	repeat->object = object;
	repeat->reported = reported;
	repeat->since = now;
	repeat->count = 0;
	copy(repeat->webhook, sizeof(repeat->webhook), d->webhook);
	copy(repeat->decision, sizeof(repeat->decision), d->decision);
	copy(repeat->namespace, sizeof(repeat->namespace), d->namespace);
	copy(repeat->kind, sizeof(repeat->kind), d->kind);
	copy(repeat->name, sizeof(repeat->name),
	     d->name && *d->name ? d->name : d->owner);
	return false;
}

/* --- decisions ------------------------------------------------------------ */

static void begin_decision(struct log_line *line, bool json,
			   const struct log_decision *d)
{
	line_begin(line, json, LOG_INFO, "decision");
	line_text(line, "uid", d->uid, 128);
	line_text(line, "webhook", d->webhook, 32);
	line_text(line, "operation", d->operation, 32);
	line_text(line, "user", d->user, 400);
	line_text(line, "namespace", d->namespace, 128);
	line_text(line, "kind", d->kind, 192);
	line_text(line, "name", d->name, 400);
	line_text(line, "owner", d->owner, 400);
	line_text(line, "decision", d->decision, 32);
	line_text(line, "would", d->would, 32);
	line_text(line, "mode", d->mode, 32);
	line_text(line, "policy", d->policy, 32);
	line_text(line, "breakGlass", d->break_glass, 256);
	line_list(line, "rules", d->rules, d->nrules);
	if (d->state_age >= 0)
		line_int(line, "stateAgeSeconds", d->state_age);
	line_bool(line, "dryRun", d->dry_run);
	line_int(line, "durationMicroseconds",
		 (int64_t)(d->nanoseconds / 1000));
}

void log_decision(struct log *log, const struct log_decision *decision)
{
	unsigned repeats = 0;
	struct log_line line;

	if (log->level < LOG_INFO)
		return;
	pthread_mutex_lock(&log->lock);
	if (!is_repeat(log, decision, &repeats)) {
		begin_decision(&line, log->json, decision);
		if (repeats)
			line_int(&line, "repeats", repeats);
		emit(log, &line);
	}
	pthread_mutex_unlock(&log->lock);
}

static void flush(struct log *log, bool all)
{
	int64_t now = log->now();
	struct repeat *repeat = log->repeats[0];

	pthread_mutex_lock(&log->lock);
	for (size_t i = 0; i < REPEAT_SETS * REPEAT_WAYS; i++, repeat++) {
		if (!repeat->object ||
		    (!all && now - repeat->since < REPEAT_SECONDS))
			continue;
		report_repeats(log, repeat);
		repeat->object = 0;
		repeat->since = 0;
	}
	pthread_mutex_unlock(&log->lock);
}

void log_flush_repeats(struct log *log)
{
	flush(log, false);
}

void log_free(struct log *log)
{
	if (!log)
		return;
	flush(log, true);
	pthread_mutex_destroy(&log->lock);
	free(log);
}
