/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs rules on documents. A run belongs to one thread; it takes documents one
 * by one and passes the findings of each file to a sink. Set rules run once at
 * the end, over the joined facts of all runs.
 *
 *	run_init; { run_begin_file; { run_document } run_end_file }; run_release
 *	run_init; { run_file }; run_release
 *
 * If several runs share the work, run_join() moves their facts into one of
 * them, on which run_set() is called.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/load.h"
#include "engine/admission_policy.h"
#include "engine/finding.h"
#include "engine/policy.h"
#include "engine/suppress.h"
#include "kube/defined_name.h"
#include "kube/quota/quota.h"
#include "kube/runtime.h"

enum { UNKNOWN_KINDS = 4, KIND_NAME = 64 };

struct run_counts {
	uint64_t documents, objects, workloads, unknown_kinds_with_pods;
	/* The first unknown kinds in alphabetical order, cut to KIND_NAME; ""
	 * ends the list. */
	char unknown_kinds[UNKNOWN_KINDS][KIND_NAME];
	uint64_t placeholders, fragments;
	/* Counts of complete objects with pods that a kustomization may patch,
	 * and of objects with values for a chart that name an accelerator. */
	uint64_t patched, chart_values;
	/* Counts of pods that rules about waste skip because their namespace is
	 * in the policy's `infrastructure:`, or because it is unknown and they
	 * look like infrastructure. */
	uint64_t infrastructure, infrastructure_unknown;
	uint64_t errors, warnings, infos, suppressed;
	/* Visible findings with a safe fix, and with an unsafe one. */
	uint64_t fixable, fixable_unsafe;
	/* infos with a fix that is skipped because of keep_infos */
	uint64_t fixable_infos;
	/* Fixable findings in rendered texts whose source files do not contain
	 * the value (lint). */
	uint64_t fixable_rendered;
	int64_t gpus; /* GPUs of all linted workloads in the steady state */
	bool gpus_unknown; /* gpus is a lower bound */
	bool gpus_others;  /* some are TPUs or other accelerators */
};

struct not_run {
	const struct rule *rule;
	const char *reason;
	uint64_t count;
	unsigned mark; /* used by the caller; initially 0 */
};

/*
 * Selects the rules to run. More specific rules that hide their findings run
 * too. All rules run if anything may be suppressed, because an unused
 * suppression must be reported.
 */
enum run_wanted {
	WANT_ALL,
	WANT_OUTCOMES, /* rules that may patch or deny */
	WANT_PATCHES,  /* rules whose action is to patch */
};

struct run_options {
	const struct rule_set *rules;
	bool partial;	  /* the input is only a part of the manifests */
	bool no_ignore;	  /* comments and annotations do not suppress */
	bool file_values; /* placeholders and fragments exist (lint) */
	int64_t today;	  /* days since the epoch */
	int64_t now; /* seconds since the epoch, for the age of snapshots */
	/*
	 * The snapshot for files that name none, or NULL. It must outlive the
	 * run.
	 */
	const struct cluster *cluster;
	/* The cluster's own admission policies, or NULL, and the requesting
	 * user, NULL if unknown. groups ends with NULL. */
	const struct admission_policies *admission_policies;
	/* Namespaces of the input files, or NULL. Used by these admission
	 * policies and by those of policies and snapshots. */
	const struct admission_policies *namespaces;
	const char *user;
	const char *const *groups;
	/* Finds a name that an object of another input file defines. May be
	 * NULL. It is called by any thread. */
	bool (*find_defined_name)(void *set, enum defined_kind kind,
				  const char *text, struct defined_name *name);
	/* Finds a claim or a template of claims in the other files of the
	 * file's folder. May be NULL. It is called by any thread. */
	const struct claim *(*find_claim)(void *set, uint32_t file,
					  const char *namespace,
					  const char *name, bool template);
	/* Finds a runtime by name among the input files. The result lives as
	 * long as they do and does not change. */
	const struct runtime *(*find_runtime)(void *set,
					      const struct object *object,
					      const char *kind,
					      const char *name);
	/* Returns the MutatingAdmissionPolicies of the input files, or NULL. */
	const struct admission_policies *(*find_mutations)(void *set);
	void *set;
	/* At admission, or NULL: requests that were admitted a moment ago, and
	 * the function that receives this object's requests. */
	const struct reservations *reservations;
	void (*workload)(void *context, const struct workload *workload);
	/* findings in it are suppressed; may be NULL */
	struct baseline *baseline;
	/* Receives all findings of a file, sorted; they are valid during the
	 * call. */
	void (*sink)(void *context, uint32_t file, struct finding **findings,
		     size_t n);
	/*
	 * Receives the merged fixes of all visible findings of a document. It
	 * is called at the document's end; the edits are valid until the next
	 * file begins if the caller keeps the trees. May be NULL.
	 */
	void (*repair)(void *context, const struct doc *doc,
		       struct edit_list *edits);
	/* Called after repair() for each finding whose fix was requested:
	 * reason is NULL if it was applied, else the reason why not. May be
	 * NULL. */
	void (*repaired)(void *context, const struct finding *finding,
			 const char *reason);
	bool unsafe_repairs; /* include unsafe fixes */
	/* True if a finding about a runtime is reported for the runtime as
	 * well, so that only the runtime is fixed; such a finding is dropped.
	 * NULL: the runtimes of other files are not known yet. Called by any
	 * thread. */
	bool (*is_repeated)(void *context, const struct finding *finding);
	void *repeated_context;
	/* Skip fixes of infos, unless the command line selected their rule or
	 * the policy's action is patch. wants_repair ignores this. */
	bool keep_infos;
	/* Decides which fixes are computed, in place of unsafe_repairs (NULL:
	 * all safe ones). */
	bool (*wants_repair)(void *context, const struct finding *finding);
	/* At admission, comments are not known, and an annotation suppresses
	 * only rules for which the policy allows it. */
	bool admission;
	/* Records absences for this thread; may be NULL. Findings then list the
	 * absences on which they depend. */
	struct cluster_absences *absences;
	enum run_wanted wanted;
	bool render_repairs; /* set finding.repair */
	/* Reads the text of a file again, to find comments that suppress
	 * findings of set rules. If it is NULL or returns NULL, comments do not
	 * suppress them. */
	struct source *(*source_of)(void *context, uint32_t file);
	void *context;
};

