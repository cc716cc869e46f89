/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a run between calls, and the struct rule_run of check functions;
 * private to the engine.
 */
#ifndef RULES_ENGINE_RUN_INTERNAL_H
#define RULES_ENGINE_RUN_INTERNAL_H

#include <stdbool.h>

#include "engine/rule.h"
#include "engine/run.h"
#include "kube/claim.h"
#include "kube/quantity.h"

/* Rules that the engine itself reports, as indexes into the list of internal
 * rules. */
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

/* Properties of pods and objects that rules may require, in addition to enum
 * check_scope. */
enum called_scope {
	/* not a fragment, so that absent fields mean something */
	SCOPE_WHOLE = 1 << 8,
	SCOPE_OWN = 1 << 9, /* not infrastructure */
};

/* A rule that has a certain callback, and its index. */
struct called_rule {
	const struct rule *rule;
	unsigned index;
	unsigned scope; /* bits of both enums */
};

/* A rule with check_set(), and its setting in the first file whose policy, or
 * an override in it, turns it on. */
struct set_rule {
	unsigned rule;
	uint32_t file;
	const struct setting *setting; /* NULL if no file turns it on */
};

/* Hash of a value that many findings read. */
struct long_value {
	const struct node *node;
	uint64_t hash;
};

enum {
	LONG_VALUES = 64,
	LONG_VALUE = 4096, /* bytes */
};

/* The objects of one kind and namespace in a cluster. */
struct cached_list {
	struct arena arena;
	uint64_t serial; /* serial number of the cluster (0: none) */
	const char *namespace;
	const struct cluster_object *items;
	size_t n;
};

struct run_state {
	/* objects and temporary data; reset for each document */
	struct arena doc_arena;
	struct run_file file;
	/* Budget of the current file: its memory, and the cost of documents in
	 * strings. */
	struct load_budget budget;
	/* part of memory_used() that was subtracted */
	size_t memory_counted;
	struct suppressions *suppressions;
	const struct cluster *cluster; /* for the checked object, or NULL */
	/* Reasons why snapshots are not used (too old), or NULL. */
	const char *cluster_old, *any_cluster_old;
	/* findings of the current file, in its arena */
	struct finding **findings;
	struct long_value long_values[LONG_VALUES]; /* of the current file */
	size_t nfindings, findings_size;
	struct finding moot; /* used for findings beyond the budget */
	bool cut;	     /* checking of the file has stopped */
	bool in_part;	     /* the file has placeholders or partial objects */
	enum mode mode;	     /* for the checked object */
	int internal[INTERNAL_COUNT];
	const struct rule_set *rules; /* rules of the file's policy */
	/* Built-in rules with these callbacks, in registry order. */
	struct called_rule *pod_rules, *object_rules;
	unsigned *workload_rules;
	size_t npod_rules, nobject_rules, nworkload_rules;
	struct set_rule *set_rules; /* built-in rules, in registry order */
	size_t nset_rules, set_rules_size;
	const struct policy
		*noted; /* last policy whose settings run_note_sets() added */
	/* For each built-in rule: the rules whose findings it hides. */
	struct yielding_rule **yielding;
	size_t nyielding;
	enum run_wanted wanted; /* for the checked object */
	/* memory of one or a few expressions of custom rules */
	struct arena values;
	/* Budget left for evaluating rejections of this object. */
	uint64_t rejections_left;
	/* The checked object as the API server sends it, in doc_arena; NULL
	 * until a custom rule reads it. */
	const struct node *sent;
	unsigned survey;    /* its typed_survey(), or 0 before a rule asks */
	struct arena arena; /* lives as long as the run */
	struct claim_table claims; /* claims in the current file */
	/* runtimes of the current file, or NULL */
	struct runtime_table *runtimes;
	/* runtimes of other files, for the current document, and their memory,
	 * which lives as long as the objects */
	struct runtime *found_runtimes;
	struct arena *found_arena;
	struct run_names {
		struct defined_name *items;
		size_t n, size;
		/* the file's names were read, or no file is being read */
		bool read;
	} names;
	struct cluster_names cluster_names;
	struct cached_list
		listings[CLUSTER_KINDS]; /* see rule_cluster_list() */
	struct reread *reread; /* see run_object.c; NULL before the first use */
	/* Returns the policy of each file, for set rules. */
	const struct policy *(*policy_of)(void *policies, uint32_t file);
	void *policies;
	struct compiled_rejections *rejections; /* see run_rejections.c */
	const struct cel_env *rejection_env;
	/* The policy's config, extended by claims, runtimes and named
	 * resources. */
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
	const struct node *root; /* root of the document */
	const struct pod
		*pod; /* pod of the finding if it is generated, or NULL */
	const struct pod *patched; /* pod of the finding if it has a patch */
	/* some edit is in the patch; some edit is in a container of its
	 * template */
	bool in_patch, in_template;
	bool safe;
	bool replaces; /* see fix_replaces() */
	const char *title;
	struct edit_list edits; /* one group of edits */
};

/* Applies the baseline to one document's findings, from the given index on.
 * Merges their fixes and passes them to the caller (options.repair), renders
 * each fix alone (options.render_repairs), and counts them. */
void run_repairs(struct run *run, const struct doc *doc, size_t from);

