/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that several commands share: clusters as input, requests of a git
 * revision, and rules as JSON.
 */
#ifndef LINT_COMMANDS_H
#define LINT_COMMANDS_H

#include <jansson.h>

#include "engine/rule.h"
#include "lint/options/options.h"
#include "lint/run/lint.h"
#include "lint/settings/settings.h"

/*
 * Reads a cluster through kubectl in place of files: its objects, and its
 * state.
 */

struct live_cluster {
	struct arena arena;
	struct cluster *state;
	struct lint_text *texts; /* one for each object */
	size_t n, size;
	bool incomplete; /* something could not be read, which was reported */
};

/* Reads the snapshot and the objects that the options request from the cluster.
 * Sets options->asked to the snapshot. Returns 0, also if nothing is requested,
 * or 2 after messages. */
int live_open(struct live_cluster *live, struct options *options,
	      const char *command);
/* Frees the objects; call it when the options are not used any more. */
void live_release(struct live_cluster *live);

/* Adds the workloads of a git revision to a table of quotas, for `gpugate quota
 * --since`. */

struct quota_since;
struct quota_since *quota_since_open(struct lint *lint, const char *revision,
				     struct err *err);
/* Implements quota_maker.changed. */
bool quota_since_changed(void *since, const char *path);
/* Adds the workloads of changed files as they are in the revision. Returns 0 or
 * -1. */
int quota_since_add(struct quota_since *since, struct quota_table *table,
		    const struct object_index *quotas, struct err *err);
void quota_since_close(struct quota_since *since);

/* Rules as JSON, in the form of `gpugate rules` and `gpugate explain`. */

/* Loads the rules of the current folder's policy, including custom ones; the
 * caller releases the policies. Returns 0; or 2 after messages, with only the
 * built-in rules. */
int rules_here(struct policies *policies, struct options *options,
	       struct rule_set *rules);
/* Adds the text of `gpugate explain --format markdown`. */
void explain_markdown(struct buf *out, const struct rule *rule);
/* Makes a new JSON object with copies of the texts. */
json_t *rule_json(const struct rule *rule);
/* Appends the JSON and a newline, and releases the reference. */
void add_json(struct buf *out, json_t *json);

#endif
