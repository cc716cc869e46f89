/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definition of rules, and the functions that their checks may call to look at
 * the object, read parameters and report findings. A rule never prints, needs
 * memory only from rule_arena(), and does not depend on files, policies and
 * suppressions.
 *
 * A rule file rules/catalog/<category>/<name_with_underscores>.c defines
 * exactly one `const struct rule rule_<name_with_underscores> = {`; the build
 * generates the registry by scanning for that line.
 */
#ifndef ENGINE_RULE_H
#define ENGINE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "doc/edit.h"
#include "kube/cluster/cluster.h"
#include "kube/defined_name.h"
#include "kube/object.h"
#include "kube/platform.h"
#include "kube/quota/quota.h"
#include "kube/set/index.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

enum action {
	ACTION_OFF,
	ACTION_AUDIT,
	ACTION_WARN,
	ACTION_PATCH,
	ACTION_DENY
};

/* Limit that a policy sets for all actions. */
enum mode { MODE_AUDIT, MODE_WARN, MODE_ENFORCE };

enum rule_needs {
	NEEDS_SET = 1,	   /* other objects, from the input or the cluster */
	NEEDS_CLUSTER = 2, /* a cluster state */
	NEEDS_PARAM = 4,   /* parameters: off until the policy sets them */
};

enum rule_flags {
	/* Fires because something is absent: skipped for fragments, and with
	 * --partial if it looks at other objects. */
	RULE_ABSENCE = 1,
	/* Depends on a guess about the user's intent: at most a warning. */
	RULE_GUESS = 2,
	/* Also checks pods of DaemonSets and of infrastructure, which other
	 * rules skip. */
	RULE_INFRASTRUCTURE = 4,
	/* Marks a safe fix, which is applied without asking if the policy's
	 * action is patch. */
	RULE_SAFE_PATCH = 8,
	/* Marks a fix that is applied only if the policy or the user asks for
	 * it (opt-in). */
	RULE_OPT_IN_PATCH = 16,
	/* Runs only in preset `all` (advice that many sites do not need). */
	RULE_PEDANTIC = 32,
	/* Reported by the engine itself (syntax, suppressions); it has no check
	 * function. */
	RULE_INTERNAL = 64,
	/* Also checks workloads that occur twice in the input. */
	RULE_DUPLICATES = 128,
	/* Reports devices that no quota counts. An UPDATE with such a finding
	 * does not count as a smaller request, whatever its numbers are. */
	RULE_TAKES = 256,
	/* Some of its findings are errors although its severity is lower. */
	RULE_RAISES = 512,
	/* Tried on few clusters so far: runs only in preset `all` or if
	 * selected by name, reports at most warnings, and only audits at
	 * admission. */
	RULE_PREVIEW = 1024,
	/* Only a baseline can hide it: no comment, annotation or exemption. */
	RULE_LOCKED = 2048,
	/* Infos of the rule depend on the cluster alone: reports show one and
	 * count the others. */
	RULE_SITE = 4096,
};

/*
 * Conditions under which check_pod() and check_object() are called, which they
 * need not test again.
 */
enum check_scope {
	GPU_PODS = 1, /* the pod, or one of the pods of the object, certainly
			 uses GPUs */
	PODSPEC = 2,  /* the pod has a PodSpec, not just a few of its fields */
};

/* The last item of a params array is all zero. */
struct rule_param {
	const char *name;
	const char *type;  /* int, quantity, string, list, map, bool */
	const char *value; /* default, "" if none */
	const char *help;
};

struct rule;
struct rule_run;
struct finding;
struct found_object;

/*
 * A condition on which an operator's own validation rejects an object, in the
 * form of a rule of x-kubernetes-validations. It is evaluated for parts of an
 * object; if `rule` is false for a part, the object is rejected. `self` is the
 * part, or each item of its list (value of its map) at `each`; `owner` is the
 * part, `object` the whole object and `runtime` the runtime to which it refers,
 * or null if that is unknown.
 */
