/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: every line is one JSON object whatever the texts contain, repeats
 * are counted instead of logged, and a slow reader delays no thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "webhook/observe/log.h"
#include "webhook/observe/log_internal.h"

static int64_t time_now;

static int64_t told_time(void)
{
	return time_now;
}

struct fixture {
	FILE *file;
	struct log *log;
	struct buf text; /* the written lines, read back */
};

static void start(struct fixture *f, enum log_level level, bool json)
{
	f->file = tmpfile();
	assert_non_null(f->file);
	f->log = log_new(fileno(f->file), level, json);
	f->log->now = told_time;
	time_now = 1000;
	buf_init(&f->text);
}

static const char *written(struct fixture *f)
{
	char bytes[4096];
	size_t n;

	buf_reset(&f->text);
	rewind(f->file);
	while ((n = fread(bytes, 1, sizeof(bytes), f->file)) > 0)
		buf_add(&f->text, bytes, n);
	return f->text.data;
}

static void end(struct fixture *f)
{
	log_free(f->log);
	fclose(f->file);
	buf_release(&f->text);
}

/* Returns the i-th line as an object, which every line must be. */
static json_t *line_at(struct fixture *f, size_t i)
{
	const char *at = written(f);
	json_t *found = NULL;

	for (size_t n = 0; *at; n++) {
		size_t len = strcspn(at, "\n");
		json_error_t error;
		json_t *line;

		assert_int_equal(at[len], '\n');
		assert_true(len < PIPE_BUF);
		line = json_loadb(at, len, JSON_REJECT_DUPLICATES, &error);
		if (!line)
			fail_msg("%s: %.*s", error.text, (int)len, at);
		assert_true(json_is_object(line));
		if (n == i)
			found = line;
		else
			json_decref(line);
		at += len + 1;
	}
	return found;
}

static size_t lines(struct fixture *f)
{
	size_t n = 0;

	for (const char *at = written(f); *at; at++)
		n += *at == '\n';
	return n;
}

static const char *text_of(const json_t *line, const char *key)
{
	return json_string_value(json_object_get(line, key));
}

static long long int_of(const json_t *line, const char *key)
{
	const json_t *value = json_object_get(line, key);

	return value ? json_integer_value(value) : -1;
}

static const char *const rules[] = {"shm-missing", "gpu-limit-missing"};

static struct log_decision denial(const char *name)
{
	return (struct log_decision){
		.uid = "0a1b",
		.webhook = "validate",
		.operation = "CREATE",
		.user = "alice",
		.namespace = "ml",
		.kind = "Pod",
		.name = name,
		.owner = "Job/train",
		.rules = rules,
		.nrules = 2,
		.decision = "deny",
		.mode = "enforce",
		.policy = "00000000000000ff",
		.state_age = -1,
		.nanoseconds = 1234567,
	};
}

/* -- lines ----------------------------------------------------------------- */

static void a_decision_has_its_fields(void **state)
{
	struct log_decision d = denial("train-0");
	struct fixture f;
	json_t *line;

	(void)state;
	start(&f, LOG_INFO, true);
	log_decision(f.log, &d);
	assert_int_equal(lines(&f), 1);
	line = line_at(&f, 0);
	assert_string_equal(text_of(line, "level"), "info");
	assert_string_equal(text_of(line, "msg"), "decision");
	assert_string_equal(text_of(line, "uid"), "0a1b");
	assert_string_equal(text_of(line, "user"), "alice");
	assert_string_equal(text_of(line, "namespace"), "ml");
	assert_string_equal(text_of(line, "kind"), "Pod");
	assert_string_equal(text_of(line, "name"), "train-0");
	assert_string_equal(text_of(line, "owner"), "Job/train");
	assert_string_equal(text_of(line, "decision"), "deny");
	assert_string_equal(text_of(line, "mode"), "enforce");
	assert_string_equal(text_of(line, "policy"), "00000000000000ff");
	assert_int_equal(json_array_size(json_object_get(line, "rules")), 2);
	assert_true(json_is_false(json_object_get(line, "dryRun")));
	assert_int_equal(int_of(line, "durationMicroseconds"), 1234);
	/* A value that is not set is not logged. */
	assert_null(json_object_get(line, "would"));
	assert_null(json_object_get(line, "breakGlass"));
	assert_null(json_object_get(line, "stateAgeSeconds"));
	assert_null(json_object_get(line, "repeats"));
	assert_int_equal(strlen(text_of(line, "ts")),
			 strlen("2026-01-02T03:04:05.000000000Z"));
	json_decref(line);
	end(&f);
}

