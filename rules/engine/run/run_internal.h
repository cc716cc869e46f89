/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the engine: the state of a run between calls, and the opaque
 * struct rule_run of check functions.
 */
#ifndef RULES_ENGINE_RUN_INTERNAL_H
#define RULES_ENGINE_RUN_INTERNAL_H

#include "engine/run.h"
#include "kube/claim.h"

/* Rules that the engine itself reports, by index into the rule set. */
enum internal_rule {
	INTERNAL_SYNTAX,
	INTERNAL_DISAGREEMENT,
	INTERNAL_DUPLICATE_KEY,
	INTERNAL_UNUSED,
	INTERNAL_EXPIRED,
	INTERNAL_MALFORMED,
	INTERNAL_REFUSED,
	INTERNAL_ADMISSION_POLICY,
	INTERNAL_CRD_VALIDATION,
	INTERNAL_COUNT,
};

struct yielding_rule {
	unsigned rule;
	struct yielding_rule *next;
};

/* Properties of pods and objects that rules may require, besides enum
 * check_scope. */
enum called_scope {
	SCOPE_WHOLE = 1 << 8, /* not a fragment: absence is significant */
	SCOPE_OWN = 1 << 9,   /* no infrastructure */
};

/* A rule that has a callback, and its index. */
struct called_rule {
	const struct rule *rule;
	unsigned index;
	unsigned scope; /* both enums */
};

/* A rule with check_set(), and its setting in the first file whose policy, or
 * override, turns it on. */
struct set_rule {
	unsigned rule;
	uint32_t file;
	const struct setting *setting; /* NULL: no file turns it on */
};

/* Hashes of values that many findings read. */
struct long_value {
	const struct node *node;
	uint64_t hash;
};

enum {
	LONG_VALUES = 64,
	LONG_VALUE = 4096, /* bytes */
};

struct run_state {
	struct arena doc_arena; /* objects, scratch; reset per document */
	struct run_file file;
	struct load_budget budget; /* of documents in documents of the file */
	size_t memory_counted;	   /* memory_used() that is spent */
	struct suppressions *suppressions;
	const struct cluster *cluster; /* of the checked object, or NULL */
	/* Why a snapshot is not used (too old), or NULL. */
	const char *cluster_old, *any_cluster_old;
	struct finding **findings; /* of the file, in the file's arena */
	struct long_value long_values[LONG_VALUES]; /* of the file */
	size_t nfindings, findings_size;
	bool cut;	/* the rest of the file is not checked */
	bool in_part;	/* it has placeholders, or partial objects */
	enum mode mode; /* of the checked object */
	int internal[INTERNAL_COUNT];
	const struct rule_set *rules; /* of the file's policy */
	/* Built-in rules with the callback, in registry order. */
	struct called_rule *pod_rules, *object_rules;
	unsigned *workload_rules;
	size_t npod_rules, nobject_rules, nworkload_rules;
	struct set_rule *set_rules; /* built-in, in registry order */
	size_t nset_rules, set_rules_size;
	const struct policy
		*noted; /* the last policy for which they were computed */
	/* For each internal rule: the rules whose findings yield to it. */
	struct yielding_rule **yielding;
	size_t nyielding;
	enum run_wanted wanted; /* for the object */
	struct arena values; /* of one expression of a custom rule, or a few */
	/* Costs and work left for the rejections of this object. */
	uint64_t rejections_left;
	/* The checked object as the API server sends it, in doc_arena; NULL
	 * until a custom rule needs it. */
	const struct node *sent;
	struct arena arena;		/* lives as long as the run */
	struct claim_table claims;	/* of the file */
	struct runtime *runtimes;	/* of the file */
	struct runtime *found_runtimes; /* others, of the document */
	bool runtimes_end;		/* no more are searched for */
	struct run_names {
		struct defined_name *items;
		size_t n, size;
		bool read; /* or no file is being read */
	} names;
	struct reread *reread; /* run_object.c; NULL: nothing yet */
	struct compiled_rejections *rejections; /* run_rejections.c */
	const struct cel_env *rejection_env;
	/* The policy's config, with these resources and named ones. */
	struct kube_config kube;
	const struct policy *kube_of;
	struct not_run *not_run;
	size_t nnot_run, not_run_size;
};

struct rule_run {
	struct run *run;
	const struct rule *rule;
	const struct setting *setting;
	const struct object *object; /* NULL in set rules */
};

struct fix {
	struct run *run;
	struct finding *finding;
	const struct node *root; /* of the document */
	const struct pod
		*pod; /* the finding's pod if it is generated, or NULL */
	bool safe;
	bool replaces; /* see fix_replaces() */
	const char *title;
	struct edit_list edits; /* one group */
};

/* Passes the fixes of the findings [from, n) of one document to the caller,
 * merged, and renders each alone if the options require it. */
void run_repairs(struct run *run, const struct doc *doc, size_t from);

/* Adds to state->set_rules: the settings in the policy of the file that begins;
 * the notes of another run. */
