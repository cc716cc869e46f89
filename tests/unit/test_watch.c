/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files as they change in practice: the kubelet's swap of `..data`, rename over
 * the file, rewriting in place, removal and recreation. Some events are not a
 * change. The test controls the clock, so that it never waits, and the load of
 * the machine does not matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "webhook/observe/watch.h"

static int64_t now_ms;

/* Replaces libc's function: monotonic time is the test's. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, out);
	*out = (struct timespec){.tv_sec = now_ms / 1000,
				 .tv_nsec = now_ms % 1000 * 1000000};
	return 0;
}

/* Waits for the next tick of the file clock: two changes within one tick (10 ms
 * at most) look like one. */
static void next_tick(void)
{
	struct timespec then, now;

	clock_gettime(CLOCK_REALTIME_COARSE, &then);
	do
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	while (now.tv_sec == then.tv_sec && now.tv_nsec == then.tv_nsec);
}

struct place {
	struct arena arena;
	char dir[64];
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->dir, "/tmp/gpugate-watch-XXXXXX");
	if (!mkdtemp(place->dir))
		return -1;
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char command[100];
	int status;

	snprintf(command, sizeof(command), "rm -rf %s", place->dir);
	status = system(command);
	arena_release(&place->arena);
	free(place);
	return status;
}

static const char *at(struct place *place, const char *name)
{
	return arena_printf(&place->arena, "%s/%s", place->dir, name);
}