static void hostile_texts_stay_one_line(void **state)
{
	static const char *const texts[] = {
		"\"}\n{\"level\":\"error\",\"msg\":\"forged",
		"\x1b[2J\x1b]0;title\x07",
		"\xff\xfe\xfd",
		"\xed\xa0\x80\xc0\xaf",
		"\xe2\x80\xae\xe2\x80\xa8\xc2\x85",
		"\\\\\"\"\t\r\b",
		"\x7f\x01\x02\x03",
		"caf\xc3\xa9 \xf0\x9f\x98\x80",
	};
	struct fixture f;

	(void)state;
	start(&f, LOG_INFO, true);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *t = texts[i];
		const char *const list[] = {t, t};
		struct log_decision d = {
			.uid = t,
			.webhook = t,
			.operation = t,
			.user = t,
			.namespace = t,
			.kind = t,
			.name = t,
			.owner = t,
			.rules = list,
			.nrules = 2,
			.decision = t,
			.would = t,
			.mode = t,
			.policy = t,
			.break_glass = t,
		};

		log_decision(f.log, &d);
		log_say(f.log, LOG_ERROR, "%s", t);
		log_event(f.log, LOG_INFO, t,
			  &(struct log_field){.key = "k", .text = t}, 1);
	}
	assert_int_equal(lines(&f), 3 * sizeof(texts) / sizeof(*texts));
	json_decref(line_at(&f, 0));
	/* No byte that a terminal interprets. */
	for (const char *at = written(&f); *at; at++)
		assert_true((unsigned char)*at >= 0x20 || *at == '\n');
	assert_null(strstr(f.text.data, "\xe2\x80\xae"));
	assert_null(strstr(f.text.data, "\xc2\x85"));
	assert_non_null(strstr(f.text.data, "\xf0\x9f\x98\x80"));
	end(&f);
}

/* Each text is far too long, with the longest escapes: all fields are still
 * there. */
static void long_texts_have_their_share(void **state)
{
	enum { LONG = 100000 };
	static const char *const kept[] = {
		"uid",	"user",	    "namespace", "kind",       "name", "owner",
		"mode", "decision", "policy",	 "breakGlass", "rules"};
	const char *many[400];
	struct log_decision d;
	struct fixture f;
	char *big = malloc(LONG + 1);
	json_t *line;

	(void)state;
	start(&f, LOG_INFO, true);
	memset(big, 1, LONG);
	big[LONG] = '\0';
	for (size_t i = 0; i < 400; i++)
		many[i] = "quite-a-long-name-of-a-rule";
	d = denial(big);
	d.uid = d.user = d.namespace = d.kind = d.owner = d.break_glass = big;
	d.rules = many;
	d.nrules = 400;
	d.state_age = 12;
	log_decision(f.log, &d);
	line = line_at(&f, 0);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		assert_non_null(json_object_get(line, kept[i]));
	assert_int_equal(int_of(line, "stateAgeSeconds"), 12);
	assert_int_equal(json_array_size(json_object_get(line, "rules")) +
				 (size_t)int_of(line, "rulesMore"),
			 400);
	json_decref(line);
	log_say(f.log, LOG_ERROR, "%s", big);
	log_event(f.log, LOG_ERROR, big,
		  (struct log_field[]){{"a", big, 0}, {"b", NULL, 7}}, 2);
	assert_int_equal(lines(&f), 3);
	json_decref(line_at(&f, 1));
	free(big);
	end(&f);
}

static void lines_of_text_are_quoted(void **state)
{
	struct log_decision d = denial("a b\n");
	struct fixture f;

	(void)state;
	start(&f, LOG_INFO, false);
	log_event(f.log, LOG_INFO, "listening",
		  (struct log_field[]){{"address", "127.0.0.1", 0},
				       {"port", NULL, 8443}},
		  2);
	log_decision(f.log, &d);
	assert_int_equal(lines(&f), 2);
	assert_non_null(strstr(written(&f), " info \"listening\" "
					    "address=127.0.0.1 port=8443\n"));
	assert_non_null(strstr(f.text.data, " name=\"a b\\n\" "));
	assert_non_null(
		strstr(f.text.data, " rules=[shm-missing,gpu-limit-missing] "));
	end(&f);
}

