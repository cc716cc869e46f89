/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory, CPU time and open files of the process from /proc, and the
 * limits of its cgroup. Files are only read, because the sandbox allows only
 * that. Sources: proc(5), by which /proc/self/statm is in pages, and the
 * kernel's admin-guide/cgroup-v2.rst and, for v1, scheduler/sched-bwc.rst.
 */
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads the start of a small file as text. Returns -1 if it cannot be read. */
static int read_start(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	close(fd);
	if (n <= 0)
		return -1;
	out[n] = '\0';
	return 0;
}

static double seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

static void read_sizes(struct process_figures *out)
{
	double page = (double)sysconf(_SC_PAGESIZE);
	char text[128], *end;

	if (read_start("/proc/self/statm", text, sizeof(text)))
		return;
	out->virtual_bytes = strtod(text, &end) * page;
	out->resident_bytes = strtod(end, NULL) * page;
}

static double count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	double n = -1; /* the descriptor of the folder itself is not counted */

	if (!dir)
		return -1;
	for (const struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

void process_read(struct process_figures *out)
{
	struct rusage usage;
	struct rlimit limit;

	*out = (struct process_figures){-1, -1, -1, -1, -1};
	if (!getrusage(RUSAGE_SELF, &usage))
		out->cpu_seconds =
			seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		out->max_fds = (double)limit.rlim_cur;
	read_sizes(out);
	out->open_fds = count_fds();
}

/* Reads a file of a cgroup: "150000 100000", "max 100000" (v2) or "-1" (v1).
 * Returns the first number, or 0 if it is negative or not a number. */
static unsigned long read_number(const char *folder, const char *file,
				 unsigned long *second)
{
	char path[512], text[64], *end;
	long n;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	if (read_start(path, text, sizeof(text)))
		return 0;
	n = strtol(text, &end, 10);
	if (second)
		*second = strtoul(end, NULL, 10);
	return n > 0 ? (unsigned long)n : 0;
}

unsigned process_cpu_limit(const char *folder)
{
	unsigned long quota, period = 0, whole;

	if (!folder)
		folder = "/sys/fs/cgroup";
	quota = read_number(folder, "cpu.max", &period);
	if (!quota) {
		quota = read_number(folder, "cpu/cpu.cfs_quota_us", NULL);
		period = read_number(folder, "cpu/cpu.cfs_period_us", NULL);
	}
	if (!quota || !period)
		return 0;
	whole = (quota - 1) / period + 1;
	return whole < 65536 ? (unsigned)whole : 65536;
}

size_t process_memory_limit(const char *folder)
{
	/* cgroup v1 has about this value if a limit is not set. */
	const unsigned long none = 1ul << 62;
	unsigned long bytes;

	if (!folder)
		folder = "/sys/fs/cgroup";
	bytes = read_number(folder, "memory.max", NULL);
	if (!bytes)
		bytes = read_number(folder, "memory/memory.limit_in_bytes",
				    NULL);
	return bytes < none ? bytes : 0;
}
