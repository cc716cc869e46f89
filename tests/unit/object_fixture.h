/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects from YAML text for tests, and an object's pods as a line of text:
 * "Role:steady/peakxgpus ... | gpus/peak gang N kind". A plus after a number
 * marks a lower bound.
 */
#ifndef TESTS_OBJECT_FIXTURE_H
#define TESTS_OBJECT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "doc/load.h"
#include "kube/object.h"

struct fixture {
	struct arena arena;
	struct kube_config config;
	struct object_list list;
	/* a List inside of a List, if there is one */
	const struct node *nested;
};

static inline void fixture_read(struct fixture *fixture, const char *yaml)
{
	struct source *source = ARENA_NEW(&fixture->arena, struct source);
	struct loader loader;
	struct doc *doc = ARENA_NEW(&fixture->arena, struct doc);

	source_init(source, &fixture->arena, "test.yaml", yaml, strlen(yaml));
	loader_init(&loader, source, &load_limits_default, &fixture->arena);
	while (loader_next(&loader, doc)) {
		const struct node *nested = NULL;

		assert_non_null(doc->root);
		placeholder_mark(doc);
		object_read(&fixture->arena, &fixture->config, doc,
			    &fixture->list, &nested);
		if (nested)
			fixture->nested = nested;
		doc = ARENA_NEW(&fixture->arena, struct doc);
	}
}

static inline void fixture_release(struct fixture *fixture)
{
	arena_release(&fixture->arena);
	memset(fixture, 0, sizeof(*fixture));
}

/* Returns the first object of the text. */
static inline const struct object *fixture_object(struct fixture *fixture,
						  const char *yaml)
{
	fixture_read(fixture, yaml);
	assert_true(fixture->list.n > 0);
	return &fixture->list.items[0];
}

static inline const struct pod *fixture_pod(struct fixture *fixture,
					    const char *yaml)
{
	const struct object *object = fixture_object(fixture, yaml);

	assert_true(object->npods > 0);
	return &object->pods[0];
}

static inline void add_amount(struct buf *out, struct amount amount)
{
	buf_addf(out, "%lld%s", (long long)amount.n, amount.unknown ? "+" : "");
}

static inline void object_line(const struct object *object, struct buf *out)
{
	static const char *const kinds[] = {"none", "operator", "needed"};

	FOR_EACH_POD(object, pod) {
		buf_addf(out, "%s:", pod->role);
		add_amount(out, pod->steady);
		buf_addc(out, '/');
		add_amount(out, pod->peak);
		buf_addc(out, 'x');
		add_amount(out, pod->gpus);
		buf_addc(out, ' ');
	}
	buf_adds(out, "| ");
	add_amount(out, object->gpus);
	buf_addc(out, '/');
	add_amount(out, object->gpus_peak);
	buf_adds(out, " gang ");
	add_amount(out, object->gang);
	buf_addf(out, " %s", kinds[object->gang_kind]);
	for (size_t i = 0; i < object->nembedded; i++) {
		buf_adds(out, " [");
		add_amount(out, object->embedded[i].copies);
		buf_adds(out, " of ");
		object_line(&object->embedded[i], out);
		buf_addc(out, ']');
	}
}

/* One row of a table: the object in this YAML must give this line. */
struct object_row {
	const char *yaml, *line;
};

static inline void check_rows(const struct object_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct fixture fixture = {0};
		struct buf line;

		buf_init(&line);
		object_line(fixture_object(&fixture, rows[i].yaml), &line);
		if (strcmp(line.data, rows[i].line))
			print_error("row %zu:\n%s\n", i, rows[i].yaml);
		assert_string_equal(line.data, rows[i].line);
		buf_release(&line);
		fixture_release(&fixture);
	}
}

/* A pod spec with one container that requests n GPUs. */
#define GPU_SPEC(n)                                                            \
	"{containers: [{name: c, image: i, resources: {limits: "               \
	"{nvidia.com/gpu: " #n "}}}]}"
#define GPU_POD(n) "{spec: " GPU_SPEC(n) "}"

#endif