struct rejection {
	const char *id; /* unique in its rule */
	/* The parts to check, as words "Kind", "Kind:path" or
	 * "group/Kind:path". NULL: the pod templates of all kinds. */
	const char *kind;
	/* Path from the part to the reported field (NULL: the field that
	 * decides). A part without the field is accepted, unless absent is
	 * set. */
	const char *field;
	/* CEL expression that is true for accepted parts. NULL: the rule's C
	 * code decides, and calls rule_report_rejection(). */
	const char *rule;
	const char *message; /* CEL expression of the message */
	const char *each;    /* path below the part, or NULL */
	bool absent;	     /* a part without the field may be rejected */
	/* Each text that is not empty is rejected, so that `$NAME` is, too. */
	bool any_text;
	bool gate_on; /* `gate` must be on instead of off */
	/* First version that rejects it. The finding is a warning, because
	 * earlier versions in use accept it, unless the cluster's version is
	 * known: then it is an error, or the check is skipped. NULL: all of
	 * rejections.versions. */
	const char *since;
	/* Last version that rejects it, including its patch releases; else
	 * like since. NULL: the last of rejections.versions. */
	const char *until;
	/* Feature gate that must be off (if gate_on is set, on) for the
	 * operator to reject the object. The finding is an info, because the
	 * gate may be set otherwise. NULL: none. */
	const char *gate;
	/* Words for the end of the message in place of "Kueue rejects the
	 * object": the operator accepts the object, but never runs it. */
	const char *effect;
	/* Adds a fix for a part to its finding; may be NULL. */
	void (*repair)(struct rule_run *run, struct finding *finding,
		       const struct node *part);
};

/* Initializes an entry of rejections.items: the members in order, then named
 * ones. */
#define REJECTION(...)                                                         \
	{                                                                      \
		.id = __VA_ARGS__                                              \
	}

struct rejections {
	/* subject of the messages: "the JobSet webhook" */
	const char *by;
	/* group of kinds written without one, or NULL */
	const char *group;
	/* the only API version to check, or NULL */
	const char *version;
	const struct rejection *items; /* ends with {0} */
	/* versions of the operator whose code was read: "1.5, 1.7 to 1.9". In
	 * another version, a finding is a warning. */
	const char *versions;
	bool groups; /* some kinds are in other groups */
	/* a kind from whose parts the operator makes Jobs, or NULL */
	const char *maker;
	/* the operator whose version since and until compare */
	enum operator_name component;
	/* True for kinds that are rejected for the fault of a pod
	 * template (NULL: always the pod). */
	bool (*rejects_object)(const struct object *object);
};

/* Returns the rejection with this id, or NULL. */
const struct rejection *rule_rejection(const struct rule *rule, const char *id);

struct rule {
	const char *name;	/* kebab-case; never changes */
	const char *category;	/* name of its folder */
	enum severity severity; /* recommended severity of most findings */
	unsigned needs, flags;
	unsigned scope;	     /* enum check_scope (0: all objects and pods) */
	const char *since;   /* first version with the rule; NULL: "1.0" */
	const char *summary; /* one line: the mistake that is reported */
	const char *why;     /* consequence, in one or two sentences */
	/* default help, one imperative sentence; NULL if each message names
	 * the field and the condition that it must meet */
	const char *remedy;
	const char *evidence;		 /* source of the facts */
	const struct rule_param *params; /* NULL: none */
	/*
	 * Rules that are more specific, NULL-terminated: a finding of this rule
	 * is dropped if one of them reports the same pod and container (and the
	 * same cause, if both set one).
	 */
	const char *const *yields_to;
	const char *const *aliases; /* former names, NULL-terminated */
	/* Custom rules: the kinds to check, in any group, NULL-terminated.
	 * NULL: all kinds. */
	const char *const *kinds;
	/* Table for rule_check_rejections() or rule_check_pod_rejections(), or
	 * NULL. */
	const struct rejections *rejections;
	/* Each of the following functions may be NULL. check_pod is called for
	 * each pod template in `scope`. */
	void (*check_pod)(struct rule_run *run, const struct pod *pod);
	/* Called for each object in `scope`, with or without pods. */
	void (*check_object)(struct rule_run *run, const struct object *object);
	/* Called for each workload with GPU pods, once all objects are known;
	 * findings are placed in the workload's file. */
	void (*check_workload)(struct rule_run *run,
			       const struct workload *workload);
	/* Called once, when all objects are known. */
	void (*check_set)(struct rule_run *run);
};

/*
 * Reports a finding at a node: a value, or the nearest existing parent of a
 * missing value. NULL means the name of the container or object, or the spec of
 * the pod. A message is one line in lower case without a full stop that names
 * the object, the number found and the problem; names are in backticks.
 * finding_help() makes the rule's own help concrete. Never returns NULL; the
 * finding lives until the document is finished.
 */
