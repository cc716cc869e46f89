/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects for a cluster builder, written as JSON.
 */
#ifndef CLUSTER_FIXTURE_H
#define CLUSTER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doc/load.h"
#include "kube/cluster/cluster.h"

static inline void no_issue(void *context, const struct load_issue *issue)
{
	(void)context;
	fail_msg("fixture: %s", issue->text);
}

static inline const struct node *json_tree(struct arena *arena,
					   const char *text)
{
	struct source *source = ARENA_NEW(arena, struct source);
	struct loader loader;
	uint32_t used;

	source_init(source, arena, "fixture", text, strlen(text));
	loader_init(&loader, source, &load_limits_default, arena);
	loader.issue = no_issue;
	return json_read(&loader, 0, (uint32_t)strlen(text), &used);
}

/* What cluster_builder_add() says; -1 too when err was not filled in. */
static inline int add_json(struct cluster_builder *b, const char *text)
{
	struct arena arena = ARENA_INIT;
	struct cluster_item item = {NULL, NULL, json_tree(&arena, text)};
	struct err err = {0};
	int rc = cluster_builder_add(b, &item, &err);

	if ((rc < 0) != (err.set != 0))
		fail_msg("rc %d, err %d: %s", rc, err.set, err.text);
	arena_release(&arena);
	return rc;
}

static inline struct cluster *parse_text(const char *text, struct err *err)
{
	const struct cluster_text whole = {"cluster.json", text, strlen(text)};

	return cluster_parse(&whole, NULL, NULL, err);
}

#define HEAD                                                                   \
	"{\"apiVersion\":\"gpugate.dev/v1\",\"kind\":\"ClusterSnapshot\","     \
	"\"version\":1,\"takenAt\":\"2026-01-31T08:00:00Z\""

#endif
