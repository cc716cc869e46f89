/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_bench ROUNDS FILE...: measures what the YAML reader costs in addition to
 * libyaml. All files are read into memory. Then each round reads them with the
 * loader and with a bare loop over libyaml's events, in turn. Prints the
 * fastest round of each, with their ratio.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yaml.h>

#include "base/arena.h"
#include "doc/load.h"
#include "doc/source.h"

struct text {
	char *data;
	size_t len;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct text slurp(const char *name)
{
	struct text text = {0};
	FILE *file = fopen(name, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		exit(2);
	rewind(file);
	text.data = malloc((size_t)size + 1);
	text.len = fread(text.data, 1, (size_t)size, file);
	fclose(file);
	return text;
}

static unsigned long bare_events(const struct text *text)
{
	unsigned long n = 0;
	yaml_parser_t parser;
	yaml_event_t event;
	bool more = true;

	yaml_parser_initialize(&parser);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text->data,
				     text->len);
	while (more && yaml_parser_parse(&parser, &event)) {
		more = event.type != YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		n++;
	}
	yaml_parser_delete(&parser);
	return n;
}

static unsigned long our_reader(const struct text *text, struct arena *arena)
{
	unsigned long n = 0;
	struct source source;
	struct loader loader;
	struct doc doc;

	arena_reset(arena);
	source_init(&source, arena, "-", text->data, text->len);
	loader_init(&loader, &source, &load_limits_default, arena);
	while (loader_next(&loader, &doc))
		n += doc.root != NULL;
	return n;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0;
	struct text *texts = calloc((size_t)argc, sizeof(*texts));
	double best[2] = {1e9, 1e9};
	struct arena arena = ARENA_INIT;
	unsigned long events = 0, documents = 0;

	for (int i = 2; i < argc; i++)
		texts[i] = slurp(argv[i]);
	for (int round = 0; round < rounds; round++) {
		double start = now(), middle, end;

		events = documents = 0;
		for (int i = 2; i < argc; i++)
			events += bare_events(&texts[i]);
		middle = now();
		for (int i = 2; i < argc; i++)
			documents += our_reader(&texts[i], &arena);
		end = now();
		best[0] = middle - start < best[0] ? middle - start : best[0];
		best[1] = end - middle < best[1] ? end - middle : best[1];
	}
	printf("libyaml %.2f ms (%lu events), reader %.2f ms (%lu documents), "
	       "ratio %.3f\n",
	       best[0], events, best[1], documents, best[1] / best[0]);
	for (int i = 2; i < argc; i++)
		free(texts[i].data);
	free(texts);
	arena_release(&arena);
	return 0;
}
