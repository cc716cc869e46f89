/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private parts of admission: the contents of struct admission and of its
 * workers, the state of one review (the request, its context, the verdict), and
 * the functions that the files of this folder share. The state of a review
 * belongs to the worker's thread.
 */
#ifndef WEBHOOK_REVIEW_CONTEXT_H
#define WEBHOOK_REVIEW_CONTEXT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "admission.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/escape.h"
#include "cli/words.h"
#include "decide.h"
#include "doc/load.h"
#include "judge.h"
#include "kube/cluster/cluster.h"
#include "kube/object.h"

/*
 * Compares the devices that two versions of an object request, per role and
 * resource. Amounts of different resources are never added up.
 */

struct demand_change {
	/* a pod requests more of a resource, or a role requests more in its
	 * steady state or at its peak, or an unknown amount */
	bool grew;
	/* the pods of a role that no user has suspended request more of a
	 * resource */
	bool resumed;
	/* no number increases, and some role requests less of a resource in its
	 * steady state */
	bool fell;
};

struct demand_change demand_compare(struct arena *arena,
				    const struct kube_config *config,
				    const struct doc *now,
				    const struct doc *old);

/*
 * Findings that an UPDATE may keep. A finding of the new object is forgiven if
 * the old object, checked with the effective policy, would be denied for a
 * finding with the same rule and value. A finding about devices that no quota
 * counts must also not affect more pods. A finding of the old object that is
 * only a warning forgives nothing.
 */

struct object_findings {
	struct finding *items;
	size_t n;
};

/*
 * Sets `forgiven` and `had_before` of the findings of now. c is the context of
 * the request. Returns true if a finding about devices that no quota counts is
 * neither forgiven nor suppressed.
 */
bool ratchet(struct arena *arena, const struct request_context *c,
	     const struct object_findings *now,
	     const struct object_findings *old);

/*
 * The verdict on one review, from which the JSON response is written: the
 * outcome, the messages that kubectl shows, and the audit annotations.
 */

struct verdict {
	struct arena *arena;
	bool allowed;
	enum outcome outcome; /* the strongest of all findings */
	enum outcome would;   /* outcome in mode enforce */
	const char *message;  /* text of a denial */
	struct note {
		enum severity severity;
		const char *rule; /* NULL: a text about the request */
		const char *text;
		const char *remedy; /* the help, may be NULL */
		uint64_t hash;	    /* hash of the text */
	} * notes;
	size_t nnotes, notes_size;
	struct list warnings; /* at most 120 characters each */
	/* rules of findings with an outcome, from audit to deny */
	struct list rules;
	/* Rules that would deny or patch in mode enforce, but did not. */
	struct list would_deny, would_patch;
	struct list patched, suppressed;
	/* ticket that prevented a denial, or would in mode enforce */
	const char *break_glass;
	/* the ticket has prevented a denial in mode enforce */
	bool ticket_used;
	const struct node *patch; /* JSON Patch; may be NULL */
};

void verdict_init(struct verdict *verdict, struct arena *arena);
/* Decides all findings of the checked object and writes the texts. */
void verdict_of(struct verdict *verdict, const struct request_context *c,
		const struct policy *policy, const struct judge *judge);
/* Sets the verdict on an object that cannot be read: a denial in mode enforce,
 * a warning in mode warn, else only the audit annotations. */
void verdict_unreadable(struct verdict *verdict, enum mode mode,
			const char *problem);

/* Writes the AdmissionReview of the response (admission.k8s.io/v1) as JSON. */

/* Appends the response to out. policy is the hash of the policy in hexadecimal,
 * for the audit annotation. */
void respond(const struct verdict *verdict, const struct review *review,
	     const char *policy, struct buf *out);

struct reserve;

struct policy_box {
	struct policy *policy;
	char hash[17];
	unsigned references; /* protected by the lock of struct admission */
};

struct admission {
	struct admission_options options;
	pthread_mutex_t lock;
	struct policy_box *box;
	const struct cluster *cluster; /* may be NULL */
	struct reserve *reserve;       /* NULL: reservations are off */
	struct admission_asker asker;
};

struct admission_worker {
	struct admission *admission;
	struct arena arena; /* trees and texts of the review */
	struct judge now;   /* results for the object */
	/* results for the old object, or for the patched one */
	struct judge other;
	struct buf out;
};

/* Objects about which a review asked the API server. */
struct absence_proof {
	struct cluster_absence asked[CLUSTER_ABSENCES];
	size_t n;
	uint32_t answered; /* a bit for each answered object */
	int64_t deadline;  /* monotonic ms (0: nothing was asked yet) */
	/* the API server was asked for the namespace and did not answer */
	bool labels_unknown;
};

struct review_context {
	struct admission_worker *worker;
	const struct admission_options *options;
	struct review review;
	/* Remaining budget for documents inside the review's objects. */
	struct load_cost budget;
	enum tri secrets; /* whether the review's bytes may contain secrets */
	const struct policy *policy;
	const char *hash;
	const struct cluster *cluster; /* may be NULL */
	const struct node *namespace_labels;
	enum mode mode; /* mode for findings whose rule does not set one */
	int64_t now;	/* seconds since the epoch */
	enum admission_path path;
	struct request_context request;
	struct absence_proof proof;
	struct verdict verdict;
	struct timespec began;
	/* Reference to the policy; held until the review ends or is
	 * interrupted. */
	struct policy_box *box;
	/* locked while the review is processed, or NULL */
	struct reserve *reserve;
	struct escape_guard guard;
};

/* -- in_force.c -- */

/* Returns a reference to the effective policy, and sets *cluster to a reference
 * to the state; both are NULL if no policy is loaded. */
struct policy_box *box_take(struct admission *admission,
			    const struct cluster **cluster);
void box_drop(struct admission *admission, struct policy_box *box);
/* Replaces the review's state by the current one; returns true if it is a
 * different state. */
bool review_renew_state(struct review_context *ctx);
const struct admission_asker *review_asker(const struct review_context *ctx);

/* -- absence.c: objects missing from the state -- */

/* Asks the API server for the namespace. Returns true if a newer state was
 * published meanwhile, which may have it. */
bool absence_ask_namespace(struct review_context *ctx);
/* Asks the API server about the missing objects on which a denial depends.
 * Returns true if the object must be checked again: the state is newer, or the
 * API server did not answer about some of them. */
bool absence_judge_again(struct review_context *ctx);
/* Drops findings that would deny the object because of an object missing from
 * the state, if the API server did not confirm that it is missing. Makes the
 * request lenient if the labels of the namespace are unknown. Records rules
 * whose denials are dropped by this as skipped. */
void absence_drop(struct review_context *ctx);

/* -- review_record.c: metrics and log -- */

/* Counts an object that is admitted without a check. */
void record_unjudged(const struct review_context *ctx,
		     enum metrics_counter reason);
void record_findings(struct review_context *ctx);
void record_not_run(struct review_context *ctx);
/* Counts a rule as not run although it ran: its denial was dropped, because it
 * depends on information that is missing. */
void record_rule_not_run(const struct review_context *ctx, const char *rule);
/* Records the metrics and the log line of the review. */
void record_review(struct review_context *ctx);

#endif
