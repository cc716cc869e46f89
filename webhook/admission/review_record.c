/* SPDX-License-Identifier: Apache-2.0 */
/* Records a review: metrics, and a line in the log if a finding was denied,
 * patched, warned about or audited. */
#include "review_context.h"

#include "kube/cluster/cluster.h"

static const char *const modes[] = {
	[MODE_AUDIT] = "audit",
	[MODE_WARN] = "warn",
	[MODE_ENFORCE] = "enforce",
};

void record_unjudged(const struct review_context *ctx,
		     enum metrics_counter reason)
{
	metrics_add(ctx->options->metrics, reason, 1);
}

void record_not_run(struct review_context *ctx)
{
	size_t n;
	struct metrics *metrics = ctx->options->metrics;
	struct not_run *items = run_not_run(&ctx->worker->now.run, &n);

	for (size_t i = 0; i < n; i++) {
		if (!items[i].count)
			continue;
		/* A rule keeps its number, so the number is looked up only
		 * once. */
		if (!items[i].mark)
			items[i].mark = metrics_rule_number(
				metrics, items[i].rule->name);
		metrics_count_not_run(metrics, items[i].mark);
	}
}

void record_rule_not_run(const struct review_context *ctx, const char *rule)
{
	struct metrics *metrics = ctx->options->metrics;

	metrics_count_not_run(metrics, metrics_rule_number(metrics, rule));
}

void record_findings(struct review_context *ctx)
{
	struct judge *now = &ctx->worker->now;

	for (size_t i = 0; i < now->n; i++) {
		const struct finding *f = &now->findings[i];
		struct decision d = decide(&ctx->request, f);
		struct metrics_finding m = {
			.rule = f->rule->name,
			.action = outcome_name(d.outcome),
			.mode = modes[f->mode],
			.level = ctx->request.pod ? "pod" : "owner",
			.namespace = ctx->review.namespace,
			.gpus = now->gpus,
		};

		if (d.outcome != OUTCOME_NONE)
			metrics_count_finding(ctx->options->metrics, &m);
	}
	for (size_t i = 0; i < ctx->verdict.patched.n; i++)
		metrics_count_patch(ctx->options->metrics,
				    ctx->verdict.patched.items[i]);
	if (ctx->verdict.break_glass)
		metrics_add(ctx->options->metrics, METRICS_BREAK_GLASS, 1);
}

static uint64_t nanoseconds_since(const struct timespec *began)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((now.tv_sec - began->tv_sec) * 1000000000LL +
			  (now.tv_nsec - began->tv_nsec));
}

static const char *full_kind(struct review_context *ctx)
{
	const struct review *r = &ctx->review;

	if (!*r->group)
		return r->kind;
	return arena_printf(&ctx->worker->arena, "%s.%s", r->kind, r->group);
}

static const char *owner_of(struct review_context *ctx)
{
	const struct node *owners =
		node_path(ctx->review.object.root, "metadata.ownerReferences");

	FOR_EACH_CHILD(owners, owner) {
		const char *kind = node_str(node_get(owner, "kind"));
		const char *name = node_str(node_get(owner, "name"));

		if (kind && name && node_is_true(node_get(owner, "controller")))
			return arena_printf(&ctx->worker->arena, "%s/%s", kind,
					    name);
	}
	return NULL;
}

void record_review(struct review_context *ctx)
{
	const struct admission_options *options = ctx->options;
	const struct review *r = &ctx->review;
	const struct verdict *v = &ctx->verdict;
	struct metrics_request request = {
		.webhook =
			ctx->path == ADMISSION_MUTATE ? "mutate" : "validate",
		.operation = r->operation ? r->operation_name : "other",
		.kind = full_kind(ctx),
		.decision = outcome_name(v->outcome),
		.dry_run = r->dry_run,
		.nanoseconds = nanoseconds_since(&ctx->began),
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
		.would = v->would > v->outcome ? outcome_name(v->would) : NULL,
		.mode = modes[ctx->mode],
		.policy = ctx->hash,
		.break_glass = v->break_glass,
		.state_age = ctx->cluster
				     ? ctx->now - cluster_taken_at(ctx->cluster)
				     : -1,
		.dry_run = r->dry_run,
		.nanoseconds = request.nanoseconds,
	};

	metrics_count_request(options->metrics, &request);
	if (!v->rules.n)
		return;
	line.owner = owner_of(ctx);
	if (ctx->worker->now.n)
		line.mode = modes[ctx->worker->now.findings[0].mode];
	log_decision(options->log, &line);
}