static void each_level_has_its_lines(void **state)
{
	static const struct {
		enum log_level level;
		size_t lines;
	} table[] = {
		{LOG_ERROR, 1}, {LOG_WARN, 2}, {LOG_INFO, 4}, {LOG_DEBUG, 5}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct log_decision d = denial("x");
		struct fixture f;

		start(&f, table[i].level, true);
		log_say(f.log, LOG_ERROR, "e");
		log_say(f.log, LOG_WARN, "w");
		log_say(f.log, LOG_INFO, "i");
		log_say(f.log, LOG_DEBUG, "d");
		log_decision(f.log, &d);
		assert_int_equal(lines(&f), table[i].lines);
		end(&f);
	}
}

static void levels_have_names(void **state)
{
	enum log_level level = LOG_ERROR;

	(void)state;
	assert_true(log_level_parse("debug", &level));
	assert_int_equal(level, LOG_DEBUG);
	assert_true(log_level_parse("warn", &level));
	assert_int_equal(level, LOG_WARN);
	assert_false(log_level_parse("loud", &level));
	assert_false(log_level_parse("", &level));
	assert_int_equal(level, LOG_WARN);
}

/* -- repeats --------------------------------------------------------------- */

static void repeats_are_counted(void **state)
{
	struct log_decision d = denial("train-0");
	struct fixture f;
	json_t *line;

	(void)state;
	start(&f, LOG_INFO, true);
	for (int i = 0; i < 5; i++) {
		/* the uid is different each time */
		d.uid = i % 2 ? "other" : "another";
		log_decision(f.log, &d);
	}
	assert_int_equal(lines(&f), 1);
	/* Another verdict on the object logs the count. */
	d.nrules = 1;
	log_decision(f.log, &d);
	assert_int_equal(lines(&f), 2);
	line = line_at(&f, 1);
	assert_int_equal(int_of(line, "repeats"), 4);
	json_decref(line);
	/* The first verdict again is a new line, without a count. */
	d.nrules = 2;
	log_decision(f.log, &d);
	line = line_at(&f, 2);
	assert_int_equal(int_of(line, "repeats"), -1);
	json_decref(line);
	end(&f);
}

static void different_decisions_are_logged(void **state)
{
	static const char *const others[] = {"other-rule"};
	struct log_decision d[12];
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < 12; i++)
		d[i] = denial("train-0");
	d[1].name = "train-1";
	d[2].namespace = "ml2";
	d[3].kind = "Job.batch";
	d[4].webhook = "mutate";
	d[5].operation = "UPDATE";
	d[6].owner = "Job/other";
	d[7].decision = "warn";
	d[8].would = "deny";
	d[9].rules = others;
	d[9].nrules = 1;
	d[10].break_glass = "INC-1";
	d[11].dry_run = true;
	for (size_t i = 1; i < 12; i++) {
		start(&f, LOG_INFO, true);
		log_decision(f.log, &d[0]);
		log_decision(f.log, &d[i]);
		assert_int_equal(lines(&f), 2);
		end(&f);
	}
}

static void repeats_are_logged_again_after_a_time(void **state)
{
	struct log_decision d = denial("train-0");
	struct fixture f;
	json_t *line;

	(void)state;
	start(&f, LOG_INFO, true);
	log_decision(f.log, &d);
	time_now += 299;
	log_decision(f.log, &d);
	log_flush_repeats(f.log);
	assert_int_equal(lines(&f), 1);
	time_now += 1;
	log_decision(f.log, &d);
	assert_int_equal(lines(&f), 2);
	line = line_at(&f, 1);
	assert_int_equal(int_of(line, "repeats"), 1);
	json_decref(line);
	log_decision(f.log, &d);
	log_decision(f.log, &d);
	time_now += 300;
	log_flush_repeats(f.log);
	assert_int_equal(lines(&f), 3);
	line = line_at(&f, 2);
	assert_string_equal(text_of(line, "msg"), "decision repeated");
	assert_string_equal(text_of(line, "name"), "train-0");
	assert_string_equal(text_of(line, "decision"), "deny");
	assert_int_equal(int_of(line, "repeats"), 2);
	json_decref(line);
	log_flush_repeats(f.log);
	assert_int_equal(lines(&f), 3);
	end(&f);
}

