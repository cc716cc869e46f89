/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: from the bytes of a review to the bytes of the answer.
 *
 * The policy in force is a reference-counted box. A review takes a reference
 * under a short lock and drops it at its end, so that a reload never waits
 * for a review nor a review for a reload.
 */
#include "webhook/door.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "kube/cluster.h"
#include "ratchet.h"
#include "reserve.h"
#include "respond.h"
#include "visit.h"

struct policy_box {
	struct policy *policy;
	char hash[17];
	unsigned references; /* under the door's lock */
};

struct door {
	struct door_options options;
	pthread_mutex_t lock;
	struct policy_box *box;
	const struct cluster *cluster; /* or NULL */
	struct reserve *reserve;       /* or NULL: none are made */
};

struct door *door_new(const struct door_options *options)
{
	struct door *door = calloc(1, sizeof(*door));

	if (!door)
		BUG("out of memory");
	/* jansson's hash seed is made at the first use: not in two threads. */
	json_object_seed(0);
	door->options = *options;
	pthread_mutex_init(&door->lock, NULL);
	if (options->reservations)
		door->reserve = reserve_new();
	return door;
}

/* --- the policy ----------------------------------------------------------- */

static void box_drop(struct door *door, struct policy_box *box)
{
	unsigned left;

	if (!box)
		return;
	pthread_mutex_lock(&door->lock);
	left = --box->references;
	pthread_mutex_unlock(&door->lock);
	if (left)
		return;
	policy_free(box->policy);
	free(box);
}

/* The policy in force, or NULL; cluster (may be NULL) gets a reference too. */
static struct policy_box *box_take(struct door *door,
				   const struct cluster **cluster)
{
	struct policy_box *box;

	pthread_mutex_lock(&door->lock);
	box = door->box;
	if (box)
		box->references++;
	if (cluster)
		*cluster = box ? cluster_get(door->cluster) : NULL;
	pthread_mutex_unlock(&door->lock);
	return box;
}

void door_set_cluster(struct door *door, const struct cluster *cluster)
{
	const struct cluster *old;

	pthread_mutex_lock(&door->lock);
	old = door->cluster;
	door->cluster = cluster;
	pthread_mutex_unlock(&door->lock);
	cluster_put(old);
}

void door_set_policy(struct door *door, struct policy *policy)
{
	struct policy_box *box = calloc(1, sizeof(*box)), *old;

	if (!box)
		BUG("out of memory");
	box->policy = policy;
	box->references = 1;
	snprintf(box->hash, sizeof(box->hash), "%016llx",
		 (unsigned long long)policy_hash(policy));
	pthread_mutex_lock(&door->lock);
	old = door->box;
	__atomic_store_n(&door->box, box, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&door->lock);
	box_drop(door, old);
}

bool door_has_policy(const struct door *door)
{
	/* Once there is one, there always is. */
	return __atomic_load_n(&door->box, __ATOMIC_ACQUIRE) != NULL;
}

void door_policy_hash(struct door *door, char out[17])
{
	struct policy_box *box = box_take(door, NULL);

	out[0] = '\0';
	if (!box)
		return;
	memcpy(out, box->hash, sizeof(box->hash));
	box_drop(door, box);
}

void door_free(struct door *door)
{
	if (!door)
		return;
	box_drop(door, door->box);
	cluster_put(door->cluster);
	reserve_free(door->reserve);
	pthread_mutex_destroy(&door->lock);
	free(door);
}

/* --- workers -------------------------------------------------------------- */

struct door_worker *door_worker_new(struct door *door)
{
	struct door_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		BUG("out of memory");
	worker->door = door;
	judge_init(&worker->now, door->options.rules);
	judge_init(&worker->other, door->options.rules);
	buf_init(&worker->out);
	return worker;
}

void door_worker_free(struct door_worker *worker)
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

