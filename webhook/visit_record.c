/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a review leaves behind: figures, and a line of the log when something
 * was done about it.
 */
#include "visit.h"

#include "kube/cluster.h"

static const char *const modes[] = {
	[MODE_AUDIT] = "audit",
	[MODE_WARN] = "warn",
	[MODE_ENFORCE] = "enforce",
};

void visit_count_unjudged(const struct visit *visit,
			  enum metrics_counter reason)
{
	metrics_add(visit->options->metrics, reason, 1);
}

void visit_count_not_run(struct visit *visit)
{
	size_t n;
	struct metrics *metrics = visit->options->metrics;
	struct not_run *items = run_not_run(&visit->worker->now.run, &n);

	for (size_t i = 0; i < n; i++) {
		if (!items[i].count)
			continue;
		/* It stays the same: asked once. */
		if (!items[i].mark)
			items[i].mark = metrics_rule_number(
				metrics, items[i].rule->name);
		metrics_count_not_run(metrics, items[i].mark);
	}
}

void visit_count_findings(struct visit *visit)
{
	struct judge *now = &visit->worker->now;

	for (size_t i = 0; i < now->n; i++) {
		const struct finding *f = &now->findings[i];
		struct decision d = decide(&visit->circumstances, f);
		struct metrics_finding m = {
			.rule = f->rule->name,
			.action = deed_name(d.deed),
			.mode = modes[f->mode],
			.level = visit->circumstances.pod ? "pod" : "owner",
			.namespace = visit->review.namespace,
			.gpus = now->gpus,
		};

		if (d.deed != DEED_NONE)
			metrics_count_finding(visit->options->metrics, &m);
	}
	for (size_t i = 0; i < visit->verdict.patched.n; i++)
		metrics_count_patch(visit->options->metrics,
				    visit->verdict.patched.items[i]);
	if (visit->verdict.break_glass)
		metrics_count_break_glass(visit->options->metrics);
}

static uint64_t nanoseconds_since(const struct timespec *began)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((now.tv_sec - began->tv_sec) * 1000000000LL +
			  (now.tv_nsec - began->tv_nsec));
}

static const char *full_kind(struct visit *visit)
{
	const struct review *r = &visit->review;

	if (!*r->group)
		return r->kind;
	return arena_printf(&visit->worker->arena, "%s.%s", r->kind, r->group);
}

static const char *owner_of(struct visit *visit)
{
	const struct node *owners = node_path(visit->review.object.root,
					      "metadata.ownerReferences");

	FOR_EACH_CHILD(owners, owner) {
		const char *kind = node_str(node_get(owner, "kind"));
		const char *name = node_str(node_get(owner, "name"));

		if (kind && name && node_is_true(node_get(owner, "controller")))
			return arena_printf(&visit->worker->arena, "%s/%s",
					    kind, name);
	}
	return NULL;
}

void visit_record(struct visit *visit)
{
	const struct door_options *options = visit->options;
	const struct review *r = &visit->review;
	const struct verdict *v = &visit->verdict;
	struct metrics_request request = {
		.webhook = visit->path == DOOR_MUTATE ? "mutate" : "validate",
		.operation = r->operation ? r->operation_name : "other",
		.kind = full_kind(visit),
		.decision = deed_name(v->deed),
		.dry_run = r->dry_run,
		.nanoseconds = nanoseconds_since(&visit->began),
	};
	struct log_decision line = {
		.uid = r->uid,
		.webhook = request.webhook,
		.operation = r->operation_name,
		.user = r->user,
		.namespace = r->namespace,
		.kind = request.kind,
		.name = r->name,
		.rules = v->rules.items,
		.nrules = v->rules.n,
		.decision = request.decision,
		.would = v->would > v->deed ? deed_name(v->would) : NULL,
		.mode = modes[visit->mode],
		.policy = visit->hash,
		.break_glass = v->break_glass,
		.state_age =
			visit->cluster
				? visit->now - cluster_taken_at(visit->cluster)
				: -1,
		.dry_run = r->dry_run,
		.nanoseconds = request.nanoseconds,
	};

	metrics_count_request(options->metrics, &request);
	if (!v->rules.n)
		return;
	line.owner = owner_of(visit);
	if (visit->worker->now.n)
		line.mode = modes[visit->worker->now.findings[0].mode];
	log_decision(options->log, &line);
}
