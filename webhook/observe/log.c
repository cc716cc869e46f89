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
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_stream.h"
#include "base/text.h"
#include "log_internal.h"
#include "monotonic.h"

/*
 * One line, JSON or `key=value`. In both, text is a JSON string as
 * base/json_stream.h writes it, so a line is always valid, whatever a name
 * contains. A line has a fixed size: it is written whole or not at all, also
 * when memory has run out.
 */

/* Bytes that are reserved for line_end(). */
enum { TAIL = 8 };

const char *const log_level_names[] = {
	[LOG_ERROR] = "error",
	[LOG_WARN] = "warn",
	[LOG_INFO] = "info",
	[LOG_DEBUG] = "debug",
};

static bool put_bytes(struct log_line *line, const char *text, size_t len)
{
	if (line->len + len > LINE_BYTES - TAIL)
		return false;
	memcpy(line->text + line->len, text, len);
	line->len += len;
	return true;
}

static bool puts_(struct log_line *line, const char *text)
{
	return put_bytes(line, text, strlen(text));
}

static bool put_string(struct log_line *line, const char *text, size_t share)
{
	size_t start = line->len, len = strlen(text);
	char one[STREAM_CHARACTER];

	if (!put_bytes(line, "\"", 1))
		return false;
	while (len) {
		size_t step = stream_character(text, len, one);
		size_t room = strlen(one) + sizeof("...\"") - 1;

		if (line->len - start + room > share ||
		    line->len + room > LINE_BYTES - TAIL) {
			puts_(line, "...");
			break;
		}
		puts_(line, one);
		text += step;
		len -= step;
	}
	return put_bytes(line, "\"", 1);
}

/* Returns true for a text that needs no quotes in `key=value`. */
static bool is_bare(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789._:/@+-")];
}

static bool put_value(struct log_line *line, const char *text, size_t share)
{
	if (!line->json && is_bare(text) && strlen(text) < share)
		return puts_(line, text);
	return put_string(line, text, share);
}

/* Removes a field that did not fit. */
static void settle(struct log_line *line, size_t start, bool fits)
{
	if (!fits)
		line->len = start;
}

static bool put_key(struct log_line *line, const char *key)
{
	return puts_(line, line->json ? ",\"" : " ") && puts_(line, key) &&
	       puts_(line, line->json ? "\":" : "=");
}

/* Writes the current time as in RFC 3339, in UTC with nanoseconds. */
static void put_time(struct log_line *line)
{
	struct timespec ts;
	char text[48];
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%09ldZ", ts.tv_nsec);
	puts_(line, text);
}

void line_begin(struct log_line *line, bool json, enum log_level level,
		const char *message)
{
	line->json = json;
	line->len = 0;
	puts_(line, json ? "{\"ts\":\"" : "");
	put_time(line);
	puts_(line, json ? "\",\"level\":\"" : " ");
	puts_(line, log_level_names[level]);
	puts_(line, json ? "\"" : " ");
	if (json)
		put_key(line, "msg");
	put_string(line, message, 3500);
}

void line_text(struct log_line *line, const char *key, const char *value,
	       size_t share)
{
	size_t start = line->len;

	if (value)
		settle(line, start,
		       put_key(line, key) && put_value(line, value, share));
}

void line_int(struct log_line *line, const char *key, int64_t value)
{
	size_t start = line->len;
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	settle(line, start, put_key(line, key) && puts_(line, text));
}

static void line_bool(struct log_line *line, const char *key, bool value)
{
	size_t start = line->len;

	settle(line, start,
	       put_key(line, key) && puts_(line, value ? "true" : "false"));
}

/* Adds a list; items that do not fit are counted in the field `<key>More`. */
static void line_list(struct log_line *line, const char *key,
		      const char *const *items, size_t n)
{
	enum { REST = 600 }; /* bytes reserved for the fields after this one */
	size_t start = line->len, i = 0;
	char more[40];
	bool fits = put_key(line, key) && put_bytes(line, "[", 1);

	for (; fits && i < n; i++) {
		if (line->len + strlen(items[i]) + REST > LINE_BYTES)
			break;
		fits = (!i || put_bytes(line, ",", 1)) &&
		       put_value(line, items[i], 128);
	}
	settle(line, start, fits && put_bytes(line, "]", 1));
	if (i == n)
		return;
	snprintf(more, sizeof(more), "%sMore", key);
	line_int(line, more, (int64_t)(n - i));
}

void line_end(struct log_line *line)
{
	if (line->json)
		line->text[line->len++] = '}';
	line->text[line->len++] = '\n';
}

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

/*
 * Writes BUG()'s message as the last line of the log. abort() would raise a
 * signal, which the sandbox rejects, and then end the process with a different
 * signal.
 */

/* Set before there are threads. */
static int bug_fd = -1;
static bool bug_json;

static void end(const char *file, int line, const char *text)
{
	struct log_line out;
	ssize_t ignored;

	line_begin(&out, bug_json, LOG_ERROR, "stopped by a bug in gpugated");
	line_text(&out, "file", file, 200);
	line_int(&out, "line", line);
	line_text(&out, "reason", text, 1000);
	line_end(&out);
	ignored = write(bug_fd, out.text, out.len);
	(void)ignored;
	_exit(LOG_BUG_STATUS);
}

void log_bugs(int fd, bool json)
{
	bug_fd = fd;
	bug_json = json;
	bug_set_end(end);
}
