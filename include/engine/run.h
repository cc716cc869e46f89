/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running rules. A run belongs to one thread; it takes documents one by one
 * and hands finished findings to a sink per file. Set rules run once at the
 * end over the joined facts of all runs.
 *
 *	run_init; { run_begin_file; { run_document } run_end_file }; run_release
 *	run_init; { run_file }; run_release
 *	run_set on the joined facts
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/load.h"
#include "engine/admission_policy.h"
#include "engine/baseline.h"
#include "engine/finding.h"
#include "engine/policy.h"
#include "engine/suppress.h"
#include "kube/defined_name.h"
#include "kube/quota/quota.h"
#include "kube/runtime.h"

enum { UNKNOWN_KINDS = 4, KIND_NAME = 64 };

struct run_counts {
	uint64_t documents, objects, workloads, unknown_kinds_with_pods;
	/* The first of them by name, cut to KIND_NAME; "" ends them. */
	char unknown_kinds[UNKNOWN_KINDS][KIND_NAME];
	uint64_t placeholders, fragments;
	/* Whole objects that are changed before they are applied, and objects
	 * that set accelerators in values of a chart. */
	uint64_t patched, chart_values;
	/* Pods that rules about waste leave out: their namespace is in the
	 * policy's `infrastructure:`, or it is unknown and they look like
	 * infrastructure. */
	uint64_t infrastructure, infrastructure_unknown;
	uint64_t errors, warnings, infos, suppressed;
	uint64_t fixable, fixable_unsafe; /* visible findings with a fix */
	uint64_t fixable_infos; /* fixable infos, which keep_infos omits */
	/* Fixable findings in rendered texts whose sources do not contain the
	 * value (lint). */
	uint64_t fixable_rendered;
	int64_t gpus; /* GPUs of all linted workloads in the steady state */
	bool gpus_unknown; /* gpus is a lower bound */
	bool gpus_others;  /* some are TPUs or other accelerators */
};

struct not_run {
	const struct rule *rule;
	const char *reason;
	uint64_t count;
	unsigned mark; /* the caller's; 0 at first */
};

/*
 * The rules to run; the more specific rules to which their findings yield run
 * too. All rules run if anything may be suppressed, since a suppression may be
 * reported as unused.
 */
enum run_wanted {
	WANT_ALL,
	WANT_OUTCOMES, /* rules whose action is to patch or to deny */
	WANT_PATCHES,  /* rules whose action is to patch */
};

struct run_options {
	const struct rule_set *rules;
	bool partial;	  /* the set is incomplete */
	bool no_ignore;	  /* comments and annotations do not suppress */
	bool file_values; /* placeholders and fragments exist (lint) */
	int64_t today;	  /* days since the epoch */
	int64_t now; /* seconds since the epoch, for the age of snapshots */
	/*
	 * The snapshot of files that name none, or NULL; must outlive the run.
	 */
	const struct cluster *cluster;
	/* The cluster's own admission policies, or NULL; and the requesting
	 * user: NULL if unknown; groups ends with NULL. */
	const struct admission_policies *admission_policies;
	/* Namespaces of the input files, for these admission policies and for
	 * those of policies and clusters; or NULL. */
	const struct admission_policies *namespaces;
	const char *user;
	const char *const *groups;
	/* Finds a name that an object of another input file defines. May be
	 * NULL; any thread may call it. */
	bool (*find_defined_name)(void *set, enum defined_kind kind,
				  const char *text, struct defined_name *name);
	/* Finds a named runtime among the input files. It lives as long as they
	 * do and is not changed. */
	const struct runtime *(*find_runtime)(void *set,
					      const struct object *object,
					      const char *kind,
					      const char *name);
	/* Returns the MutatingAdmissionPolicies of the input files, or NULL. */
	const struct admission_policies *(*find_mutations)(void *set);
	void *set;
	/* At admission, or NULL: demand that was admitted a moment ago, and the
	 * receiver of this object's own demand. */
	const struct reservations *reservations;
	void (*workload)(void *context, const struct workload *workload);
	struct baseline *baseline; /* its findings are suppressed; or NULL */
	/* All findings of a file, sorted; they die when the call returns. */
	void (*sink)(void *context, uint32_t file, struct finding **findings,
		     size_t n);
	/*
	 * Receives the fixes of a whole document: those of all visible
	 * findings, merged. Called at the document's end; the edits are valid
	 * until the next file begins (trees are the caller's). NULL: not
	 * wanted.
	 */
	void (*repair)(void *context, const struct doc *doc,
		       struct edit_list *edits);
	/* Called after repair() for each finding whose fix was wanted: reason
	 * is NULL if it was applied, else the reason why not. May be NULL. */
	void (*repaired)(void *context, const struct finding *finding,
			 const char *reason);
	bool unsafe_repairs; /* unsafe ones too */
	/* Infos are not fixed, unless the command line selected their rule or
	 * the policy says to patch (wants_repair decides by itself).
	 */
	bool keep_infos;
	/* Decides which fixes are computed, instead of unsafe_repairs; NULL:
	 * all safe ones. */
	bool (*wants_repair)(void *context, const struct finding *finding);
	/* At admission: comments do not exist, and an annotation suppresses
	 * only rules that the policy grants. */
	bool admission;
	/* Recorded by this thread, or NULL. Findings mention absences they
	 * depend on. */
	struct cluster_absences *absences;
	enum run_wanted wanted;
	bool render_repairs; /* fill in finding.repair */
	/* Reads the text of a file again, for comments about findings of set
	 * rules. If it is NULL or returns NULL, comments cannot suppress
	 * them. */
	struct source *(*source_of)(void *context, uint32_t file);
	void *context;
};

