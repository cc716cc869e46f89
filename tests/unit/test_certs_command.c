/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugated certs` and the writing beneath it: the files and their permissions,
 * and the files that stay unchanged after an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/text.h"
#include "certs/disk.h"
#include "certs/pair.h"
#include "webhook/commands.h"

struct place {
	char dir[64];
	char *out, *err;
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->dir, "/tmp/gpugate-certs-XXXXXX");
	if (!mkdtemp(place->dir))
		return -1;
	*state = place;
	return 0;
}

static void forget_output(struct place *place)
{
	free(place->out);
	free(place->err);
	place->out = place->err = NULL;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char command[100];
	int status;

	snprintf(command, sizeof(command), "rm -rf %s", place->dir);
	status = system(command);
	forget_output(place);
	free(place);
	return status;
}

/* Runs the command with words separated by blanks; %D is the folder. */
static int run(struct place *place, const char *words)
{
	char line[600], *argv[40], *save = NULL, *word;
	size_t out_len, err_len;
	FILE *out, *err;
	int argc = 0, status;

	snprintf(line, sizeof(line), "certs %s", words);
	for (word = strtok_r(line, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = strcmp(word, "%D") == 0 ? place->dir : word;
	argv[argc] = NULL;
	forget_output(place);
	out = open_memstream(&place->out, &out_len);
	err = open_memstream(&place->err, &err_len);
	status = certs_command(argv, out, err);
	fclose(out);
	fclose(err);
	return status;
}

static const char *path_of(const struct place *place, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", place->dir, name);
	return path;
}

static void read_file(const struct place *place, const char *name,
		      struct buf *out)
{
	struct err err = {0};

	buf_init(out);
	if (disk_read(path_of(place, name), out, &err) < 0)
		fail_msg("%s", err.text);
}

static unsigned mode_of(const struct place *place, const char *name)
{
	struct stat st;

	assert_int_equal(stat(path_of(place, name), &st), 0);
	return st.st_mode & 0777;
}

static size_t count_files(const char *dir)
{
	DIR *folder = opendir(dir);
	size_t n = 0;

	while (readdir(folder))
		n++;
	closedir(folder);
	return n - 2;
}

static void writes_a_good_pair(void **state)
{
	static const char *const names[] = {"a.gpu.svc", "b.gpu.svc",
					    "127.0.0.1", "::1", NULL};
	struct place *place = *state;
	struct arena arena = ARENA_INIT;
	struct pair_info info;
	struct buf cert, key;
	struct err err = {0};
	mode_t umask_before = umask(0277);
	int status = run(place, "--dir %D --dns a.gpu.svc ::1 b.gpu.svc "
				"--ip 127.0.0.1 --days 10");

	umask(umask_before);
	assert_int_equal(status, 0);
	assert_string_equal(place->err, "");
	assert_int_equal(count_files(place->dir), 4);
	assert_int_equal(mode_of(place, "ca.crt"), 0644);
	assert_int_equal(mode_of(place, "tls.crt"), 0644);
	assert_int_equal(mode_of(place, "ca.key"), 0600);
	assert_int_equal(mode_of(place, "tls.key"), 0600);
	read_file(place, "tls.crt", &cert);
	read_file(place, "tls.key", &key);
	const struct pair_ask ask = {.cert = cert.data,
				     .cert_len = cert.len,
				     .cert_file = "c",
				     .key = key.data,
				     .key_len = key.len,
				     .key_file = "k",
				     .dns = names,
				     .now = time(NULL)};
	if (pair_check(&arena, &ask, &info, &err) != PAIR_GOOD)
		fail_msg("%s", err.text);
	assert_in_range(info.not_after - time(NULL), 863990, 864000);
	arena_release(&arena);
	buf_release(&cert);
	disk_wipe(&key);
}

static void the_hint_is_the_ca(void **state)
{
	struct place *place = *state;
	unsigned char decoded[4096];
	struct buf ca;
	char *hint;
	int len;

	assert_int_equal(run(place, "--dir %D --dns=a --dns b"), 0);
	hint = strstr(place->out, "caBundle: ");
	assert_non_null(hint);
	hint += strlen("caBundle: ");
	hint[strcspn(hint, "\n")] = '\0';
	len = EVP_DecodeBlock(decoded, (unsigned char *)hint,
			      (int)strlen(hint));
	read_file(place, "ca.crt", &ca);
	/* base64 padding adds up to two NUL bytes */
	assert_in_range(len, ca.len, ca.len + 2);
	assert_memory_equal(decoded, ca.data, ca.len);
	buf_release(&ca);
}

static void nothing_is_overwritten(void **state)
{
	static const char *const files[] = {"ca.crt", "ca.key", "tls.crt",
					    "tls.key"};
	struct place *place = *state;
	struct buf before, after;

	for (size_t i = 0; i < 4; i++) {
		int fd = open(path_of(place, files[i]), O_CREAT | O_WRONLY,
			      0644);

		close(fd);
		assert_int_equal(run(place, "--dir %D --dns a"), 2);
		assert_true(text_contains(place->err, files[i]));
		assert_true(text_contains(place->err, "File exists"));
		assert_true(text_contains(place->err, "--force"));
		assert_string_equal(place->out, "");
		assert_int_equal(count_files(place->dir), 1);
		unlink(path_of(place, files[i]));
	}
	assert_int_equal(run(place, "--dir %D --dns a"), 0);
	read_file(place, "tls.crt", &before);
	assert_int_equal(run(place, "--dir %D --dns a"), 2);
	assert_int_equal(run(place, "--dir %D --dns a --force"), 0);
	read_file(place, "tls.crt", &after);
	assert_string_not_equal(before.data, after.data);
	assert_int_equal(count_files(place->dir), 4);
	buf_release(&before);
	buf_release(&after);
}

/* A dangling link counts as an existing file, and its target is not created. */
static void links_are_not_followed(void **state)
{
	struct place *place = *state;
	struct stat st;

	assert_int_equal(symlink("elsewhere", path_of(place, "ca.key")), 0);
	assert_int_equal(run(place, "--dir %D --dns a"), 2);
	assert_int_equal(run(place, "--dir %D --dns a --force"), 0);
	assert_int_equal(lstat(path_of(place, "ca.key"), &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(lstat(path_of(place, "elsewhere"), &st), -1);
}

static void usage_is_checked(void **state)
{
	static const char *const lines[][2] = {
		{"", "--dir is missing"},
		{"--dns a", "--dir is missing"},
		{"--dir %D", "--dns is missing"},
		{"--dir %D --dns", "`--dns` needs a value: NAME..."},
		{"--dir --dns a", "unexpected `a`"},
		{"--dir %D --dns a --days 0", "not a number from 1 to 36500"},
		{"--dir %D --dns a --days -1", "not a number from 1 to 36500"},
		{"--dir %D --dns a --days 1x", "not a number from 1 to 36500"},
		{"--dir %D --dns a --days 99999999999999999999",
		 "not a number from 1 to 36500"},
		{"--dir %D --dns a --ca-days 36501",
		 "not a number from 1 to 36500"},
		{"--dir %D --dns a --days 20 --ca-days 10", "outlive"},
		{"--dir %D --dns a --force=1", "takes no value"},
		{"--dir %D --dns a --forc", "did you mean `--force`?"},
		{"--dir %D --dns a -f", "unknown option `-f`"},
		{"--dir %D x --dns a", "unexpected `x`"},
		{"--dir %D --dns a,b", "is not a DNS name"},
		{"--dir %D --dns 10.0.0.1.", "is not a DNS name"},
		{"--dir %D --ip a.b", "is not an IP address"},
		{"--dir %D --ip 1.2.3", "is not an IP address"},
		{"--dir %D --ip 1.2.3.4.5", "is not an IP address"},
		{"--dir %D --ip 1.2.3.4/8", "is not an IP address"},
		{"--dir %D --ip ::1%lo", "is not an IP address"},
		{"--dir %D --dns a --ip 1.2.3.256", "is not an IP address"},
		{"--dir %D --ip [::1]", "is not an IP address"},
	};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_int_equal(run(place, lines[i][0]), 2);
		if (!text_contains(place->err, lines[i][1]))
			fail_msg("%s: %s", lines[i][0], place->err);
		assert_string_equal(place->out, "");
		assert_int_equal(count_files(place->dir), 0);
	}
	assert_int_equal(run(place, "--help"), 0);
	assert_true(text_starts(place->out, "Usage: gpugated certs"));
}

static void places_that_cannot_be(void **state)
{
	struct place *place = *state;
	char words[200];

	assert_int_equal(run(place, "--dir /nowhere/at/all --dns a"), 2);
	assert_true(text_contains(place->err, "/nowhere/at/all: No such"));
	snprintf(words, sizeof(words), "--dir %s/new --dns a", place->dir);
	assert_int_equal(run(place, words), 0);
	snprintf(words, sizeof(words), "--dir %s/new/ca.crt --dns a",
		 place->dir);
	assert_int_equal(run(place, words), 2);
	assert_true(text_contains(place->err, "Not a directory"));
	/* A folder has the name of a file to write: nothing else changes. */
	assert_int_equal(mkdir(path_of(place, "tls.key"), 0755), 0);
	assert_int_equal(run(place, "--dir %D --dns a"), 2);
	assert_int_equal(count_files(place->dir), 2);
}

static void output_that_fails(void **state)
{
	struct place *place = *state;
	char words[] = "certs\0--dns\0a\0--dir";
	char *argv[] = {words,	    words + 6,	words + 12,
			words + 14, place->dir, NULL};
	FILE *out = fopen("/dev/full", "w"), *err = fopen("/dev/null", "w");

	assert_int_equal(certs_command(argv, out, err), 2);
	fclose(out);
	fclose(err);
}

static void only_small_files_are_read(void **state)
{
	struct place *place = *state;
	struct err err = {0};
	struct buf buf;
	int fd;

	buf_init(&buf);
	assert_int_equal(disk_read(place->dir, &buf, &err), -1);
	assert_int_equal(err.code, EISDIR);
	err.set = 0;
	assert_int_equal(disk_read(path_of(place, "absent"), &buf, &err), -1);
	assert_int_equal(err.code, ENOENT);
	assert_true(text_contains(err.text, "/absent: No such file"));
	err.set = 0;
	assert_int_equal(disk_read("/dev/zero", &buf, &err), -1);
	assert_true(text_contains(err.text, "not a regular file"));
	err.set = 0;
	assert_int_equal(mkfifo(path_of(place, "fifo"), 0600), 0);
	assert_int_equal(disk_read(path_of(place, "fifo"), &buf, &err), -1);
	err.set = 0;
	fd = open(path_of(place, "large"), O_CREAT | O_WRONLY, 0600);
	assert_int_equal(ftruncate(fd, DISK_LIMIT + 1), 0);
	assert_int_equal(disk_read(path_of(place, "large"), &buf, &err), -1);
	assert_int_equal(err.code, EFBIG);
	assert_int_equal(ftruncate(fd, DISK_LIMIT), 0);
	buf_reset(&buf);
	assert_int_equal(disk_read(path_of(place, "large"), &buf, &err), 0);
	assert_int_equal(buf.len, DISK_LIMIT);
	close(fd);
	buf_release(&buf);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_a_good_pair),     TEST(the_hint_is_the_ca),
		TEST(nothing_is_overwritten), TEST(links_are_not_followed),
		TEST(usage_is_checked),	      TEST(places_that_cannot_be),
		TEST(output_that_fails),      TEST(only_small_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
