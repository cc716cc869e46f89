/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the engine on one object. The document of a review has no placeholders,
 * fragments or comments: every value is literal.
 *
 * An object is patched for rules whose action in the policy is `patch`: by safe
 * fixes, and by unsafe ones if the policy sets the action of the rule to
 * `patch` (or the rule has no safe fix). The patch is also computed if the mode
 * forbids patches, because an audit reports what would be patched.
 *
 * Findings are returned without the object's secret values, because responses
 * are kept in audit logs and events.
 */
#include "judge.h"

#include <string.h>

#include "doc/edit.h"

bool judge_patches(const struct finding *f)
{
	unsigned flags = f->rule->flags;

	return f->action == ACTION_PATCH && f->fix_title && !f->suppressed &&
	       !f->exempt_lately &&
	       (f->fix_safe ||
		(flags & RULE_OPT_IN_PATCH &&
		 (f->action_fixed || !(flags & RULE_SAFE_PATCH))));
}

static bool wants_repair(void *context, const struct finding *f)
{
	struct judge *judge = context;

	return judge->wants_patch && judge_patches(f);
}

static void take_repair(void *context, const struct doc *doc,
			struct edit_list *edits)
{
	struct judge *judge = context;
	struct node *root = (struct node *)(uintptr_t)doc->root;
	struct node *patch;

	if (!judge->wants_patch)
		return;
	patch = edits_patch_onto(edits, root, &judge->arena);
	if (!node_count(patch))
		return;
	judge->patch = patch;
	judge->patched = root;
}

/* Returns true if the review's bytes may contain secrets. Most reviews contain
 * none, and scanning the bytes costs a tenth of scanning the tree. */
static bool may_hold_secrets(const struct judge *judge)
{
	const struct source *source = judge->doc.source;

	if (*judge->may_hold == TRI_UNKNOWN)
		*judge->may_hold =
			secrets_possible(source->text, source->len) ||
					secrets_plain(source->text, source->len)
				? TRI_YES
				: TRI_NO;
	return *judge->may_hold == TRI_YES;
}

static void take_findings(void *context, uint32_t file,
			  struct finding **findings, size_t n)
{
	struct judge *judge = context;
	struct secrets *secrets = &judge->secrets;

	/* Findings of an object that is too costly are not reported, and a
	 * search for secrets in it would take too long. */
	if (judge->run.costly)
		return;
	judge->findings =
		arena_alloc(&judge->arena, n * sizeof(*judge->findings));
	judge->n = n;
	for (size_t i = 0; i < n; i++)
		judge->findings[i] = *findings[i];
	*secrets = (struct secrets){.arena = &judge->arena};
	if (!may_hold_secrets(judge))
		return;
	secrets_of_tree(secrets, judge->doc.root);
	secrets_finish(secrets);
	for (size_t i = 0; i < n; i++)
		finding_mask(&judge->findings[i], secrets, &judge->arena);
}

static void take_workload(void *context, const struct workload *w)
{
	struct judge *judge = context;

	if (judge->reserve)
		reserve_note(judge->reserve, w);
}

void judge_init(struct judge *judge, const struct rule_set *rules)
{
	struct run_options options = {
		.rules = rules,
		.partial = true,
		.admission = true,
		.sink = take_findings,
		.repair = take_repair,
		.wants_repair = wants_repair,
		.workload = take_workload,
		.context = judge,
	};

	memset(judge, 0, sizeof(*judge));
	run_init(&judge->run, &options);
}

void judge_release(struct judge *judge)
{
	run_release(&judge->run);
	arena_release(&judge->arena);
}

void judge_drop(struct judge *judge)
{
	run_drop(&judge->run);
	arena_reset(&judge->arena);
	judge->findings = NULL;
	judge->n = 0;
}

void judge_object(struct judge *judge, const struct judge_request *c)
{
	struct doc doc = *c->doc;
	struct run_file file = {
		.source = doc.source,
		.policy = c->policy,
		.default_namespace = c->namespace,
		.namespace_labels = c->namespace_labels,
		.request = c->request,
		.old_object = c->old_object,
		.old_unknown = c->old_unknown,
		.budget = c->budget,
	};

	arena_reset(&judge->arena);
	judge->findings = NULL;
	judge->n = 0;
	judge->patch = judge->patched = NULL;
	judge->wants_patch = c->patch;
	judge->doc = doc;
	judge->may_hold = c->secrets;
	run_restart(&judge->run);
	judge->run.options.now = c->now;
	judge->run.options.today = c->now / 86400;
	judge->run.options.cluster = c->cluster;
	judge->run.options.wanted = c->wanted;
	judge->reserve = c->reserve;
	judge->run.options.reservations =
		c->reserve ? reserve_view(c->reserve) : NULL;
	judge->absences = (struct cluster_absences){.arena = &judge->arena};
	judge->run.options.absences = &judge->absences;
	cluster_absences_record(&judge->absences);
	run_begin_file(&judge->run, &file);
	run_document(&judge->run, &doc);
	run_end_file(&judge->run);
	cluster_absences_record(NULL);
	judge->gpus = judge->run.counts.gpus;
	judge->costly = judge->run.costly;
}