struct run {
	struct run_options options;
	struct arena file_arena; /* findings of the current file */
	struct object_index index;
	struct run_counts counts;
	/* The object was not read completely: it exceeds its budget. */
	bool costly;
	/* private to the engine */
	struct run_state *state;
};

void run_init(struct run *run, const struct run_options *options);
void run_release(struct run *run);

/* Begins a file. default_namespace (or NULL) is for objects without one.
 * fragments: every object of the file is a fragment. patched: so is every
 * object that a kustomization patches or may patch, because nothing in it
 * counts as missing. */
struct run_file {
	uint32_t index;
	struct source *source;
	const struct policy *policy;
	const char *default_namespace;
	bool fragments, patched;
	/* The text was rendered from sources: their comments may belong to
	 * other values. */
	bool built;
	/* Charts that its objects set values for are linted by themselves. */
	bool charts_judged;
	/* Labels of the namespace; NULL if unknown. */
	const struct node *namespace_labels;
	const struct cluster *cluster; /* NULL: the cluster of the run */
	/* That cluster's own policies, or NULL. */
	const struct admission_policies *cluster_policies;
	/* At admission, or NULL: the review's request, and the root of its old
	 * object (NULL if there is none or it is unknown). */
	const struct node *request, *old_object;
	bool old_unknown;
	/* The budget of documents in strings, reduced by their cost; NULL:
	 * the budget of a file. */
	struct load_cost *budget;
};
void run_begin_file(struct run *run, const struct run_file *file);
/* Settings for reading objects: from the file's policy, with the resources of
 * DeviceClasses. */
const struct kube_config *run_kube(struct run *run);
/* loader's issue callback; context = run */
void run_load_issue(void *run, const struct load_issue *issue);
void run_document(struct run *run, struct doc *doc);
void run_end_file(struct run *run);

/* Does all of that: reads the documents of file->source one after the other,
 * each in the arena until its rules and seen() (or NULL) have run. */
void run_file(struct run *run, const struct run_file *file, struct arena *docs,
	      void (*seen)(void *context, const struct doc *doc),
	      void *context);

/* Facts, counts and reasons for skipped rules move from src to dst; the
 * findings of its last file are dropped. */
void run_join(struct run *dst, struct run *src);
/* Runs set rules over run->facts; policy_of gives each file's policy. Findings
 * come to the sink file by file, in file order. */
void run_set(struct run *run,
	     const struct policy *(*policy_of)(void *context, uint32_t file),
	     void *context);
/* Counts n more findings with a fix; n may be negative. */
void fix_count(struct run_counts *counts, bool safe, bool kept, int n);
/* Takes back the count for a finding that is dropped. */
void fix_uncount(struct run_counts *counts, const struct finding *finding);
/* Reasons why rules did not run; *n of them, sorted by rule name. They belong
 * to the run until it is released; only their marks may be set. */
struct not_run *run_not_run(struct run *run, size_t *n);
/* Forgets facts, counts and skipped rules, before the next set of files. */
void run_restart(struct run *run);
/* Forgets the last file as well, and returns most of its memory. */
void run_drop(struct run *run);

#endif