struct finding *report_container(struct rule_run *run,
				 const struct container *container,
				 const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
struct finding *report_pod(struct rule_run *run, const struct pod *pod,
			   const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Declare that a finding of report_place() is about the whole pod, or about its
 * priority class. */
void finding_of_pod(struct finding *finding, struct spec_place pod);
void finding_of_class(struct finding *finding, const struct pod *pod,
		      const struct node *class);
struct finding *report_object(struct rule_run *run, const struct object *object,
			      const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Reports a finding at a place, for check_workload and check_set. */
struct finding *report_place(struct rule_run *run, const struct object_id *id,
			     const struct place *place, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns "Job `x`", or "this Job" if it has no name yet (generateName). */
const char *rule_title(struct rule_run *run, const char *kind,
		       const char *name);

/* Returns "1 GPU", "3 GPUs" or "2 processes", for a message with %s. */
const char *rule_count(struct rule_run *run, int64_t n, const char *noun);
/* Returns the number as text, without a noun. */
const char *rule_number(struct rule_run *run, int64_t n);

/*
 * Overrides the rule's severity; the action changes with it, unless the policy
 * sets the action. Has no effect if the policy sets the severity, or if the
 * setting is strict and severity is a warning. A finding of a preview rule is a
 * warning at most. A rule of lower severity that raises a finding to an error
 * must have RULE_RAISES. If a finding depends on an unknown fact, its message
 * must name the fact with "if", and its severity should be SEVERITY_INFO.
 */
void finding_severity(struct finding *finding, enum severity severity);
/*
 * Returns the action for a severity if the policy sets none. An info, and any
 * finding of a preview rule, is audited. A rule with a safe fix patches, unless
 * it has opt-in fixes or is about uncounted devices. Otherwise an error denies
 * and a warning warns.
 */
enum action rule_action(const struct rule *rule, enum severity severity);
static inline const char *rule_since(const struct rule *rule)
{
	return rule->since ? rule->since : "1.0";
}
/* Lowers an error to a warning, because the finding guesses at the user's
 * intent. Has no effect if the rule's setting does not come from a preset
 * alone. */
void finding_guess(struct rule_run *run, struct finding *finding);
/* Makes the finding an info, because it depends on values outside of the
 * object. Has no effect if the policy sets the severity or the rule's setting
 * is strict (setting.strict). */
void finding_unseen(struct finding *finding);
void finding_help(struct rule_run *run, struct finding *finding,
		  const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Moves the finding from the value to the key of this map entry, if the key is
 * the problem. Has no effect for an entry in a string or in another file. */
void finding_at_key(struct rule_run *run, struct finding *finding,
		    const struct node *entry);
/* Adds a second place that explains the finding. */
void finding_label(struct rule_run *run, struct finding *finding,
		   const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Identifies a missing value by the path from base at which it belongs, so that
 * unrelated additions do not change the finding's fingerprint. base is the
 * pod's spec, a container or the object's root.
 */
void finding_missing(struct finding *finding, const struct object *object,
		     const struct node *base, const char *dotted);
/*
 * Adds a value that decides the finding although the report does not show it,
 * so that an UPDATE that changes it makes a new finding. Always included are
 * the value at the place, the value of a label, and the message. A map, or a
 * list or name in one of them, is included as a whole if the rule has
 * RULE_TAKES, else not at all.
 */
void finding_reads(struct rule_run *run, struct finding *finding,
		   const struct node *at);
void finding_label_place(struct rule_run *run, struct finding *finding,
			 const struct place *place, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Sets a text (such as a resource name) that is part of the fingerprint. A
 * finding of a more specific rule hides this one only if pod, container and
 * this text are equal.
 */
void finding_cause(struct rule_run *run, struct finding *finding,
		   const char *cause);

/*
 * Fixes. A rule describes its fix as edits of the tree (doc/edit.h); the engine
 * merges the edits of all rules, and lint and admission render them. Values are
 * allocated in rule_arena(). Opt-in values are written only if the policy sets
 * them; otherwise the rule offers no fix.
 *
 *	struct fix *fix = finding_fix(run, f, true, "mount %s at /dev/shm", s);
 *	fix_ensure(fix, pod->spec, "volumes", volume, "name");
 */
struct fix;

/* Starts a fix for this finding. safe means that it changes no more than
 * admission would. The title is the edit in the imperative. */
struct fix *finding_fix(struct rule_run *run, struct finding *finding,
			bool safe, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Declares that each value which the following edits overwrite or remove is
 * rejected by the API server or the operator, has no effect, takes devices that
 * nothing counts, or is a mount that gets another volume without loss of files.
 * Without this declaration, a fix that overwrites or removes a value of the
 * author is unsafe whatever the rule says, and neither --fix nor admission
 * applies it unasked. At admission, the API server's defaults count as written
 * by the author.
 */
void fix_replaces(struct fix *fix);
/* Sets the value at a dotted path from base, a node of the document ("" is base
 * itself). */
void fix_set(struct fix *fix, const struct node *base, const char *dotted,
	     struct node *value);
/* Sets a value below base.dotted under a key that may contain dots. */
void fix_set_key(struct fix *fix, const struct node *base, const char *dotted,
		 const char *key, struct node *value);
/* Adds item to the list at base.dotted, unless an item has the same values of
 * these keys ("mountPath", "key,operator,effect"). */
void fix_ensure(struct fix *fix, const struct node *base, const char *dotted,
		struct node *item, const char *keys);
/* True if the policy sets the parameter that contains the value of this fix.
 * Otherwise reports show the name of the parameter as the only missing thing,
 * so call this last. */
bool finding_param_given(struct rule_run *run, struct finding *finding,
			 const char *name);
/* Removes this value with its key, or this list item. */
void fix_remove(struct fix *fix, const struct node *node);

/* Report the operator's rejections, as check_object or check_pod. */
void rule_check_rejections(struct rule_run *run, const struct object *object);
void rule_check_pod_rejections(struct rule_run *run, const struct pod *pod);
/*
 * Reports a rejection that C code found, by its id; the text describes the
 * fault. pod is the rejected pod, or NULL for the object. Returns NULL if the
 * policy turned the check off, or if the configured version does not make it.
 */
struct finding *rule_report_rejection(struct rule_run *run,
				      const struct pod *pod,
				      const struct node *at, const char *id,
				      const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Records that the rule could not make a check. The JSON report lists such
 * rules in rulesNotRun. */
void rule_not_run(struct rule_run *run, const char *reason);

/*
 * rule_cluster() returns the snapshot for the checked object, set for its file
 * or for the run; NULL if there is none or it is too old. The snapshot lives as
 * long as the run. rule_needs_cluster() also requires that objects of the kind
 * could be read for the snapshot; otherwise it returns NULL and records the
 * rule as skipped. rule_cluster_lacks() returns true, and records the rule as
 * skipped, if there is a snapshot for which they could not be read.
 */
const struct cluster *rule_cluster(struct rule_run *run);
const struct cluster *rule_needs_cluster(struct rule_run *run,
					 enum cluster_kind kind);
bool rule_cluster_lacks(struct rule_run *run, enum cluster_kind kind);
/* Returns the ClusterQueue of the workload's LocalQueue. If one of the two is
 * neither in the input nor known from the snapshot, returns NULL and records
 * the rule as skipped. */
const struct found_object *rule_cluster_queue(struct rule_run *run,
					      const struct workload *workload);
/* True, and records the rule as skipped, if the rule needs other objects and
 * nothing shows them, because the run is an admission review without a snapshot
 * or its snapshot is too old. */
bool rule_cluster_lost(struct rule_run *run);
/* True in a review: the API server has decoded and pruned the object. */
bool rule_at_admission(const struct rule_run *run);
/* True if the input files define the object's kind. It reads all of them, so
 * ask it only of a fact that would be reported. */
bool rule_input_defines_kind(struct rule_run *run, const struct object *object);
/* True if the cluster has a later version of the object's operator than those
 * whose definitions were read, so that fields and words may have been added. */
bool rule_operator_is_newer(struct rule_run *run, const struct object *object);
/* Returns yes if the cluster's version of the object's operator is `since` or a
 * later one; sets *name to the name of the operator. */
enum tri rule_operator_is_at_least(struct rule_run *run,
				   const struct object *object,
				   const char *since, const char **name);
/* Ends the message of a finding that holds for the versions that were read. */
#define OF_KNOWN_VERSIONS                                                      \
	" (in the known versions of the operator; the cluster has a newer one)"
/* True if --admission-policy or the snapshot has the definition of the custom
 * kind. */
bool rule_has_definition(const struct rule_run *run,
			 const struct object *object);
/* True unless a check (enum typed_check) cannot report anything about the
 * object that the run checks. */
bool rule_may_find(struct rule_run *run, unsigned check);
/* Returns the policy's statements about the cluster; never NULL. */
const struct platform *rule_platform(struct rule_run *run);
/* Returns a finder of DeviceClasses, which quotas of devices depend on. */
struct class_finder rule_classes(struct rule_run *run);
/* True if a DeviceClass of the snapshot or of the input files defines the
 * resource name. Clusters allow such requests from Kubernetes 1.36 on by
 * default. */
bool rule_names_device(struct rule_run *run, const char *resource);
/* True if an object of the input files defines that name. */
bool rule_input_defines(struct rule_run *run, enum defined_kind kind,
			const char *text);
/* Like pod_runtime_scheduling(), but also unknown if a RuntimeClass of the
 * input files adds to the pod. */
const struct node *rule_runtime_scheduling(struct rule_run *run,
					   const struct pod *pod,
					   bool *unknown);
/* Returns how device plugins pass devices to containers, from the cluster
 * state, or else from the policy. */
enum device_injection rule_injection(struct rule_run *run);
/* Returns the minor version of Karpenter 1, from the cluster state, or else
 * from the policy; 0 if unknown. */
int rule_karpenter(struct rule_run *run);
/* Returns the objects of that kind in a namespace of the snapshot, which must
 * exist. They are read once for rules that ask for each pod or container. */
const struct cluster_object *rule_cluster_list(struct rule_run *run,
					       enum cluster_kind kind,
					       const char *namespace,
					       size_t *n);
/* Returns whether a LimitRange of the object's namespace sets a default of the
 * resource ("cpu", "memory") for containers, according to the cluster state, or
 * else the policy. */
enum tri rule_limit_default(struct rule_run *run, const struct object *object,
			    const char *resource);
/* Returns the reason why the run lacks a cluster state, for rule_not_run(). */
const char *rule_without_cluster(struct rule_run *run);

/* Return the value that the policy sets for a parameter, or its default. They
 * call BUG() on a name that the rule does not declare. */
const char *rule_param(struct rule_run *run, const char *name);
int64_t rule_param_int(struct rule_run *run, const char *name);
struct quantity rule_param_quantity(struct rule_run *run, const char *name);
bool rule_param_given(struct rule_run *run, const char *name);

/* Returns memory that lives until the document (or the set) is finished. */
struct arena *rule_arena(struct rule_run *run);
/* Returns all known objects; only in check_workload and check_set. */
const struct object_index *rule_index(struct rule_run *run);
/*
 * Returns the object of a workload, for check_workload and check_set. Lint
 * reads the file again, so call it only if a finding depends on the object. It
 * can be used in reports but not in fixes. Returns NULL for a workload of the
 * cluster, or if the file cannot be read any more. Valid until the next call
 * for a workload of another file.
 */
const struct object *rule_object(struct rule_run *run,
				 const struct workload *workload);
/* Returns the pod of the workload's object whose facts are pods[i], or NULL. */
const struct pod *rule_pod(struct rule_run *run,
			   const struct workload *workload, size_t i);
/* Returns the place of a node of the object that was read last, for
 * report_place(). */
const struct place *rule_place(struct rule_run *run, const struct node *at);
/* Returns the labels of the object's namespace, from the review or the cluster
 * state; NULL if unknown. */
const struct node *rule_namespace_labels(struct rule_run *run,
					 const struct object *object);
/* True if the run has only some of the input files (--partial, --since,
 * hooks). */
bool rule_set_is_partial(struct rule_run *run);
const struct accelerator_extra *rule_accelerators(struct rule_run *run);

/*
 * Tables of objects that operators reject, which are too long for the files of
 * their rules.
 */

/* True if Kueue makes a pod set of each template of the kind, so that its
 * webhook rejects the object and not a pod. grouped restricts this to kinds
 * whose pod sets can form a group. */
bool kueue_has_pod_sets(const struct object *object, bool grouped);

extern const struct rejections kserve_rejections;
extern const struct rejections kuberay_rejections;
extern const struct rejections kueue_rejections;
extern const struct rejections server_rejections;
extern const struct rejections trainer_rejections;
extern const struct rejections volcano_rejections;

#endif
