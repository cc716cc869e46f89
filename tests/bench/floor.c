/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the least time that the linter could need, on a single thread:
 *   floor nothing         a static executable that ends at once
 *   floor read FOLDER     finds and reads every *.yaml, *.yml, *.json
 *   floor events FOLDER   reads them, and gets libyaml's events of each
 * The numbers of bytes and events are printed, so that the compiler cannot
 * remove the work.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

static unsigned long long bytes, events, files;
static int with_events;
static char buffer[64 << 20];

static int is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") ||
		       !strcmp(dot, ".json"));
}

static void parse(size_t len)
{
	yaml_parser_t parser;
	yaml_event_t event;
	int done = 0;

	if (!yaml_parser_initialize(&parser))
		abort();
	yaml_parser_set_input_string(&parser, (unsigned char *)buffer, len);
	while (!done && yaml_parser_parse(&parser, &event)) {
		done = event.type == YAML_STREAM_END_EVENT;
		events++;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
}

static void read_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return;
	while ((n = read(fd, buffer + len, sizeof(buffer) - len)) > 0)
		len += (size_t)n;
	close(fd);
	bytes += len;
	files++;
	if (with_events)
		parse(len);
}

static void walk(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		if (e->d_type == DT_DIR)
			walk(openat(fd, e->d_name,
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		else if (e->d_type == DT_REG && is_manifest(e->d_name))
			read_file(fd, e->d_name);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 0;
	with_events = !strcmp(argv[1], "events");
	walk(open(argv[2], O_RDONLY | O_DIRECTORY));
	printf("%llu files %llu bytes %llu events\n", files, bytes, events);
	return 0;
}