/* Add to state->set_rules: run_note_sets() the settings in the policy of the
 * file that begins, run_join_sets() those of another run. */
void run_note_sets(struct run *run);
void run_join_sets(struct run *dst, const struct run *src);
/* Call check_workload(), or check_set(), of the rules that are on. */
void run_workload(struct run *run, const struct workload *w,
		  const struct setting *settings);
void run_check_sets(struct run *run, const struct policy *policy,
		    const struct setting *settings);

/* Select the snapshot for a file, or for a workload (none if it is too old). w
 * is NULL for rules on the input as a whole. */
void run_cluster_begin(struct run *run, const struct run_file *file);
void run_cluster_workload(struct run *run, const struct workload *w);

void run_reread_release(struct run *run); /* for rule_object() */

/* Reports an issue of a suppression as a finding (run.c). */
void run_suppression_issue(void *run, const struct suppression_issue *issue);

/* Appends a finding with rule and setting, but without place and text, to those
 * of the file. */
struct finding *finding_new(struct run *run, const struct rule *rule,
			    const struct setting *setting);
/* Sets the place of the finding to bytes of the current file. */
void finding_put(struct run *run, struct finding *finding, uint32_t start,
		 uint32_t end);
void run_not_run_add(struct run *run, const struct rule *rule,
		     const char *reason, uint64_t count);
/* Marks the finding as suppressed and returns true if an exemption applies
 * today. If the exemption has expired within the grace period, lowers an error
 * to a warning and returns false. */
bool run_apply_exemptions(struct run *run, const struct policy *policy,
			  struct finding *f);
/* At admission, adds pod, container and message to the value before masking,
 * because masking may make two of them equal. */
void finding_finish_value(struct finding *finding);
/* Hides each finding, from the given index on, for which another of them is
 * more specific. */
void findings_yield(struct finding **findings, size_t from, size_t n);

/* True if a rule that is on is needed for the results that the caller wants. */
bool run_wants_for(const struct run_state *state, unsigned rule,
		   const struct setting *settings);

/* Suppresses the finding if it is in the baseline. */
void run_apply_baseline(struct run *run, struct finding *finding);
/* -- run_counts.c -- */
void run_count_object(struct run *run, const struct object *object);
void run_counts_add(struct run_counts *to, const struct run_counts *from);
void run_count_finding(struct run_counts *counts, const struct finding *f);

/* Gives an embedded object the namespace of its parent (one in a string only if
 * it names none), and an object without namespace the default of its file
 * (run.c). */
void run_settle_namespace(const struct run *run, struct object *object);

/* Adds to the pods the fields that the cluster sets or may set
 * (run_admission.c). */
void run_inject(struct run *run, struct arena *arena, struct object *object);
/* Evaluates the cluster's admission policies for an object that is not embedded
 * (run_admission.c). */
void run_admission_policies(struct run *run, const struct object *object,
			    const struct setting *settings);

/* -- run_budget.c: limits of a file -- */

/* True if the file has reached its largest number of findings, which is
 * reported once, at the node or, if it is NULL, at the bytes. Always false at
 * admission, where reviews are limited. */
bool run_is_cut(struct run *run, const struct node *at, uint32_t start,
		uint32_t end);
/* True if run_is_cut(), or if the object's lists, keys or texts are too long:
 * its rules are not called, and a finding reports it. Always false at
 * admission. */
bool run_is_over_budget(struct run *run, const struct object *object);
/* Starts the budget of a file, which the documents in state->doc_arena
 * spend. */
void run_budget_begin(struct run *run);
/* True if the budget, including memory, is exceeded, so that no further rules
 * are called for the object. */
bool run_is_spent(struct run *run);
/* Like run_is_spent(), but checks the budget only after memory has grown by a
 * MiB. */
bool run_outgrows_budget(struct run *run);
/* Called before and after an object is checked. Report a finding if the object
 * was read only in part, or its rules exceeded the budget. run_read_in_time()
 * returns false if the object must not be checked. */
bool run_read_in_time(struct run *run, const struct object *object);
void run_check_budget(struct run *run, const struct object *object);
/* Reports that checking stopped; text must live as long as the file. (run.c) */
void run_report_cut(struct run *run, const char *text, uint32_t start,
		    uint32_t end);

/* Reads the device claims and the runtimes in the file into the arena, for the
 * pods that refer to them; objects is the arena of the file's objects. */
void run_claims_begin(struct run *run, struct arena *arena,
		      struct arena *objects);
void run_claims_end(struct run *run);
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

/* Versions of operators, as the snapshot or the policy gives them. */

struct version {
	int major, minor;
	int patch; /* -1 if it is not given */
};

struct version version_read(const char *text);

/* Returns yes if a is b or a later version. A version without a patch may have
 * any patch. */
enum tri version_is_at_least(struct version a, struct version b);

bool version_is_later_minor(struct version a, struct version b);

/* True if the code of this minor version was read: versions is "1.9, 2.2 to
 * 2.3". */
bool version_was_read(const char *versions, struct version v);

/* Returns the version of the operator in the cluster, as the snapshot or the
 * policy gives it; NULL if unknown. */
const char *operator_version(struct rule_run *run, enum operator_name name);

#endif
