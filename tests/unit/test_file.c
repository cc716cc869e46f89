/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files are read, within a limit; folders and devices are rejected, and
 * no call blocks on a pipe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static char folder[] = "/tmp/test_file.XXXXXX";
static char path[sizeof(folder) + 8];

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/f", folder);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static void write_bytes(size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char *bytes = malloc(n + 1);

	memset(bytes, 'x', n);
	assert_int_equal(file_write_fd(fd, bytes, n), 0);
	assert_int_equal(close(fd), 0);
	free(bytes);
}

static void a_file_beyond_the_limit_is_refused(void **state)
{
	static const size_t limits[] = {0, 1, 65534, 65535, 65536, 1 << 20};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		for (int known = 0; known < 2; known++) {
			struct file_how how = {.limit = limits[i],
					       .known = known};
			struct buf out;

			buf_init(&out);
			buf_adds(&out, "before");
			write_bytes(limits[i]);
			assert_int_equal(file_read(AT_FDCWD, path, &how, &out),
					 0);
			assert_int_equal(out.len, 6 + limits[i]);
			assert_int_equal(strlen(out.data), out.len);
			write_bytes(limits[i] + 1);
			assert_int_equal(file_read(AT_FDCWD, path, &how, &out),
					 EFBIG);
			buf_release(&out);
		}
	}
}

/* At most the limit is read from an endless file. */
static void an_endless_file_is_read_to_the_limit(void **state)
{
	struct file_how how = {.limit = 1 << 20, .may_pipe = true};
	struct err err = {0};
	struct buf out;

	buf_init(&out);
	assert_int_equal(file_load("/dev/zero", &how, &out, &err), -1);
	assert_string_equal(err.text, "larger than 1 MiB");
	assert_int_equal(out.len, (1 << 20) + 1);
	buf_release(&out);
}

static void only_regular_files_are_read(void **state)
{
	struct file_how how = {.limit = 100};
	struct err err = {0};
	struct buf out;

	buf_init(&out);
	assert_int_equal(file_read(AT_FDCWD, "/dev/zero", &how, &out), EINVAL);
	assert_int_equal(file_read(AT_FDCWD, folder, &how, &out), EISDIR);
	unlink(path);
	assert_int_equal(file_read(AT_FDCWD, path, &how, &out), ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* A pipe that no program writes to: the call must still return. */
	assert_int_equal(file_load(path, &how, &out, &err), -1);
	assert_string_equal(err.text, "not a regular file");
	unlink(path);
	assert_int_equal(out.len, 0);
	buf_release(&out);
}

static void the_stamp_is_that_of_the_bytes_read(void **state)
{
	struct file_stamp stamp;
	struct file_how how = {.limit = 100, .stamp = &stamp};
	struct stat st;
	struct buf out;

	buf_init(&out);
	write_bytes(3);
	assert_int_equal(file_read(AT_FDCWD, path, &how, &out), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(file_stamp_holds(&stamp, &st));
	st.st_mtim.tv_nsec ^= 1;
	assert_false(file_stamp_holds(&stamp, &st));
	st.st_mtim.tv_nsec ^= 1;
	st.st_ino++;
	assert_false(file_stamp_holds(&stamp, &st));
	st.st_ino--;
	st.st_dev++;
	assert_false(file_stamp_holds(&stamp, &st));
	write_bytes(4);
	assert_int_equal(stat(path, &st), 0);
	assert_false(file_stamp_holds(&stamp, &st));
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_beyond_the_limit_is_refused),
		cmocka_unit_test(an_endless_file_is_read_to_the_limit),
		cmocka_unit_test(only_regular_files_are_read),
		cmocka_unit_test(the_stamp_is_that_of_the_bytes_read),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