/* Too old, it still tells labels of namespaces: who is exempt stays so. */
static const struct cluster *usable_state(const struct visit *visit)
{
	int64_t max = visit->options->state_max_age;

	if (!visit->cluster || !max || policy_max_age(visit->policy) ||
	    visit->now - cluster_taken_at(visit->cluster) <= max)
		return visit->cluster;
	return NULL;
}

static struct judge_case case_of(const struct visit *visit,
				 const struct doc *doc)
{
	return (struct judge_case){
		.doc = doc,
		.policy = visit->policy,
		.namespace = *visit->review.namespace ? visit->review.namespace
						      : NULL,
		.namespace_labels = visit->namespace_labels,
		.cluster = usable_state(visit),
		.now = visit->now,
	};
}

/* What the old object had already, and what it asked for. */
static void compare_with_old(struct visit *visit)
{
	struct circumstances *c = &visit->circumstances;
	struct judge *now = &visit->worker->now, *old = &visit->worker->other;
	struct judge_case before = case_of(visit, &visit->review.old);

	if (!visit->review.old.root || visit->review.old_too_long)
		return;
	judge_object(old, &before);
	c->demand_grew = now->gpus > old->gpus;
	if (ratchet(&visit->worker->arena, c,
		    &(struct object_findings){now->findings, now->n},
		    &(struct object_findings){old->findings, old->n}))
		return;
	c->lenient |= now->gpus < old->gpus ||
		      update_is_metadata(visit->review.object.root,
					 visit->review.old.root);
}

/*
 * The object after the patch, read by the rules again: nothing is left that
 * was to be patched, and nothing new denies. A patch that fails this is ours
 * to mend; it is not sent, and /validate judges the object as it came.
 */
static bool patch_holds(struct visit *visit)
{
	struct judge *now = &visit->worker->now, *then = &visit->worker->other;
	struct doc doc = visit->review.object;
	struct judge_case after;
	size_t next = 0;

	doc.root = now->patched;
	after = case_of(visit, &doc);
	after.asks = ASK_DEEDS;
	judge_object(then, &after);
	for (size_t i = 0; i < then->n; i++) {
		const struct finding *f = &then->findings[i];
		bool was = false;

		if (judge_patches(f))
			return false;
		if (f->suppressed || f->action != ACTION_DENY)
			continue;
		/* They come in the same order: the next is mostly it. */
		for (size_t j = 0; j < now->n && !was; j++, next++)
			was = now->findings[next % now->n].fingerprint ==
			      f->fingerprint;
		if (!was)
			return false;
	}
	return true;
}

static bool judge_sees(const struct review *review)
{
	static const char *const subresources[] = {"", "ephemeralcontainers",
						   "resize"};

	if (review->operation != OPERATION_CREATE &&
	    review->operation != OPERATION_UPDATE)
		return false;
	for (size_t i = 0; i < sizeof(subresources) / sizeof(*subresources);
	     i++)
		if (!strcmp(review->subresource, subresources[i]))
			return true;
	return false;
}

/*
 * A Scale holds a number of replicas and not what they ask for, which the
 * state of a cluster does not hold either: it knows what runs, and that is
 * nothing at zero replicas, and two kinds of pods in the middle of an update.
 */
static enum metrics_counter why_unjudged(const struct review *review)
{
	if (review->operation != OPERATION_CREATE &&
	    review->operation != OPERATION_UPDATE)
		return METRICS_NOT_JUDGED_OPERATION;
	if (!strcmp(review->subresource, "scale"))
		return METRICS_NOT_JUDGED_SCALE;
	return METRICS_NOT_JUDGED_SUBRESOURCE;
}

static void judge_now(struct visit *visit, struct reserve *reserve,
		      enum run_asks asks)
{
	struct judge_case what = case_of(visit, &visit->review.object);

	what.patch = visit->circumstances.mutate;
	what.reserve = reserve;
	what.asks = asks;
	judge_object(&visit->worker->now, &what);
}

/*
 * The object was asked for what is to be patched alone, and what it denies
 * after the patch it perhaps did before: that is now asked as well. The tree
 * is read anew, since it has become the patched one.
 */