static void put(const char *path, const char *text)
{
	int fd;

	next_tick();
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Replaces the file by rename(), as careful programs do. */
static void replace(struct place *place, const char *path, const char *text)
{
	const char *temp = at(place, ".new");

	put(temp, text);
	assert_int_equal(rename(temp, path), 0);
}

/* Writes a version of a mounted ConfigMap: ..N/FILE, ..data -> ..N. */
static void project(struct place *place, int n, const char *file,
		    const char *text)
{
	const char *dir = at(place, arena_printf(&place->arena, "..%d", n));
	const char *name = arena_printf(&place->arena, "..%d", n);
	const char *temp = at(place, "..data_tmp");

	assert_int_equal(mkdir(dir, 0755), 0);
	put(arena_printf(&place->arena, "%s/%s", dir, file), text);
	assert_int_equal(symlink(name, temp), 0);
	assert_int_equal(rename(temp, at(place, "..data")), 0);
}

static struct watch *watch_one(const char *path)
{
	const char *const paths[] = {path, NULL};

	return watch_new(paths);
}

/* Returns the number of reports in this many milliseconds; ends early after
 * `enough` reports. */
static int count_changes(struct watch *watch, int ms, int enough)
{
	int64_t end = now_ms + ms;
	int n = 0;

	while (now_ms < end && n < enough) {
		int64_t next = now_ms + watch_wait(watch);

		now_ms = next < end ? next : end;
		n += watch_changed(watch);
	}
	return n;
}

/* Expects one report, at the second check, 50 ms after the first. */
static void logged_once(struct watch *watch)
{
	assert_int_equal(count_changes(watch, 1050, 1), 1);
	assert_int_equal(count_changes(watch, 5000, 1), 0);
}

static void expect_no_change(struct watch *watch)
{
	assert_int_equal(count_changes(watch, 5000, 1), 0);
}

static void projected_files(void **state)
{
	struct place *place = *state;
	struct watch *watch;

	project(place, 1, "tls.crt", "one");
	assert_int_equal(symlink("..data/tls.crt", at(place, "tls.crt")), 0);
	watch = watch_one(at(place, "tls.crt"));
	expect_no_change(watch);
	for (int i = 2; i < 5; i++) {
		project(place, i, "tls.crt", "two"); /* same size */
		logged_once(watch);
	}
	watch_free(watch);
}

static void projected_folder(void **state)
{
	struct place *place = *state;
	struct watch *watch;

	project(place, 1, "a.yaml", "one");
	assert_int_equal(symlink("..data/a.yaml", at(place, "a.yaml")), 0);
	watch = watch_one(place->dir);
	expect_no_change(watch);
	project(place, 2, "a.yaml", "two");
	logged_once(watch);
	/* The old version is removed later, which is not a change. */
	unlink(at(place, "..1/a.yaml"));
	rmdir(at(place, "..1"));
	expect_no_change(watch);
	watch_free(watch);
}

static void replaced_and_rewritten(void **state)
{
	struct place *place = *state;
	const char *path = at(place, "policy.yaml");
	struct watch *watch;

	put(path, "one");
	watch = watch_one(path);
	replace(place, path, "two");
	logged_once(watch);
	put(path, "six");
	logged_once(watch);
	put(path, "longer");
	logged_once(watch);
	watch_free(watch);
}

/* Rewrites a file in place with the same size and the old mtime, as cp -p
 * does. */
static void rewritten_with_its_old_time(void **state)
{
	struct place *place = *state;
	const char *path = at(place, "policy.yaml");
	struct timespec times[2];
	struct watch *watch;
	struct stat st;

	put(path, "one");
	watch = watch_one(path);
	assert_int_equal(stat(path, &st), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	put(path, "two");
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	logged_once(watch);
	watch_free(watch);
}

static void gone_and_back(void **state)
{
	struct place *place = *state;
	const char *path = at(place, "tls.key");
	struct watch *watch = watch_one(path);

	expect_no_change(watch);
	put(path, "one");
	logged_once(watch);
	unlink(path);
	logged_once(watch);
	expect_no_change(watch);
	put(path, "one");
	logged_once(watch);
	watch_free(watch);
}

/* The folder of the file is removed, recreated, and swapped for another. */
static void folder_gone_and_back(void **state)
{
	struct place *place = *state;
	const char *dir = at(place, "certs"),
		   *path = at(place, "certs/tls.key");
	struct watch *watch = watch_one(path);

	for (int i = 0; i < 2; i++) {
		assert_int_equal(mkdir(dir, 0755), 0);
		put(path, "one");
		logged_once(watch);
		put(path, "two"); /* the new folder is watched */
		logged_once(watch);
		unlink(path);
		rmdir(dir);
		logged_once(watch);
	}
	watch_free(watch);
}

static void folder_swapped_by_link(void **state)
{
	struct place *place = *state;
	const char *link = at(place, "current"), *temp = at(place, "tmp");
	struct watch *watch;

	mkdir(at(place, "1"), 0755);
	mkdir(at(place, "2"), 0755);
	put(at(place, "1/tls.key"), "one");
	put(at(place, "2/tls.key"), "one");
	assert_int_equal(symlink("1", link), 0);
	watch = watch_one(at(place, "current/tls.key"));
	assert_int_equal(symlink("2", temp), 0);
	assert_int_equal(rename(temp, link), 0);
	logged_once(watch);
	put(at(place, "1/tls.key"), "old");
	expect_no_change(watch);
	put(at(place, "2/tls.key"), "new");
	logged_once(watch);
	watch_free(watch);
}

static void files_of_a_folder(void **state)
{
	struct place *place = *state;
	struct watch *watch;

	mkdir(at(place, "policies"), 0755);
	mkdir(at(place, "policies/more"), 0755);
	put(at(place, "policies/a.yaml"), "one");
	watch = watch_one(at(place, "policies"));
	put(at(place, "policies/b.yaml"), "one");
	logged_once(watch);
	put(at(place, "policies/b.yaml"), "two");
	logged_once(watch);
	rename(at(place, "policies/b.yaml"), at(place, "policies/c.yaml"));
	logged_once(watch);
	unlink(at(place, "policies/c.yaml"));
	logged_once(watch);
	put(at(place, "policies/more/d.yaml"), "one");
	logged_once(watch);
	watch_free(watch);
}

static void circles_end(void **state)
{
	struct place *place = *state;
	struct watch *watch;

	assert_int_equal(symlink(".", at(place, "self")), 0);
	assert_int_equal(symlink("..", at(place, "self2")), 0);
	assert_int_equal(symlink("loop", at(place, "loop")), 0);
	mkdir(at(place, "sub"), 0755);
	assert_int_equal(symlink("..", at(place, "sub/up")), 0);
	watch = watch_one(at(place, "sub"));
	watch_changed(watch);
	watch_free(watch);
}

static void others_do_not_matter(void **state)
{
	struct place *place = *state;
	struct watch *watch;
	int fd;

	put(at(place, "tls.key"), "one");
	watch = watch_one(at(place, "tls.key"));
	put(at(place, "other"), "one");
	unlink(at(place, "other"));
	expect_no_change(watch);
	fd = open(at(place, "tls.key"), O_RDONLY);
	close(fd);
	expect_no_change(watch);
	watch_free(watch);
}

/* A file is not reported while it is being written; afterward once. */
static void writing_takes_time(void **state)
{
	struct place *place = *state;
	const char *path = at(place, "policy.yaml");
	struct watch *watch;
	int fd, n = 0;

	put(path, "one");
	watch = watch_one(path);
	fd = open(path, O_WRONLY | O_TRUNC);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(write(fd, "x", 1), 1);
		n += count_changes(watch, 15, 1);
	}
	close(fd);
	assert_int_equal(n, 0);
	logged_once(watch);
	watch_free(watch);
}

/* A file that is written endlessly is reported eventually. */
static void writing_never_ends(void **state)
{
	struct place *place = *state;
	const char *path = at(place, "policy.yaml");
	struct watch *watch;
	int64_t begun = now_ms;
	int fd, n = 0;

	put(path, "one");
	watch = watch_one(path);
	fd = open(path, O_WRONLY | O_TRUNC);
	for (int i = 0; i < 280 && n == 0; i++) {
		assert_int_equal(write(fd, "x", 1), 1);
		n += count_changes(watch, 20, 1);
	}
	close(fd);
	assert_int_equal(n, 1);
	assert_in_range(now_ms - begun, 2000, 2100);
	watch_free(watch);
}

static void several_at_once(void **state)
{
	struct place *place = *state;
	const char *const paths[] = {at(place, "a"), at(place, "b"), place->dir,
				     NULL};
	struct watch *watch = watch_new(paths);

	put(paths[0], "one");
	put(paths[1], "one");
	logged_once(watch);
	/* Exchanging two files changes both. */
	rename(paths[0], at(place, "c"));
	rename(paths[1], paths[0]);
	rename(at(place, "c"), paths[1]);
	logged_once(watch);
	watch_free(watch);
}

/* A change is reported once, however often watch_changed() is called. */
static void a_change_is_reported_once(void **state)
{
	struct place *place = *state;
	struct watch *watch = watch_one(at(place, "a"));
	int n = 0;

	put(at(place, "a"), "one");
	for (int i = 0; i < 4; i++) {
		n += watch_changed(watch);
		now_ms += 60;
	}
	assert_int_equal(n, 1);
	watch_free(watch);
}

static void nothing_to_watch(void **state)
{
	const char *const none[] = {NULL};
	struct watch *watch = watch_new(none);

	assert_false(watch_changed(watch));
	assert_int_equal(watch_wait(watch), 1000);
	watch_free(watch);
	watch_free(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(projected_files),
		TEST(projected_folder),
		TEST(replaced_and_rewritten),
		TEST(rewritten_with_its_old_time),
		TEST(gone_and_back),
		TEST(folder_gone_and_back),
		TEST(folder_swapped_by_link),
		TEST(files_of_a_folder),
		TEST(circles_end),
		TEST(others_do_not_matter),
		TEST(writing_takes_time),
		TEST(writing_never_ends),
		TEST(several_at_once),
		TEST(a_change_is_reported_once),
		TEST(nothing_to_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