struct run {
	struct run_options options;
	struct arena file_arena; /* memory of the current file's findings */
	struct object_index index;
	struct run_counts counts;
	/* The object was read in part because it exceeds its budget. */
	bool costly;
	/* internal to the engine */
	struct run_state *state;
};

void run_init(struct run *run, const struct run_options *options);
void run_release(struct run *run);

/* Describes a file. default_namespace (or NULL) is for objects without a
 * namespace. With `fragments`, every object of the file is a fragment, in which
 * no value counts as missing. With `patched`, they are fragments because
 * a kustomization patches objects of the file, or may do so. */
struct run_file {
	uint32_t index;
	struct source *source;
	const struct policy *policy;
	const char *default_namespace;
	bool fragments, patched;
	/* The text was rendered from source files, whose comments may belong to
	 * other values. */
	bool built;
	/* Charts for which its objects set values are linted separately. */
	bool charts_judged;
	/* Labels of the object's namespace; NULL if unknown. */
	const struct node *namespace_labels;
	const struct cluster *cluster; /* NULL: the cluster of the run */
	/* Admission policies of that cluster, or NULL. */
	const struct admission_policies *cluster_policies;
	/* At admission, or NULL: the review's request, and the root of its old
	 * object (NULL if there is none or it is unknown). */
	const struct node *request, *old_object;
	bool old_unknown;
	/* Budget for documents in strings, reduced by their cost (NULL: that of
	 * a file). */
	struct load_cost *budget;
};
void run_begin_file(struct run *run, const struct run_file *file);
/* Returns the settings for reading objects: those of the file's policy, with
 * the DeviceClasses, device claims and runtimes that the run knows. */
const struct kube_config *run_kube(struct run *run);
/* The loader's issue callback, whose context is the run. */
void run_load_issue(void *run, const struct load_issue *issue);
void run_document(struct run *run, struct doc *doc);
void run_end_file(struct run *run);

/* Runs a whole file, in place of the functions above: reads the documents of
 * file->source one after the other. Each document lives in the arena until its
 * rules and seen() (may be NULL) have run. */
void run_file(struct run *run, const struct run_file *file, struct arena *docs,
	      void (*seen)(void *context, const struct doc *doc),
	      void *context);

/* Moves the index from src to dst, and adds the counts, the settings of set
 * rules and the reasons for skipped rules. Drops the findings of src's last
 * file. */
void run_join(struct run *dst, struct run *src);
/* Calls check_set() and check_workload() of the rules over run->index;
 * policy_of returns the policy of each file. The sink receives the findings
 * file by file, in the order of files. */
void run_set(struct run *run,
	     const struct policy *(*policy_of)(void *context, uint32_t file),
	     void *context);
/* Counts n more findings with a fix; n may be negative. kept means that the
 * finding is an info that --fix does not fix. */
void fix_count(struct run_counts *counts, bool safe, bool kept, int n);
/* Takes back the count for a finding that is dropped. */
void fix_uncount(struct run_counts *counts, const struct finding *finding);
/* Returns the skipped rules with their reasons, sorted by rule name, and sets
 * *n to their number. They belong to the run until it is released; only their
 * marks may be set. */
struct not_run *run_not_run(struct run *run, size_t *n);
/* Drops the index, the counts and the skipped rules before the next set of
 * files. */
void run_restart(struct run *run);
/* Drops the last file as well, and frees most of the run's memory. */
void run_drop(struct run *run);

#endif
