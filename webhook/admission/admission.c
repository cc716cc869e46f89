/* SPDX-License-Identifier: Apache-2.0 */
/* Processes a review: reads its bytes, checks the object, and writes the bytes
 * of the response. */
#include "admission.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/escape.h"
#include "doc/build.h"
#include "doc/load.h"
#include "judge.h"
#include "kube/cluster/cluster.h"
#include "review_context.h"

/* Same limit as in `gpugate lint --fix`. */
enum { PATCH_ROUNDS = 10 };

/* --- workers -------------------------------------------------------------- */

static void free_worker(void *worker)
{
	admission_worker_free(worker);
}

struct admission_worker *admission_worker_new(struct admission *admission)
{
	struct admission_worker *worker = calloc(1, sizeof(*worker));
	struct escape_guard guard;

	if (!worker)
		OUT_OF_MEMORY();
	worker->admission = admission;
	buf_init(&worker->out);
	escape_guard(&guard, free_worker, worker);
	judge_init(&worker->now, admission->options.rules);
	judge_init(&worker->other, admission->options.rules);
	escape_unguard(&guard);
	return worker;
}

void admission_worker_free(struct admission_worker *worker)
{
	if (!worker)
		return;
	judge_release(&worker->now);
	judge_release(&worker->other);
	arena_release(&worker->arena);
	buf_release(&worker->out);
	free(worker);
}

/* --- one review ----------------------------------------------------------- */

/* Returns the cluster state, or NULL if it is too old by the default limit. An
 * old state still provides the labels of namespaces for exemptions. */
static const struct cluster *usable_state(const struct review_context *ctx)
{
	int64_t max = ctx->options->state_max_age;

	if (!ctx->cluster || !max || policy_max_age(ctx->policy) ||
	    ctx->now - cluster_taken_at(ctx->cluster) <= max)
		return ctx->cluster;
	return NULL;
}

static struct judge_request case_of(struct review_context *ctx,
				    const struct doc *doc)
{
	return (struct judge_request){
		.doc = doc,
		.policy = ctx->policy,
		.request = ctx->review.request,
		.old_object = ctx->review.old.root,
		/* too long to read, or older than the old object */
		.old_unknown =
			ctx->review.old_too_long || doc == &ctx->review.old,
		.namespace =
			*ctx->review.namespace ? ctx->review.namespace : NULL,
		.namespace_labels = ctx->namespace_labels,
		.cluster = usable_state(ctx),
		.now = ctx->now,
		.budget = &ctx->budget,
		.secrets = &ctx->secrets,
	};
}

/* Compares with the old object: marks findings that it had as well, and notes
 * whether the requests have changed. */
static void compare_with_old(struct review_context *ctx)
{
	struct request_context *c = &ctx->request;
	struct judge *now = &ctx->worker->now, *old = &ctx->worker->other;
	struct judge_request before = case_of(ctx, &ctx->review.old);
	struct demand_change change;

	if (!ctx->review.old.root || ctx->review.old_too_long)
		return;
	judge_object(old, &before);
	if (old->costly)
		return;
	change = demand_compare(&ctx->worker->arena, run_kube(&now->run),
				&ctx->review.object, &ctx->review.old);
	c->demand_grew = change.grew || (change.resumed && !c->controller);
	if (ratchet(&ctx->worker->arena, c,
		    &(struct object_findings){now->findings, now->n},
		    &(struct object_findings){old->findings, old->n}))
		return;
	c->demand_fell = change.fell;
	c->lenient |= update_is_metadata(ctx->review.object.root,
					 ctx->review.old.root);
}

enum after_patch { PATCH_HOLDS, PATCH_GOES_ON, PATCH_FAILS, PATCH_COSTLY };

static bool was_found(const struct judge *now, const struct finding *f,
		      size_t *next)
{
	/* Both lists have the same order, so usually the next item matches. */
	for (size_t i = 0; i < now->n; i++, ++*next)
		if (now->findings[*next % now->n].fingerprint == f->fingerprint)
			return true;
	return false;
}

