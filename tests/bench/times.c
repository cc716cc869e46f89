/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times N COMMAND...: run the command N times (output to /dev/null) and
 * print "wall-us cpu-us max-kb": the median wall and CPU time of the whole
 * process, spawning included, and the largest resident size.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double cpu(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e6 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0;
	double *wall = calloc((size_t)n + 1, sizeof(*wall));
	double *busy = calloc((size_t)n + 1, sizeof(*busy));
	posix_spawn_file_actions_t actions;
	long kb = 0;

	if (n < 1 || !wall || !busy)
		return 2;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	for (int i = 0; i < n; i++) {
		struct rusage use;
		double begin = now();
		int status;
		pid_t pid;

		if (posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2,
				 environ))
			return 2;
		if (wait4(pid, &status, 0, &use) < 0)
			return 2;
		wall[i] = now() - begin;
		busy[i] = cpu(&use);
		kb = use.ru_maxrss > kb ? use.ru_maxrss : kb;
	}
	qsort(wall, (size_t)n, sizeof(*wall), cmp);
	qsort(busy, (size_t)n, sizeof(*busy), cmp);
	printf("%.0f %.0f %ld\n", wall[n / 2], busy[n / 2], kb);
	return 0;
}