static void a_flood_of_objects_loses_no_count(void **state)
{
	long long reported = 0, repeats = 0;
	struct fixture f;
	char name[32];

	(void)state;
	start(&f, LOG_INFO, true);
	for (int i = 0; i < 5000; i++) {
		struct log_decision d;

		snprintf(name, sizeof(name), "pod-%d", i);
		d = denial(name);
		log_decision(f.log, &d);
		log_decision(f.log, &d);
		time_now += i % 100 == 0;
	}
	time_now += 300;
	log_flush_repeats(f.log);
	json_decref(line_at(&f, 0));
	for (const char *at = written(&f); *at; at++) {
		size_t len = strcspn(at, "\n");
		json_t *line = json_loadb(at, len, 0, NULL);

		if (!strcmp(text_of(line, "msg"), "decision"))
			reported++;
		if (json_object_get(line, "repeats"))
			repeats += int_of(line, "repeats");
		json_decref(line);
		at += len;
	}
	assert_int_equal(reported, 5000);
	assert_int_equal(repeats, 5000);
	end(&f);
}

static void pending_repeats_are_logged_at_the_end(void **state)
{
	struct log_decision d = denial("train-0");
	struct fixture f;
	int fd;

	(void)state;
	start(&f, LOG_INFO, true);
	log_decision(f.log, &d);
	log_decision(f.log, &d);
	fd = dup(fileno(f.file));
	log_free(f.log);
	f.log = log_new(fd, LOG_INFO, true);
	assert_int_equal(lines(&f), 2);
	end(&f);
	close(fd);
}

/* -- readers and writers --------------------------------------------------- */

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* If the pipe is not read, logging continues and later reports the loss. */
static void a_reader_that_stops_delays_no_thread(void **state)
{
	char bytes[65536 * 2], *last;
	struct log *log;
	double begin;
	ssize_t n;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	log = log_new(ends[1], LOG_INFO, true);
	begin = seconds();
	for (int i = 0; i < 5000; i++)
		log_say(log, LOG_INFO, "line %d", i);
	assert_true(seconds() - begin < 5);
	n = read(ends[0], bytes, sizeof(bytes));
	assert_true(n > 0);
	assert_int_equal(bytes[n - 1], '\n');
	log_say(log, LOG_INFO, "awake");
	n = read(ends[0], bytes, sizeof(bytes) - 1);
	assert_true(n > 0);
	bytes[n] = '\0';
	last = strstr(bytes, "\"awake\",\"linesLost\":");
	assert_non_null(last);
	assert_true(strtol(last + 20, NULL, 10) > 3000);
	log_say(log, LOG_INFO, "and again");
	n = read(ends[0], bytes, sizeof(bytes) - 1);
	bytes[n] = '\0';
	assert_null(strstr(bytes, "linesLost"));
	log_free(log);
	close(ends[0]);
	close(ends[1]);
}

static void *chatter(void *context)
{
	struct fixture *f = context;

	for (int i = 0; i < 300; i++) {
		struct log_decision d = denial("shared");

		log_say(f->log, LOG_WARN, "one of many");
		log_decision(f->log, &d);
	}
	return NULL;
}

static void threads_do_not_mix_lines(void **state)
{
	pthread_t threads[8];
	struct fixture f;
	json_t *line;

	(void)state;
	start(&f, LOG_INFO, true);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, chatter, &f);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	time_now += 300;
	log_flush_repeats(f.log);
	assert_int_equal(lines(&f), 8 * 300 + 2);
	line = line_at(&f, 8 * 300 + 1);
	assert_int_equal(int_of(line, "repeats"), 8 * 300 - 1);
	json_decref(line);
	end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_decision_has_its_fields),
		cmocka_unit_test(hostile_texts_stay_one_line),
		cmocka_unit_test(long_texts_have_their_share),
		cmocka_unit_test(lines_of_text_are_quoted),
		cmocka_unit_test(each_level_has_its_lines),
		cmocka_unit_test(levels_have_names),
		cmocka_unit_test(repeats_are_counted),
		cmocka_unit_test(different_decisions_are_logged),
		cmocka_unit_test(repeats_are_logged_again_after_a_time),
		cmocka_unit_test(a_flood_of_objects_loses_no_count),
		cmocka_unit_test(pending_repeats_are_logged_at_the_end),
		cmocka_unit_test(a_reader_that_stops_delays_no_thread),
		cmocka_unit_test(threads_do_not_mix_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
