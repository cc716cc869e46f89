/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds objects, written as flow YAML, to a cluster builder; and the start of a
 * state file.
 */
#ifndef CLUSTER_FIXTURE_H
#define CLUSTER_FIXTURE_H

#include "kube/cluster/cluster.h"
#include "value_reading.h"

/*
 * Returns the result of cluster_builder_add(). The test fails unless err is set
 * exactly if that is negative.
 */
static inline int add_root(struct cluster_builder *b, const struct node *root)
{
	struct cluster_item item = {NULL, NULL, root};
	struct err err = {0};
	int rc = cluster_builder_add(b, &item, &err);

	if ((rc < 0) != (err.set != 0))
		fail_msg("rc %d, err %d: %s", rc, err.set, err.text);
	return rc;
}

static inline int add_object(struct cluster_builder *b, const char *yaml)
{
	struct reading reading;
	int rc = add_root(b, read_value(&reading, yaml));

	reading_release(&reading);
	return rc;
}

/* The start of a state file. */
#define HEAD                                                                   \
	"{\"apiVersion\":\"gpugate.dev/v1\",\"kind\":\"ClusterSnapshot\","     \
	"\"version\":1,\"takenAt\":\"2026-01-31T08:00:00Z\""

#endif