/*
 * Checks the object again after the patch: every finding that should be patched
 * must be fixed, and no new finding may deny. A fix may cause the next one:
 * without the node's IPC namespace, a pod needs a volume for /dev/shm.
 */
static enum after_patch look_after_patch(struct review_context *ctx)
{
	struct judge *now = &ctx->worker->now, *then = &ctx->worker->other;
	struct doc doc = ctx->review.object;
	struct judge_request after;
	bool goes_on = false;
	size_t next = 0;

	ctx->budget = load_cost_object; /* the same documents again */
	doc.root = now->patched;
	doc.json = false; /* the object's bytes do not contain the patch */
	after = case_of(ctx, &doc);
	after.patch = true;
	after.wanted = WANT_OUTCOMES;
	judge_object(then, &after);
	if (then->costly)
		return PATCH_COSTLY;
	for (size_t i = 0; i < then->n; i++) {
		const struct finding *f = &then->findings[i];

		if (judge_patches(f))
			goes_on = true;
		else if (!f->suppressed && f->action == ACTION_DENY &&
			 !was_found(now, f, &next))
			return PATCH_FAILS;
	}
	if (goes_on)
		return then->patch ? PATCH_GOES_ON : PATCH_FAILS;
	return PATCH_HOLDS;
}

/* Copies a finding that only the patched object has, for the report. */
static struct finding as_patched(struct arena *arena, const struct finding *f)
{
	return (struct finding){
		.rule = f->rule,
		.severity = f->severity,
		.action = f->action,
		.action_fixed = f->action_fixed,
		.severity_fixed = f->severity_fixed,
		.mode = f->mode,
		.controller_pods = f->controller_pods,
		.fingerprint = f->fingerprint,
		.message = arena_strdup(arena, f->message),
		.fix_title = arena_strdup(arena, f->fix_title),
		.fix_safe = f->fix_safe,
	};
}

static void own_texts(struct arena *arena, struct node *node)
{
	if (node->key)
		node->key = arena_strndup(arena, node->key, node->key_len);
	if (node->type != NODE_MAP && node->type != NODE_SEQ &&
	    node->type != NODE_NULL)
		node->str = arena_strndup(arena, node->str, node->len);
	FOR_EACH_CHILD(node, child)
		own_texts(arena, (struct node *)(uintptr_t)child);
}

/* Copies the node into the arena; returns NULL if it exceeds the budget. */
static struct node *own_copy(struct arena *arena, const struct node *node,
			     uint32_t *budget)
{
	struct node *copy = node_copy(arena, node, 0, budget);

	if (copy)
		own_texts(arena, copy);
	return copy;
}

/* Adds findings and patch of `other`. Returns false if they are too large. */
static bool join_patch(struct review_context *ctx)
{
	struct judge *now = &ctx->worker->now, *then = &ctx->worker->other;
	struct arena *arena = &ctx->worker->arena;
	struct node *patch = (struct node *)(uintptr_t)now->patch;
	uint32_t budget = load_limits_default.nodes;
	struct finding *all =
		arena_alloc(arena, (now->n + then->n) * sizeof(*now->findings));

	memcpy(all, now->findings, now->n * sizeof(*all));
	now->findings = all;
	for (size_t i = 0; i < then->n; i++)
		if (judge_patches(&then->findings[i]))
			all[now->n++] = as_patched(arena, &then->findings[i]);
	FOR_EACH_CHILD(then->patch, operation) {
		struct node *copy = own_copy(arena, operation, &budget);

		if (!copy)
			return false;
		node_append(patch, copy);
	}
	now->patched = own_copy(arena, then->patched, &budget);
	return now->patched != NULL;
}

/* Patches until no finding remains to be patched. Returns PATCH_FAILS if the
 * patch must not be sent, for example after too many rounds. That is a defect
 * of a rule; /validate checks the object without the patch. */
static enum after_patch settle_patch(struct review_context *ctx)
{
	enum after_patch after = look_after_patch(ctx);

	for (int i = 1; after == PATCH_GOES_ON && i < PATCH_ROUNDS; i++)
		after = join_patch(ctx) ? look_after_patch(ctx) : PATCH_FAILS;
	return after == PATCH_GOES_ON ? PATCH_FAILS : after;
}

