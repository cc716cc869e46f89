/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One finding, flat: no pointer into a document, so that it outlives it.
 * Strings are never NULL ("" when there is nothing). They live in the arena of
 * the finding's holder (a run, or who copied it).
 */
#ifndef ENGINE_FINDING_H
#define ENGINE_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/rule.h"
#include "kube/secret/mask.h"

struct related {
	struct place place;
	const char *message;
};

/* A repair as it goes into reports: of this finding alone. */
struct fix_edit {
	uint32_t start, end; /* bytes of the file, BOM included */
	const char *text;
};

struct fix_result {
	bool safe;
	const char *title;
	const char *patch; /* RFC 6902, compact JSON; "" when refused */
	const struct fix_edit *edits;
	unsigned nedits;
	const char *refused; /* why the bytes cannot be changed, or "" */
	/* The fix writes a secret value, which is masked in edits and patch
	 * (kube/secret/mask.h): they are for people to read, not to apply. */
	bool masked;
	bool kept; /* of an info that --fix leaves out */
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
	const char *pod; /* role */
	const char *container;
	const char *message, *help;
	const char *cause;
	const char *check; /* of the rule's rejections, or NULL */
	/* The name of an admission policy, and of its binding. */
	const char *policy, *binding;
	/* Parameters of the policy without which it has no repair:
	 * "cpu: ..., memory: ...". */
	const char *wants;
	uint64_t fingerprint;
	/* The path in baselines of version 1, if it differs: the path of a
	 * present node, not of a missing one. 0: the same. */
	uint64_t former_path;
	/* At admission: a keyed hash of pod, container, message and the
	 * values that the verdict rests on. The key belongs to the process,
	 * because the author of an object could otherwise choose names and
	 * values with equal hashes. And the number of pods affected, at
	 * their peak (1 if the finding is not about pods). */
	uint64_t value;
	struct amount pods;
	struct related *related;
	unsigned nrelated;
	enum suppressed_via suppressed;
	const char *suppression_reason;
	/* Identity of pod and container within the run, for yielding. */
	uint32_t pod_key, container_key;
	struct fix *fix;	   /* as operations, while its document lives */
	struct fix_result *repair; /* rendered, or NULL: none */
	/* The effect of its fix; NULL: there is none. Lives as long as fix. */
	const char *fix_title;
	bool fix_safe;
	bool selected; /* the command line selected its rule */
	/* Dropped: at a value that the cluster adds, or of a template that
	 * another file has and that is checked there. */
	bool injected;
	const struct runtime *origin; /* of the value; NULL: the object */
	bool strict; /* a warning stays what the rule makes of it */
	bool severity_fixed, action_fixed; /* the policy set it */
	bool hidden;			   /* yielded to a more specific rule */
	enum mode mode; /* that the policy has for the object */
	/* The policy exempted it until some days ago: at most a warning. */
	bool exempt_lately;
	/* It denies Pods that a controller makes, too. */
	bool controller_pods;
	/* The old object of an UPDATE would be denied for it as well. */
	bool forgiven;
	/* The old object is denied for the same rule, whatever the value. */
	bool had_before;
	/* Objects that its rule looked for and the cluster state lacks: bits
	 * of struct cluster_absences. */
	uint32_t absences;
	/* Why a suppression that names it was refused, or NULL. */
	const char *ignore_refused;
	/* Suppressed by an annotation of the object, which its pods do not
	 * carry as they do their template's. */
	bool ignored_by_object;
};

/*
 * Returns the identity of an object, in the arena; without a name, its
 * generateName is used.
 */
struct object_id finding_id(struct arena *arena, const struct object *object);
/*
 * Memory of copies. Files of one kind repeat the texts of their findings, so
 * that one met lately is kept once: a large run takes a third less memory.
 */
struct finding_memory {
	struct arena arena;
	const char *texts[1024]; /* by hash */
};

/* A copy without the fix as operations. */
void finding_copy(struct finding *to, const struct finding *from,
		  struct finding_memory *memory);
/* Order of reports: file, line, column, rule name, message. */
int finding_cmp(const struct finding *a, const struct finding *b);
void findings_sort(struct finding *findings, size_t n);
void findings_sort_pointers(struct finding **findings, size_t n);
/* Help of the finding, else what its rule advises; may be "". */
const char *finding_remedy(const struct finding *finding);
/* Rule, object and named path: the same in lint and at admission, and after
 * edits. */
uint64_t finding_fingerprint(const struct finding *finding);
/* Returns the fingerprint in baselines of version 1. */
uint64_t finding_former_fingerprint(const struct finding *finding);
/* Mask secret values in all that is shown of it; new texts in the arena. */
void finding_mask(struct finding *finding, const struct secrets *secrets,
		  struct arena *arena);
const char *severity_name(enum severity severity);
const char *action_name(enum action action);
/* false when text is not a severity (action). */
bool severity_parse(const char *text, enum severity *out);
bool action_parse(const char *text, enum action *out);

#endif