static bool patch_holds_after_all(struct visit *visit)
{
	const struct source *source = &visit->review.source;
	struct review again;

	if (review_read(&visit->worker->arena, source->text, source->len,
			&again) != REVIEW_GOOD)
		return false;
	visit->review = again;
	visit->review.object.source = &visit->review.source;
	visit->review.old.source = &visit->review.source;
	judge_now(visit, NULL, ASK_DEEDS);
	return !visit->worker->now.patch || patch_holds(visit);
}

static void check_patch(struct visit *visit, enum run_asks asked)
{
	struct judge *now = &visit->worker->now;

	if (!now->patch || patch_holds(visit) ||
	    (asked == ASK_PATCHES && patch_holds_after_all(visit)))
		return;
	log_say(visit->options->log, LOG_ERROR,
		"a patch for %s %s/%s does not hold: not sent",
		visit->review.kind, visit->review.namespace,
		visit->review.name);
	now->patch = NULL;
	visit->circumstances.patchable = false;
}

/* Of a Pod's other findings /mutate tells only those that somebody is exempt
 * from, or has suppressed. */
static enum run_asks asks_of(const struct visit *visit)
{
	const struct circumstances *c = &visit->circumstances;

	return c->mutate && c->pod && !policy_has_exemptions(visit->policy)
		       ? ASK_PATCHES
		       : ASK_ALL;
}

static void judge_and_decide(struct visit *visit, struct reserve *reserve)
{
	struct circumstances *c = &visit->circumstances;
	struct judge *now = &visit->worker->now;
	enum run_asks asks = asks_of(visit);

	judge_now(visit, reserve, asks);
	if (c->update && (now->n || reserve))
		compare_with_old(visit);
	check_patch(visit, asks);
	verdict_of(&visit->verdict, c, visit->policy, now);
}

static void know_namespace(struct visit *visit)
{
	if (visit->cluster && *visit->review.namespace)
		visit->namespace_labels = cluster_namespace(
			visit->cluster, visit->review.namespace,
			&visit->worker->arena);
}

/* Pods are ResourceQuota's own business. */
static void judge_review(struct visit *visit)
{
	struct circumstances *c = &visit->circumstances;
	struct reserve *reserve = visit->worker->door->reserve;

	circumstances_read(c, &visit->review, visit->policy,
			   visit->path == DOOR_MUTATE);
	if (c->mutate && !c->patchable) {
		visit_count_unjudged(visit, METRICS_NOT_JUDGED_NO_PATCH);
		return;
	}
	know_namespace(visit);
	if (c->mutate || c->pod)
		reserve = NULL;
	if (reserve)
		reserve_begin(reserve, visit->began.tv_sec);
	judge_and_decide(visit, reserve);
	if (reserve)
		reserve_end(reserve, visit->verdict.allowed &&
					     !visit->review.dry_run &&
					     (!c->update || c->demand_grew));
	visit_count_findings(visit);
	if (c->mutate)
		return;
	visit_count_not_run(visit);
	if (visit->worker->now.run.counts.infrastructure)
		visit_count_unjudged(visit, METRICS_NOT_JUDGED_INFRASTRUCTURE);
}

/* An object that goes gives back what was promised to it. */
static void release_promise(struct visit *visit)
{
	struct reserve *reserve = visit->worker->door->reserve;
	const struct review *r = &visit->review;
	struct object_id id = {NULL, r->kind, r->namespace, r->name};

	if (!reserve || r->operation != OPERATION_DELETE || r->dry_run ||
	    *r->subresource || visit->path != DOOR_VALIDATE)
		return;
	id.api_version = arena_printf(&visit->worker->arena, "%s%s%s", r->group,
				      *r->group ? "/" : "", r->version);
	reserve_drop(reserve, &id);
}

/* --- replies -------------------------------------------------------------- */