static bool is_change(const struct review *review)
{
	return review->operation == OPERATION_CREATE ||
	       review->operation == OPERATION_UPDATE;
}

static bool judge_sees(const struct review *review)
{
	const char *sub = review->subresource;

	return is_change(review) && (!*sub || !strcmp(sub, "resize") ||
				     !strcmp(sub, "ephemeralcontainers"));
}

/*
 * Returns the reason why the object is not checked. A Scale does not contain
 * the requests of its pods. The cluster state has only the running pods: none
 * at zero replicas, and pods of two versions during an update.
 */
static enum metrics_counter why_unjudged(const struct review *review)
{
	if (!is_change(review))
		return METRICS_NOT_JUDGED_OPERATION;
	if (!strcmp(review->subresource, "scale"))
		return METRICS_NOT_JUDGED_SCALE;
	return METRICS_NOT_JUDGED_SUBRESOURCE;
}

static void judge_now(struct review_context *ctx, struct reserve *reserve,
		      enum run_wanted wanted)
{
	struct judge_request what = case_of(ctx, &ctx->review.object);

	what.patch = ctx->request.mutate;
	what.reserve = reserve;
	what.wanted = wanted;
	judge_object(&ctx->worker->now, &what);
}

/*
 * Checks the object for all findings: the first check looked only for findings
 * to patch. Findings that deny after the patch may also have existed before it.
 * The tree is read again, because the patch has changed it.
 */
static enum after_patch settle_patch_again(struct review_context *ctx)
{
	const struct source *source = &ctx->review.source;
	struct review again;

	if (review_read(&ctx->worker->arena, source->text, source->len,
			&again) != REVIEW_GOOD)
		return PATCH_FAILS;
	ctx->review = again;
	ctx->review.object.source = &ctx->review.source;
	ctx->review.old.source = &ctx->review.source;
	judge_drop(&ctx->worker->other);
	ctx->budget = load_cost_object;
	judge_now(ctx, NULL, WANT_OUTCOMES);
	if (ctx->worker->now.costly)
		return PATCH_COSTLY;
	return ctx->worker->now.patch ? settle_patch(ctx) : PATCH_HOLDS;
}

/* Returns false if the patched object is too costly to be checked. */
static bool check_patch(struct review_context *ctx, enum run_wanted wanted)
{
	struct judge *now = &ctx->worker->now;
	enum after_patch after = now->patch ? settle_patch(ctx) : PATCH_HOLDS;

	if (after == PATCH_FAILS && wanted == WANT_PATCHES)
		after = settle_patch_again(ctx);
	if (after != PATCH_FAILS)
		return after == PATCH_HOLDS;
	log_say(ctx->options->log, LOG_ERROR,
		"a patch for %s %s/%s is wrong and was not sent",
		ctx->review.kind, ctx->review.namespace, ctx->review.name);
	now->patch = NULL;
	ctx->request.patchable = false;
	return true;
}

/* Returns which rules to run. For a Pod, /mutate runs only rules that patch:
 * /validate reports the rest. If the policy has exemptions, all rules run. */
static enum run_wanted wanted_of(const struct review_context *ctx)
{
	const struct request_context *c = &ctx->request;

	return c->mutate && c->pod && !policy_has_exemptions(ctx->policy)
		       ? WANT_PATCHES
		       : WANT_ALL;
}

/* Returns false if the object, or the patched one, is too costly to check. */
static bool judge_and_decide(struct review_context *ctx,
			     struct reserve *reserve)
{
	struct request_context *c = &ctx->request;
	struct judge *now = &ctx->worker->now;
	enum run_wanted wanted = wanted_of(ctx);

	judge_now(ctx, reserve, wanted);
	if (now->costly)
		return false;
	if (c->update && (now->n || reserve))
		compare_with_old(ctx);
	absence_drop(ctx);
	if (!check_patch(ctx, wanted))
		return false;
	verdict_of(&ctx->verdict, c, ctx->policy, now);
	return true;
}

