/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks one object by the rules. The results are its findings, its demand and
 * the patch that the policy requests. A judge belongs to one thread and keeps
 * its memory from object to object.
 */
#ifndef WEBHOOK_JUDGE_H
#define WEBHOOK_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc/load.h"
#include "engine/run.h"
#include "kube/cluster/cluster.h"

struct judge {
	struct run run;
	/* Results for the last object; they live until the next one. */
	struct finding *findings; /* sorted, including suppressed ones */
	size_t n;
	int64_t gpus; /* in the steady state; a lower bound */
	bool costly;  /* it was not read completely, and not checked */
	/* The patch under an enforcing policy. NULL: none. */
	const struct node *patch;   /* RFC 6902 operations */
	const struct node *patched; /* the object after it */
	/* Objects that the rules needed and the state lacks. */
	struct cluster_absences absences;
	struct arena arena;
	bool wants_patch;
	struct doc doc;		 /* being judged */
	struct secrets secrets;	 /* in it; only if there are findings */
	enum tri *may_hold;	 /* see judge_request.secrets */
	struct reserve *reserve; /* of the object being checked */
};

struct reserve;

struct judge_request {
	struct reserve *reserve; /* locked by reserve_begin(), or NULL */
	const struct doc *doc;	 /* its root is the object */
	const struct policy *policy;
	/* The whole request, or NULL, and its old object. */
	const struct node *request, *old_object;
	bool old_unknown;
	const char *namespace;		     /* of the request, or NULL */
	const struct node *namespace_labels; /* or NULL: not known */
	const struct cluster *cluster;	     /* or NULL: no state */
	int64_t now;			     /* seconds since the epoch */
	/* Computes the patch and applies it: the tree must not be shared. */
	bool patch;
	enum run_wanted wanted;
	struct load_cost *budget; /* the rest of the review's budget */
	/* TRI_YES if the review's bytes may contain secrets; TRI_UNKNOWN until
	 * an object has findings. */
	enum tri *secrets;
};

void judge_init(struct judge *judge, const struct rule_set *rules);
void judge_release(struct judge *judge);
/* Drops the results and frees nearly all memory. */
void judge_drop(struct judge *judge);
void judge_object(struct judge *judge, const struct judge_request *c);
/* True if the policy patches the cause of this finding. */
bool judge_patches(const struct finding *finding);

#endif