static void reply_text(struct door_worker *worker, struct door_reply *reply,
		       unsigned status, const char *text)
{
	buf_reset(&worker->out);
	buf_addf(&worker->out, "%s\n", text);
	*reply = (struct door_reply){
		.status = status,
		.retry_after = status == 503 ? 1 : 0,
		.content_type = "text/plain",
		.body = worker->out.data,
		.len = worker->out.len,
	};
}

static void pass(struct visit *visit)
{
	visit_count_unjudged(visit, why_unjudged(&visit->review));
	release_promise(visit);
}

/* What the policy's overrides say of an object of which nothing is known but
 * its kind and namespace. */
static void refuse_unread(struct visit *visit, const char *problem)
{
	const struct review *review = &visit->review;
	const struct object object = {.namespace = review->namespace,
				      .kind = review->kind};

	know_namespace(visit);
	policy_settings_in(visit->policy, &object, visit->namespace_labels,
			   &visit->mode);
	/* Nothing is denied to what is being deleted. */
	if (visit->mode == MODE_ENFORCE &&
	    !node_is_unset(
		    node_path(review->old.root, "metadata.deletionTimestamp")))
		visit->mode = MODE_WARN;
	verdict_unreadable(&visit->verdict, visit->mode, problem);
}

static void answer(struct visit *visit, enum review_outcome outcome,
		   struct door_reply *reply)
{
	struct door_worker *worker = visit->worker;
	const struct review *review = &visit->review;

	if (!judge_sees(review))
		pass(visit);
	else if (outcome == REVIEW_UNREADABLE)
		refuse_unread(visit, review->problem);
	else if (!review->object.root)
		refuse_unread(visit, "request.object is missing");
	else
		judge_review(visit);
	respond(&visit->verdict, review, visit->hash, &worker->out);
	visit_record(visit);
	*reply = (struct door_reply){
		.status = 200,
		.content_type = "application/json",
		.body = worker->out.data,
		.len = worker->out.len,
	};
}

/* NULL: there is no policy. */
static struct policy_box *visit_begin(struct visit *visit,
				      struct door_worker *worker,
				      enum door_path path)
{
	struct policy_box *box;

	*visit = (struct visit){.worker = worker,
				.options = &worker->door->options,
				.path = path};
	box = box_take(worker->door, &visit->cluster);
	if (!box)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &visit->began);
	visit->now = worker->door->options.now ? worker->door->options.now
					       : (int64_t)time(NULL);
	arena_reset(&worker->arena);
	worker->now.n = 0;
	visit->policy = box->policy;
	visit->mode = policy_mode(box->policy);
	visit->hash = box->hash;
	verdict_init(&visit->verdict, &worker->arena);
	return box;
}

static void visit_end(struct visit *visit, struct policy_box *box)
{
	cluster_put(visit->cluster);
	box_drop(visit->worker->door, box);
}

void door_answer(struct door_worker *worker, enum door_path path,
		 const char *body, size_t len, struct door_reply *reply)
{
	struct visit visit;
	struct policy_box *box = visit_begin(&visit, worker, path);
	enum review_outcome outcome;

	if (!box) {
		reply_text(worker, reply, 503, "no policy is loaded");
		return;
	}
	outcome = review_read(&worker->arena, body, len, &visit.review);
	if (outcome == REVIEW_NONE)
		reply_text(worker, reply, 400, visit.review.problem);
	else
		answer(&visit, outcome, reply);
	visit_end(&visit, box);
}

bool door_answer_long(struct door_worker *worker, enum door_path path,
		      const char *start, size_t len, struct door_reply *reply)
{
	struct visit visit;
	struct policy_box *box = visit_begin(&visit, worker, path);
	enum review_outcome outcome;

	if (!box)
		return false;
	outcome = review_read_start(&worker->arena, start, len, &visit.review);
	if (outcome != REVIEW_NONE)
		answer(&visit, outcome, reply);
	visit_end(&visit, box);
	return outcome != REVIEW_NONE;
}