static void look_up_namespace(struct review_context *ctx)
{
	if (ctx->cluster && *ctx->review.namespace)
		ctx->namespace_labels =
			cluster_namespace(ctx->cluster, ctx->review.namespace,
					  &ctx->worker->arena);
}

static void know_namespace(struct review_context *ctx)
{
	look_up_namespace(ctx);
	if (!ctx->namespace_labels && absence_ask_namespace(ctx))
		look_up_namespace(ctx);
}

/* Denies an object that cannot be checked, if the mode for it is enforce. */
static void refuse_unread(struct review_context *ctx, const char *problem)
{
	const struct review *review = &ctx->review;
	const struct object object = {.namespace = review->namespace,
				      .kind = review->kind};

	if (!ctx->namespace_labels)
		know_namespace(ctx);
	policy_settings_in(ctx->policy, &object, ctx->namespace_labels,
			   &ctx->mode);
	/* An object with deletionTimestamp is never denied. */
	if (ctx->mode == MODE_ENFORCE &&
	    !node_is_unset(
		    node_path(review->old.root, "metadata.deletionTimestamp")))
		ctx->mode = MODE_WARN;
	verdict_unreadable(&ctx->verdict, ctx->mode, problem);
}

static bool judge_reserving(struct review_context *ctx, struct reserve *reserve)
{
	const struct request_context *c = &ctx->request;
	bool judged;

	ctx->reserve = reserve;
	if (reserve)
		reserve_begin(reserve, ctx->began.tv_sec);
	judged = judge_and_decide(ctx, reserve);
	if (reserve)
		reserve_end(reserve, judged && ctx->verdict.allowed &&
					     !ctx->review.dry_run &&
					     (!c->update || c->demand_grew));
	ctx->reserve = NULL;
	return judged;
}

/* Resets the results before the same object is checked a second time. */
static void start_again(struct review_context *ctx)
{
	request_context_read(&ctx->request, &ctx->review, ctx->policy, false);
	verdict_init(&ctx->verdict, &ctx->worker->arena);
	judge_drop(&ctx->worker->other);
	ctx->budget = load_cost_object;
	look_up_namespace(ctx);
}

/* Checks the object. Only /validate reserves, and not for Pods: ResourceQuota
 * counts them. */
static void judge_review(struct review_context *ctx)
{
	struct request_context *c = &ctx->request;
	struct reserve *reserve = ctx->worker->admission->reserve;
	bool judged;

	request_context_read(c, &ctx->review, ctx->policy,
			     ctx->path == ADMISSION_MUTATE);
	if (c->mutate && !c->patchable) {
		record_unjudged(ctx, METRICS_NOT_JUDGED_NO_PATCH);
		return;
	}
	know_namespace(ctx);
	if (c->mutate || c->pod)
		reserve = NULL;
	judged = judge_reserving(ctx, reserve);
	while (judged && absence_judge_again(ctx)) {
		start_again(ctx);
		judged = judge_reserving(ctx, reserve);
	}
	if (!judged) {
		ctx->worker->now.n = 0;
		refuse_unread(ctx, "its documents, scripts and selectors are "
				   "too many, long or deep to be checked");
		return;
	}
	record_findings(ctx);
	if (c->mutate)
		return;
	record_not_run(ctx);
	if (ctx->worker->now.run.counts.infrastructure)
		record_unjudged(ctx, METRICS_NOT_JUDGED_INFRASTRUCTURE);
}

/* Ends the reservation of an object that is deleted. */
static void release_reservation(struct review_context *ctx)
{
	struct reserve *reserve = ctx->worker->admission->reserve;
	const struct review *r = &ctx->review;
	struct object_id id = {NULL, r->kind, r->namespace, r->name};

	if (!reserve || r->operation != OPERATION_DELETE || r->dry_run ||
	    *r->subresource || ctx->path != ADMISSION_VALIDATE)
		return;
	id.api_version = arena_printf(&ctx->worker->arena, "%s%s%s", r->group,
				      *r->group ? "/" : "", r->version);
	ctx->reserve = reserve;
	reserve_drop(reserve, &id);
	ctx->reserve = NULL;
}

