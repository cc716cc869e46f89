/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and devices that commands request: each line of parallel.txt is the
 * expected result, a bar, and a shell command or a container in flow style.
 */
#include <inttypes.h>
#include <stdio.h>

#include "kube/command/parallel.h"
#include "object_fixture.h"

static const char *const degree_names[DEGREES] = {
	"tensor", "pipeline",  "context", "data",
	"local",  "processes", "total",	  "nodes"};

static void describe_degree(struct buf *out, const char *name,
			    const struct degree *degree)
{
	if (!degree->given)
		return;
	assert_non_null(degree->by);
	assert_non_null(degree->node);
	if (degree->all)
		buf_addf(out, " %s=all", name);
	else if (degree->unknown)
		buf_addf(out, " %s=?", name);
	else if (degree->n == degree->max)
		buf_addf(out, " %s=%" PRId64, name, degree->n);
	else
		buf_addf(out, " %s=%" PRId64 ":%" PRId64, name, degree->n,
			 degree->max);
}

static void describe(struct buf *out, const struct parallel *parallel)
{
	int64_t devices = parallel_devices(parallel, NULL);

	buf_adds(out, parallel->program);
	for (int i = 0; i < DEGREES; i++)
		describe_degree(out, degree_names[i], &parallel->degrees[i]);
	buf_adds(out, parallel->spread ? " spread" : "");
	buf_adds(out, parallel->cpu ? " cpu" : "");
	buf_adds(out, parallel->unknown ? " unknown" : "");
	if (devices)
		buf_addf(out, " -> %" PRId64, devices);
}

/* Writes a Pod in YAML whose container has this command. */
static void container_text(struct buf *out, const char *command)
{
	buf_adds(out, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
		      "spec: {containers: [");
	if (*command == '{') {
		buf_adds(out, command);
	} else {
		buf_adds(out, "{name: c, image: a, command: [sh, -c, '");
		for (; *command; command++) {
			if (*command == '\'')
				buf_addc(out, '\'');
			buf_addc(out, *command);
		}
		buf_adds(out, "']}");
	}
	buf_adds(out, "]}\n");
}

static void line_check(char *line, int number, bool *differs)
{
	struct fixture fixture = {0};
	char *bar = strstr(line, " | ");
	struct parallel_list list;
	struct buf text, got;

	assert_non_null(bar);
	*bar = 0;
	buf_init(&text);
	buf_init(&got);
	container_text(&text, bar + 3);
	list = container_parallel(
		fixture_object(&fixture, text.data)->pods->containers);
	for (size_t i = 0; i < list.n; i++) {
		buf_adds(&got, i ? "; " : "");
		describe(&got, &list.items[i]);
	}
	if (!list.n)
		buf_adds(&got, "none");
	if (strcmp(got.data, line))
		print_error("parallel.txt:%d: %s\n  expected %s\n"
			    "  got      %s\n",
			    number, bar + 3, line, got.data);
	*differs |= strcmp(got.data, line) != 0;
	buf_release(&got);
	buf_release(&text);
	fixture_release(&fixture);
}

static void commands_request_processes_and_devices(void **state)
{
	FILE *file = fopen("tests/unit/parallel.txt", "r");
	char line[1024];
	int number = 0, checked = 0;
	bool differs = false;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		number++;
		line[strcspn(line, "\n")] = 0;
		if (!*line || *line == '#')
			continue;
		line_check(line, number, &differs);
		checked++;
	}
	fclose(file);
	assert_true(checked >= 150);
	assert_false(differs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_request_processes_and_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
