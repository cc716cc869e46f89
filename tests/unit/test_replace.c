/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is replaced by a complete new one, but only if it is still the file
 * that was read: tests for each way in which it may have changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/replace.h"

static char folder[] = "/tmp/test_replace.XXXXXX";
static char path[sizeof(folder) + 8], other[sizeof(folder) + 8];

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/f", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	unlink(other);
	return rmdir(folder); /* fails if a file remains in the folder */
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void read_it(const char *name, struct file_stamp *stamp, struct buf *out)
{
	struct file_how how = {.limit = 1 << 20, .stamp = stamp};

	buf_reset(out);
	assert_int_equal(file_read(AT_FDCWD, name, &how, out), 0);
}

static void holds(const char *name, const char *text)
{
	struct buf out;

	buf_init(&out);
	read_it(name, NULL, &out);
	assert_string_equal(out.data, text);
	buf_release(&out);
}

/* Returns the number of files in the folder. */
static int count(void)
{
	DIR *dir = opendir(folder);
	int n = 0;

	assert_non_null(dir);
	for (const struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Creates the file with "old text" and reads it. */
static void begin(struct file_stamp *stamp)
{
	struct buf text;

	buf_init(&text);
	unlink(other);
	unlink(path);
	put(path, "old text");
	read_it(path, stamp, &text);
	buf_release(&text);
}

static int write_new(const struct file_stamp *stamp)
{
	struct buf text;
	int error;

	buf_init(&text);
	buf_adds(&text, "new text");
	error = replace_write(path, &text, stamp);
	buf_release(&text);
	return error;
}

static void a_file_is_replaced_whole(void **state)
{
	struct file_stamp stamp;
	struct stat st;

	begin(&stamp);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(write_new(&stamp), 0);
	holds(path, "new text");
	/* A hard link is a separate file. */
	holds(other, "old text");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(count(), 2);
}

static void edit_in_place(const struct file_stamp *stamp)
{
	put(path, "an edit, longer");
}

/* Writes a file of the same size, one nanosecond later. */
static void edit_one_byte(const struct file_stamp *stamp)
{
	struct timespec times[2] = {{0, UTIME_OMIT}, stamp->mtime};

	put(path, "0ld text");
	times[1].tv_nsec += times[1].tv_nsec < 999999999 ? 1 : -1;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Replaces the file by another one with the same size and times. */
static void edit_by_rename(const struct file_stamp *stamp)
{
	struct timespec times[2] = {{0, UTIME_OMIT}, stamp->mtime};

	put(other, "0ld text");
	assert_int_equal(utimensat(AT_FDCWD, other, times, 0), 0);
	assert_int_equal(rename(other, path), 0);
}

static void become_a_link(const struct file_stamp *stamp)
{
	assert_int_equal(rename(path, other), 0);
	put(other, "0ld text");
	assert_int_equal(symlink(other, path), 0);
}

static void a_changed_file_is_left_alone(void **state)
{
	static const struct {
		void (*edit)(const struct file_stamp *stamp);
		const char *text;
	} rows[] = {
		{edit_in_place, "an edit, longer"},
		{edit_one_byte, "0ld text"},
		{edit_by_rename, "0ld text"},
		{become_a_link, "0ld text"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct file_stamp stamp;
		int files;

		begin(&stamp);
		rows[i].edit(&stamp);
		files = count();
		assert_int_equal(write_new(&stamp), ESTALE);
		holds(path, rows[i].text);
		assert_int_equal(count(), files);
	}
}

static void a_file_that_is_gone_stays_gone(void **state)
{
	struct file_stamp stamp;

	begin(&stamp);
	unlink(path);
	assert_int_equal(write_new(&stamp), ESTALE);
	assert_int_equal(count(), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	unlink(path);
	assert_string_equal(replace_strerror(ESTALE),
			    "it was changed after it was read");
	assert_string_equal(replace_strerror(EACCES), strerror(EACCES));
}

/* Another program has the file open for writing. */
static void a_file_that_is_being_written_is_left_alone(void **state)
{
	struct file_stamp stamp;
	int fd;

	begin(&stamp);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_true(fd >= 0);
	assert_int_equal(write_new(&stamp), ETXTBSY);
	holds(path, "old text");
	assert_int_equal(count(), 1);
	close(fd);
	fd = open(path, O_RDONLY);
	assert_int_equal(write_new(&stamp), 0);
	holds(path, "new text");
	close(fd);
}

static void *close_soon(void *fd)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	close(*(int *)fd);
	return NULL;
}

/* A forked process that has not called exec() yet has the file open. */
static void a_file_that_was_just_written_is_waited_for(void **state)
{
	struct file_stamp stamp;
	pthread_t thread;
	int fd;

	begin(&stamp);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_true(fd >= 0);
	assert_int_equal(pthread_create(&thread, NULL, close_soon, &fd), 0);
	assert_int_equal(write_new(&stamp), 0);
	pthread_join(thread, NULL);
	holds(path, "new text");
}

static void without_a_stamp_nothing_is_compared(void **state)
{
	struct file_stamp stamp;

	begin(&stamp);
	put(path, "an edit");
	assert_int_equal(write_new(NULL), 0);
	holds(path, "new text");
}

/* --- an editor and a fix at the same time --------------------------------- */

enum { EDITS = 300 };

static atomic_bool done;

/* Saves like an editor: a new file takes the name. */
static void *edit(void *unused)
{
	char text[32];

	for (int i = 0; i < EDITS; i++) {
		snprintf(text, sizeof(text), "edit %d\n", i);
		put(other, text);
		assert_int_equal(rename(other, path), 0);
		usleep(200);
	}
	atomic_store(&done, true);
	return NULL;
}

/* The final text is that of the last edit, in any order of events. */
static void the_last_edit_is_never_lost(void **state)
{
	struct file_stamp stamp;
	char last[32];
	int replaced = 0;
	pthread_t thread;
	struct buf text;

	atomic_store(&done, false);
	buf_init(&text);
	begin(&stamp);
	assert_int_equal(pthread_create(&thread, NULL, edit, NULL), 0);
	while (!atomic_load(&done)) {
		int error;

		read_it(path, &stamp, &text);
		buf_adds(&text, "#");
		error = replace_write(path, &text, &stamp);
		if (error)
			assert_int_equal(error, ESTALE);
		replaced += !error;
	}
	pthread_join(thread, NULL);
	snprintf(last, sizeof(last), "edit %d\n", EDITS - 1);
	read_it(path, NULL, &text);
	if (strncmp(text.data, last, strlen(last)) != 0)
		fail_msg("%s", text.data);
	printf("%d edits, %d replacements\n", EDITS, replaced);
	assert_int_equal(count(), 1);
	buf_release(&text);
}

/* The unfinished file is removed, and the program reports why it ends. */
static void no_memory_leaves_nothing(void **state)
{
	struct replace r;
	char said[64] = "";
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		if (!replace_open(&r, path) && fputs("half", r.out) >= 0 &&
		    !fflush(r.out))
			OUT_OF_MEMORY();
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	assert_string_equal(said, "gpugate: out of memory\n");
	assert_int_equal(access(path, F_OK), -1);
	close(ends[0]);
	close(ends[1]);
	/* tear_down() finds no temporary file. */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory_leaves_nothing),
		cmocka_unit_test(a_file_is_replaced_whole),
		cmocka_unit_test(a_changed_file_is_left_alone),
		cmocka_unit_test(a_file_that_is_gone_stays_gone),
		cmocka_unit_test(a_file_that_is_being_written_is_left_alone),
		cmocka_unit_test(a_file_that_was_just_written_is_waited_for),
		cmocka_unit_test(without_a_stamp_nothing_is_compared),
		cmocka_unit_test(the_last_edit_is_never_lost),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
