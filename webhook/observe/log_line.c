/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line, JSON or `key=value`. In both, text is a JSON string as
 * base/json_stream.h writes it, so a line is always valid, whatever a name
 * contains. A line has a fixed size: it is written whole or not at all, also
 * when memory has run out.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_stream.h"
#include "log_internal.h"

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

void line_bool(struct log_line *line, const char *key, bool value)
{
	size_t start = line->len;

	settle(line, start,
	       put_key(line, key) && puts_(line, value ? "true" : "false"));
}

void line_list(struct log_line *line, const char *key, const char *const *items,
	       size_t n)
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
