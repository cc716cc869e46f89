/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks one object with the rules. The results are the findings, the number
 * of requested GPUs and the patch that the policy asks for. A judge belongs to
 * one thread and keeps its memory from object to object. Reservations are
 * shared by all threads.
 */
#ifndef WEBHOOK_JUDGE_H
#define WEBHOOK_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc/load.h"
#include "engine/run.h"
#include "kube/cluster/cluster.h"
#include "kube/quota/quota.h"

/*
 * Requests that were admitted a moment ago and are not yet part of a quota's
 * `used`. Without reservations, workloads that are created at the same time
 * would each count the same free quota. A replica knows only its own
 * admissions; ResourceQuota decides about Pods in any case.
 *
 * When /validate allows a CREATE, or an UPDATE that requests more, it makes a
 * reservation. Dry runs, Pods, suspended objects and objects that Kueue queues
 * get none. The key of a reservation is namespace, group, kind and name:
 * another request for the object replaces it. Devices that its Pods already use
 * in the cluster state are not counted twice. The reservation ends after 30
 * seconds, or with the object's DELETE.
 */

struct reserve;

struct reserve *reserve_new(void);
void reserve_free(struct reserve *reserve);

/*
 * Starts a critical section: a review checks and reserves under a lock, which
 * it holds from reserve_begin() to reserve_end(). now is in monotonic seconds.
 */
void reserve_begin(struct reserve *reserve, int64_t now);
/* Returns the value for run_options.reservations. Must be called between
 * reserve_begin() and reserve_end(). */
const struct reservations *reserve_view(struct reserve *reserve);
/* Notes the requests of a workload, as callback run_options.workload; reserves
 * nothing yet. */
void reserve_note(struct reserve *reserve, const struct workload *workload);
/* Ends the critical section. Reserves the noted requests if keep is set; else
 * drops them. */
void reserve_end(struct reserve *reserve, bool keep);

/* Ends the reservation of the object. */
void reserve_drop(struct reserve *reserve, const struct object_id *id);

struct judge {
	struct run run;
	/* Results for the last object, valid until the next one is checked. */
	struct finding *findings; /* sorted, including suppressed ones */
	size_t n;
	int64_t gpus; /* GPUs in the steady state; a lower bound */
	bool costly;  /* the object was too costly to be checked */
	/* Patch that an enforcing policy would apply, or NULL. */
	const struct node *patch;   /* RFC 6902 operations */
	const struct node *patched; /* the object after the patch */
	/* Objects that the rules looked up and the state lacks. */
	struct cluster_absences absences;
	struct arena arena;
	bool wants_patch;
	struct doc doc; /* the document that is checked */
	/* secrets in doc; only set if there are findings */
	struct secrets secrets;
	enum tri *may_hold; /* same as judge_request.secrets */
	/* reservations of other workloads; set while the object is checked */
	struct reserve *reserve;
};

struct reserve;

struct judge_request {
	struct reserve *reserve; /* locked by reserve_begin(), or NULL */
	const struct doc *doc;	 /* document whose root is the object */
	const struct policy *policy;
	/* The whole request and its old object; may be NULL. */
	const struct node *request, *old_object;
	bool old_unknown; /* there may be an old object, but it is not read */
	/* namespace of the request, or NULL */
	const char *namespace;
	const struct node *namespace_labels; /* NULL: not known */
	const struct cluster *cluster;	     /* NULL: no state */
	int64_t now;			     /* seconds since the epoch */
	/* If set, the patch is computed and applied to the tree, which must
	 * then not be shared. */
	bool patch;
	enum run_wanted wanted;
	struct load_cost *budget; /* remaining budget of the review */
	/* TRI_YES if the review's bytes may contain secrets; TRI_UNKNOWN until
	 * the first object with findings is checked. */
	enum tri *secrets;
};

void judge_init(struct judge *judge, const struct rule_set *rules);
void judge_release(struct judge *judge);
/* Drops the results and frees nearly all of their memory. */
void judge_drop(struct judge *judge);
void judge_object(struct judge *judge, const struct judge_request *c);
/* Returns true if the policy patches the cause of the finding. */
bool judge_patches(const struct finding *finding);

#endif
