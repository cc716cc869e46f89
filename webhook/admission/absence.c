/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the API server about objects that the cluster state lacks. The state is
 * up to a second behind the API server, so a missing object may have been
 * created since. A denial that depends on a missing object therefore waits for
 * the API server's answer about that object. The state stores the objects of
 * the answers; that an object is missing is stored nowhere, because it may
 * exist a moment later.
 */
#include <string.h>

#include "review_context.h"
#include "webhook/observe/monotonic.h"

/* Time that the API server gets for all questions of one review. */
enum { ASK_MS = 50 };

static bool can_ask(const struct review_context *ctx)
{
	return review_asker(ctx)->ask && ctx->cluster;
}

/* Returns the index of the absence in proof->asked, or proof->n if the API
 * server was not asked about it. */
static size_t number_of(const struct absence_proof *proof,
			const struct cluster_absence *one)
{
	size_t i = 0;

	while (i < proof->n && !cluster_absence_same(&proof->asked[i], one))
		i++;
	return i;
}

/* Adds the absence to the objects to ask about, unless it is among them or
 * their number is at its limit. Copies its names, because the judge frees them
 * with its next object. */
static void want(struct review_context *ctx, const struct cluster_absence *one)
{
	struct absence_proof *proof = &ctx->proof;
	struct arena *arena = &ctx->worker->arena;

	if (number_of(proof, one) < proof->n || proof->n == CLUSTER_ABSENCES)
		return;
	proof->asked[proof->n++] = (struct cluster_absence){
		one->kind, arena_strdup(arena, one->namespace),
		one->name ? arena_strdup(arena, one->name) : NULL};
}

/* Asks the API server about proof->asked from index `from` on, within the time
 * that is left of ASK_MS. */
static void ask(struct review_context *ctx, size_t from)
{
	const struct admission_asker *asker = review_asker(ctx);
	struct absence_proof *proof = &ctx->proof;
	int64_t now = monotonic_ms();

	if (!proof->deadline)
		proof->deadline = now + ASK_MS;
	if (now < proof->deadline)
		proof->answered |=
			asker->ask(asker->context, proof->asked + from,
				   proof->n - from,
				   (unsigned)(proof->deadline - now))
			<< from;
}

static bool all_answered(const struct absence_proof *proof)
{
	return proof->answered == (UINT32_C(1) << proof->n) - 1;
}

/* --- namespaces ----------------------------------------------------------- */

static bool labels_matter(const struct review_context *ctx)
{
	return *ctx->review.namespace && policy_asks_namespaces(ctx->policy) &&
	       !cluster_unreadable(ctx->cluster, CLUSTER_NAMESPACE);
}

static void want_namespace(struct review_context *ctx)
{
	want(ctx, &(struct cluster_absence){CLUSTER_NAMESPACE, "",
					    ctx->review.namespace});
}

bool absence_ask_namespace(struct review_context *ctx)
{
	if (!can_ask(ctx) || !labels_matter(ctx) || ctx->proof.n)
		return false;
	want_namespace(ctx);
	ask(ctx, 0);
	ctx->proof.labels_unknown = !all_answered(&ctx->proof);
	return review_renew_state(ctx);
}

/* --- denials -------------------------------------------------------------- */

static bool denies(const struct review_context *ctx, const struct finding *f)
{
	return decide(&ctx->request, f).outcome == OUTCOME_DENY;
}

static void want_absences(struct review_context *ctx, const struct finding *f)
{
	const struct cluster_absences *all = &ctx->worker->now.absences;

	for (size_t i = 0; i < all->n; i++)
		if (f->absences >> i & 1)
			want(ctx, &all->items[i]);
}

bool absence_judge_again(struct review_context *ctx)
{
	const struct judge *now = &ctx->worker->now;
	size_t from = ctx->proof.n;

	if (ctx->verdict.allowed || !can_ask(ctx))
		return false;
	for (size_t i = 0; i < now->n; i++)
		if (now->findings[i].absences && denies(ctx, &now->findings[i]))
			want_absences(ctx, &now->findings[i]);
	/* The mode may depend on the labels of the namespace, which may have
	 * changed. */
	if (labels_matter(ctx))
		want_namespace(ctx);
	if (ctx->proof.n == from)
		return false;
	ask(ctx, from);
	return review_renew_state(ctx) || !all_answered(&ctx->proof);
}

/* --- without an answer ---------------------------------------------------- */

/* Returns true if the finding depends on more absences than were recorded, or
 * on one about which the API server did not answer. An absence about which it
 * was not asked counts only if no more questions are possible. */
static bool is_unproven(const struct review_context *ctx,
			const struct finding *f)
{
	const struct cluster_absences *all = &ctx->worker->now.absences;
	const struct absence_proof *proof = &ctx->proof;
	bool full = proof->n == CLUSTER_ABSENCES;

	for (size_t i = 0; i < all->n; i++) {
		size_t n = number_of(proof, &all->items[i]);

		if (f->absences >> i & 1 &&
		    (n < proof->n ? !(proof->answered >> n & 1) : full))
			return true;
	}
	return f->absences & CLUSTER_ABSENCE_MORE && can_ask(ctx);
}

void absence_drop(struct review_context *ctx)
{
	struct judge *now = &ctx->worker->now;
	size_t kept = 0;

	for (size_t i = 0; i < now->n; i++) {
		const struct finding *f = &now->findings[i];
		bool unproven = f->absences && is_unproven(ctx, f);
		bool denied = (unproven || ctx->proof.labels_unknown) &&
			      denies(ctx, f);

		if (denied)
			record_rule_not_run(ctx, f->rule->name);
		if (!denied || !unproven)
			now->findings[kept++] = *f;
	}
	now->n = kept;
	/* If the labels of the namespace are unknown, the request is lenient:
	 * it is never denied. */
	ctx->request.lenient |= ctx->proof.labels_unknown;
}
