/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One finding, without pointers into a document, so that it outlives the
 * document. Strings are never NULL ("" if unset). They live in the arena of the
 * run, or of the code that copied the finding.
 */
#ifndef ENGINE_FINDING_H
#define ENGINE_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/rule.h"
#include "kube/secret/secret.h"

struct related {
	struct place place;
	const char *message;
};

/* The fix of one finding, as reports show it. */
struct fix_edit {
	uint32_t start, end; /* byte offsets in the file, including the BOM */
	const char *text;
};

struct fix_result {
	bool safe;
	const char *title;
	const char *patch; /* RFC 6902, compact JSON; "" if refused */
	const struct fix_edit *edits;
	unsigned nedits;
	const char *refused; /* reason why the file cannot be edited, or "" */
	/* The fix writes a secret value, masked in edits and patch
	 * (kube/secret/secret.h), so they must not be applied. */
	bool masked;
	bool kept; /* --fix skips it: an info not selected by the user */
};

enum suppressed_via {
	SUPPRESSED_NOT,
	SUPPRESSED_COMMENT,
	SUPPRESSED_ANNOTATION,
	SUPPRESSED_POLICY,
	SUPPRESSED_BASELINE,
};

struct finding {
	const struct rule *rule;
	enum severity severity;
	enum action action;
	struct place place; /* file, bytes, line, column, pointer */
	struct object_id id;
	const char *pod; /* role of the pod */
	const char *container;
	const char *message, *help;
	const char *cause;
	const char *check; /* id of the rule's rejection, or NULL */
	/* Names of an admission policy and of its binding. */
	const char *policy, *binding;
	/* Parameters that the policy must set before the fix can be made: "cpu:
	 * ..., memory: ...". */
	const char *wants;
	uint64_t fingerprint;
	/* Hash of the path that baselines of version 1 contain, if it differs,
	 * because it named a present node instead of the missing one (0: it is
	 * the same). */
	uint64_t former_path;
	/* At admission: value is a keyed hash of pod, container, message and
	 * the values that decide the finding. The key belongs to the process,
	 * because the author of an object could otherwise choose names and
	 * values with equal hashes. pods is the number of pods affected, at
	 * their peak (1 if the finding is not about pods). */
	uint64_t value;
	struct amount pods;
	struct related *related;
	unsigned nrelated;
	uint32_t more; /* findings that the report folds into this one */
	enum suppressed_via suppressed;
	const char *suppression_reason;
	/* Identify pod and container within the run, to hide less specific
	 * findings about the same one. */
	uint32_t pod_key, container_key;
	struct fix *fix; /* operations; live as long as their document */
	struct fix_result *repair; /* the fix as shown in reports, or NULL */
	/* Effect of the fix, or NULL if there is none. Lives as long as fix. */
	const char *fix_title;
	bool fix_safe;
	/* the fix is counted in run_counts (fix_kept: with those of infos) */
	bool fix_counted, fix_kept;
	bool selected; /* the command line selected its rule */
	bool injected; /* at a value that the cluster adds; such a finding is
			  dropped */
	const struct runtime *origin; /* source of the value, or NULL */
	struct spec_place spec;	      /* place of the pod, if has_spec */
	bool has_spec;
	/* True if the finding is about the pod, its container, or a value
	 * missing from one of them. Otherwise it is about the value at
	 * value_start, which is in a runtime of value_file unless that is
	 * NO_FILE. */
	bool about_whole;
	uint32_t value_file, value_start;
	bool repeated; /* see findings_repeat() */
	bool strict;   /* a warning keeps the severity of the rule */
	bool severity_fixed, action_fixed; /* the policy set it */
	/* not reported, because a more specific rule reports it or its place is
	 * in no file */
	bool hidden;
	enum mode mode; /* the policy's mode for the object */
	/* The policy's exemption expired a few days ago, so that the finding is
	 * at most a warning. */
	bool exempt_lately;
	/* It also denies Pods made by a controller. */
	bool controller_pods;
	/* For an UPDATE: the old object would be denied for this finding as
	 * well. */
	bool forgiven;
	/* For an UPDATE: the old object would be denied for the same rule,
	 * whatever the value. */
	bool had_before;
	/* Objects that its rule looked up and the cluster snapshot does not
	 * contain, as bits of struct cluster_absences. */
	uint32_t absences;
	/* Reason why the suppression of this finding was rejected, or NULL. */
	const char *ignore_refused;
	/* Suppressed by an annotation of the object. Its pods do not inherit
	 * that annotation, unlike those of their template. */
	bool ignored_by_object;
};

/*
 * Returns the identity of an object, in the arena; without a name, its
 * generateName is used.
 */
struct object_id finding_id(struct arena *arena, const struct object *object);
/*
 * Memory for copies of findings. Findings of similar files have the same texts;
 * a text that was stored recently is not stored again, so that a large run
 * needs a third less memory.
 */
struct finding_memory {
	struct arena arena;
	const char *texts[256]; /* recent texts, by hash */
};

/* Copies a finding with its rendered fix (repair), but without fix and
 * fix_title. */
void finding_copy(struct finding *to, const struct finding *from,
		  struct finding_memory *memory);
/* Compares by file, line, column, rule name, document, path and message, the
 * order of reports. */
int finding_cmp(const struct finding *a, const struct finding *b);
void findings_sort(struct finding *findings, size_t n);
void findings_sort_pointers(struct finding **findings, size_t n);
/*
 * Marks findings about pods that are made from a runtime, if another finding
 * says the same about the runtime: it has the same rule, check, container and
 * cause, the same or a higher severity, and is about the same value, or about
 * the same missing value. Returns the number of marked findings.
 */
size_t findings_repeat(struct finding *const *findings, size_t n);
/* Findings by place, without those about pods that are made from a runtime. The
 * findings must outlive it. */
struct finding_table {
	struct told *items;
	size_t n;
};
void finding_table_init(struct finding_table *list,
			struct finding *const *findings, size_t n);
void finding_table_release(struct finding_table *list);
/* True if the finding is made from a runtime and repeats one of the list. */
bool finding_table_has(const struct finding_table *list,
		       const struct finding *finding);
/* True if the finding is about a pod and about a value that comes from a
 * runtime in the input, or that is missing there. */
bool finding_is_made(const struct finding *finding);
/* Returns the file of that runtime, or NO_FILE. */
uint32_t finding_runtime_file(const struct finding *finding);
/* Returns the help of the finding, or else of its rule; may be "". */
const char *finding_remedy(const struct finding *finding);
/* Returns a hash of the rule, the object, the cause and the path with names of
 * list items. It is the same in lint and at admission, and after edits
 * elsewhere in the file. */
uint64_t finding_fingerprint(const struct finding *finding);
/* Returns the fingerprint in baselines of version 1. */
uint64_t finding_former_fingerprint(const struct finding *finding);
/* Masks secret values in all shown texts; allocates changed texts in the
 * arena. */
void finding_mask(struct finding *finding, const struct secrets *secrets,
		  struct arena *arena);
const char *severity_name(enum severity severity);
const char *action_name(enum action action);
/* Return false if text is not a severity or an action. */
bool severity_parse(const char *text, enum severity *out);
bool action_parse(const char *text, enum action *out);

#endif
