/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times N COMMAND... [-- COMMAND...]: runs each command N times in turn (output
 * to /dev/null) and prints a line for each, "wall-us cpu-us max-kb": the least
 * wall and CPU time of the process, including its start, and the largest
 * resident size. Commands run in turn, and the least time counts, because other
 * programs use the machine too.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

enum { COMMANDS_MAX = 8 };

struct command {
	char **argv;
	double wall, busy;
	long kb;
};

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

static int run(struct command *c, const posix_spawn_file_actions_t *actions)
{
	double begin = now(), wall;
	struct rusage use;
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, c->argv[0], actions, NULL, c->argv, environ))
		return -1;
	if (wait4(pid, &status, 0, &use) < 0)
		return -1;
	wall = now() - begin;
	if (!c->kb || wall < c->wall)
		c->wall = wall;
	if (!c->kb || cpu(&use) < c->busy)
		c->busy = cpu(&use);
	c->kb = use.ru_maxrss > c->kb ? use.ru_maxrss : c->kb;
	return 0;
}

int main(int argc, char **argv)
{
	struct command commands[COMMANDS_MAX] = {{argv + 2, 0, 0, 0}};
	int rounds = argc > 2 ? atoi(argv[1]) : 0, n = 1;
	posix_spawn_file_actions_t actions;

	for (int i = 2; i < argc && n < COMMANDS_MAX; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		argv[i] = NULL;
		commands[n++].argv = argv + i + 1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	for (int i = 0; i < rounds; i++)
		for (int c = 0; c < n; c++)
			if (run(&commands[c], &actions))
				return 2;
	for (int c = 0; c < n; c++)
		printf("%.0f %.0f %ld\n", commands[c].wall, commands[c].busy,
		       commands[c].kb);
	return rounds < 1 ? 2 : 0;
}