void run_note_sets(struct run *run);
void run_join_sets(struct run *dst, const struct run *src);
/* Call check_workload() of all rules; and check_set(). */
void run_workload(struct run *run, const struct workload *w,
		  const struct setting *settings);
void run_check_sets(struct run *run, const struct policy *policy,
		    const struct setting *settings);

/* Select the snapshot for a file; for a workload (NULL: for the input as a
 * whole). */
void run_cluster_begin(struct run *run, const struct run_file *file);
void run_cluster_workload(struct run *run, const struct workload *w);

void run_reread_release(struct run *run); /* rule_object() */

/* Report an issue of a suppression; context is the run (run.c). */
void run_suppression_issue(void *run, const struct suppression_issue *issue);

/* Appends a finding without text, placed and identified, to the file's. */
struct finding *finding_new(struct run *run, const struct rule *rule,
			    const struct setting *setting);
/* Places it at bytes of the current file. */
void finding_put(struct run *run, struct finding *finding, uint32_t start,
		 uint32_t end);
void run_not_run_add(struct run *run, const struct rule *rule,
		     const char *reason, uint64_t count);
/* True if the finding is exempt today; marks it as suppressed. */
bool run_apply_exemptions(struct run *run, const struct policy *policy,
			  struct finding *f);
/* At admission: the value includes pod, container and message before masking,
 * because masking may make two of them equal. */
void finding_finish_value(struct finding *finding);
/* Hides findings [from, n) that yield to a more specific one among them. */
void findings_yield(struct finding **findings, size_t from, size_t n);

/* True if the rule, which is on, is selected when not all rules are. */
bool run_wants_for(const struct run_state *state, unsigned rule,
		   const struct setting *settings);

/* Suppresses the finding if it is in the baseline. */
void run_apply_baseline(struct run *run, struct finding *finding);
/* -- run_counts.c -- */
void run_count_object(struct run *run, const struct object *object);
void run_counts_add(struct run_counts *to, const struct run_counts *from);

/* Gives an embedded object the namespace of its parent, and an object without
 * one the default of its file (run.c). */
void run_settle_namespace(const struct run *run, struct object *object);

/* Adds to the pods the fields that the cluster sets, or may set
 * (run_admission.c). */
void run_inject(struct run *run, struct arena *arena, struct object *object);
/* Checks an object by the cluster's own policies (run_admission.c). */
void run_admission_policies(struct run *run, const struct object *object,
			    const struct setting *settings);

/* -- run_budget.c: the budget of a file -- */

/* True if the file has reached its maximum of findings, which is reported once,
 * at the node (or NULL) or the bytes. Never true at admission, whose reviews
 * are limited. */
bool run_is_cut(struct run *run, const struct node *at, uint32_t start,
		uint32_t end);
/* True if run_is_cut(), or if the object's lists, keys or texts are too long:
 * its rules are not called, and a finding reports it. */
bool run_is_over_budget(struct run *run, const struct object *object);
/* From now on the documents of the state's arena belong to another file. */
void run_budget_begin(struct run *run);
/* True if the budget, including memory, is exceeded: the other rules need not
 * check the object. */
bool run_is_spent(struct run *run);
/* Does the same at most once per MiB: true if memory has grown that much since
 * run_is_spent(), and the budget is exceeded. */
bool run_outgrows_budget(struct run *run);
/* Called before and after an object is checked: if it was not read as a whole,
 * or its rules exceeded the budget, a finding reports it. Returns false if the
 * object must not be checked. */
bool run_read_in_time(struct run *run, const struct object *object);
void run_check_budget(struct run *run, const struct object *object);
/* Reports the finding; text lives as long as the file. (run.c) */
void run_report_cut(struct run *run, const char *text, uint32_t start,
		    uint32_t end);

void run_count_finding(struct run_counts *counts, const struct finding *f);
/* Reads the device claims in the file, for the pods that refer to them. */
void run_claims_begin(struct run *run);
void run_claims_end(struct run *run);
/* Reads the runtimes to which its objects refer (run_runtimes.c). */
void run_runtimes_begin(struct run *run);
void run_runtimes_end(struct run *run);
/* See struct runtime_finder; context is the run. */
const struct runtime *run_find_runtime(void *context,
				       const struct object *object,
				       const char *kind,
				       const struct node *ref);
/* Returns the runtime that holds the node of one of the object's pods, or
 * NULL. */
const struct runtime *run_runtime_around(const struct run *run,
					 const struct object *object,
					 const struct node *node);
/* See struct accelerator_extra; context is the run. */
const struct accelerator *run_named_accelerator(void *context,
						const char *resource);

/* Calls the rules for an object and for each of its pods. */
void run_check_object(struct run *run, const struct object *object,
		      const struct setting *settings);
/* True if the rule is selected for the object being checked. */
static inline bool run_wants(const struct run_state *state, unsigned rule,
			     const struct setting *settings)
{
	return settings[rule].enabled && (state->wanted == WANT_ALL ||
					  run_wants_for(state, rule, settings));
}

#endif