/* --- replies -------------------------------------------------------------- */

static void reply_text(struct admission_worker *worker,
		       struct admission_reply *reply, unsigned status,
		       const char *text)
{
	buf_reset(&worker->out);
	buf_addf(&worker->out, "%s\n", text);
	*reply = (struct admission_reply){
		.status = status,
		.retry_after = status == 503 ? 1 : 0,
		.content_type = "text/plain",
		.body = worker->out.data,
		.len = worker->out.len,
	};
}

static void answer(struct review_context *ctx, enum review_outcome outcome,
		   struct admission_reply *reply)
{
	struct admission_worker *worker = ctx->worker;
	const struct review *review = &ctx->review;

	if (!judge_sees(review)) {
		record_unjudged(ctx, why_unjudged(review));
		release_reservation(ctx);
	} else if (outcome == REVIEW_UNREADABLE) {
		refuse_unread(ctx, review->problem);
	} else if (!review->object.root) {
		refuse_unread(ctx, "request.object is missing");
	} else {
		judge_review(ctx);
	}
	respond(&ctx->verdict, review, ctx->hash, &worker->out);
	record_review(ctx);
	*reply = (struct admission_reply){
		.status = 200,
		.content_type = "application/json",
		.body = worker->out.data,
		.len = worker->out.len,
	};
}

static void drop_context(void *context)
{
	struct review_context *ctx = context;

	if (ctx->reserve)
		reserve_end(ctx->reserve, false);
	cluster_put(ctx->cluster);
	box_drop(ctx->worker->admission, ctx->box);
}

/* Returns false if no policy is loaded. */
static bool context_begin(struct review_context *ctx,
			  struct admission_worker *worker,
			  enum admission_path path)
{
	struct policy_box *box;

	*ctx = (struct review_context){.worker = worker,
				       .options = &worker->admission->options,
				       .path = path,
				       .budget = load_cost_object,
				       .secrets = TRI_UNKNOWN};
	box = box_take(worker->admission, &ctx->cluster);
	if (!box)
		return false;
	ctx->box = box;
	escape_guard(&ctx->guard, drop_context, ctx);
	clock_gettime(CLOCK_MONOTONIC, &ctx->began);
	ctx->now = worker->admission->options.now
			   ? worker->admission->options.now
			   : (int64_t)time(NULL);
	arena_reset(&worker->arena);
	/* A review that was interrupted did not stop recording absences. */
	cluster_absences_record(NULL);
	worker->now.n = 0;
	worker->now.costly = false;
	ctx->policy = box->policy;
	ctx->mode = policy_mode(box->policy);
	ctx->hash = box->hash;
	verdict_init(&ctx->verdict, &worker->arena);
	return true;
}

static void context_end(struct review_context *ctx)
{
	escape_unguard(&ctx->guard);
	drop_context(ctx);
}

void admission_review(struct admission_worker *worker, enum admission_path path,
		      const char *body, size_t len,
		      struct admission_reply *reply)
{
	struct review_context ctx;
	enum review_outcome outcome;

	if (!context_begin(&ctx, worker, path)) {
		reply_text(worker, reply, 503, "no policy is loaded");
		return;
	}
	outcome = review_read(&worker->arena, body, len, &ctx.review);
	if (outcome == REVIEW_NONE)
		reply_text(worker, reply, 400, ctx.review.problem);
	else
		answer(&ctx, outcome, reply);
	context_end(&ctx);
}

bool admission_review_start(struct admission_worker *worker,
			    enum admission_path path,
			    const struct review_start *start,
			    struct admission_reply *reply)
{
	struct review_context ctx;
	enum review_outcome outcome;

	if (!context_begin(&ctx, worker, path))
		return false;
	outcome = review_read_start(&worker->arena, start->text, start->len,
				    &ctx.review);
	ctx.review.problem = start->problem;
	if (outcome != REVIEW_NONE)
		answer(&ctx, REVIEW_UNREADABLE, reply);
	context_end(&ctx);
	return outcome != REVIEW_NONE;
}
