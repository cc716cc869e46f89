/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules, and the functions that their checks may call: look at the object, read
 * parameters, report. A rule never prints, allocates, or knows of files,
 * policies and suppressions.
 *
 * A rule file rules/catalog/<category>/<name_with_underscores>.c defines
 * exactly one `const struct rule rule_<name_with_underscores> = {`; the
 * registry is made by scanning for that line.
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
#include "kube/set/index.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

enum action {
	ACTION_OFF,
	ACTION_AUDIT,
	ACTION_WARN,
	ACTION_PATCH,
	ACTION_DENY
};

/* A policy's ceiling for every action. */
enum mode { MODE_AUDIT, MODE_WARN, MODE_ENFORCE };

enum rule_needs {
	NEEDS_SET = 1,	   /* other objects: from the input or the cluster */
	NEEDS_CLUSTER = 2, /* a cluster state only */
	NEEDS_PARAM = 4,   /* off until the policy gives its parameters */
};

enum rule_flags {
	/* Fires because something is absent: silent on fragments, and under
	 * --partial when it looks at the set. */
	RULE_ABSENCE = 1,
	/* The rule guesses at intent: at most a warning. */
	RULE_GUESS = 2,
	/* Checks the pod whatever its kind does with pods: DaemonSets and
	 * infrastructure included. Without this flag such pods are skipped. */
	RULE_INFRASTRUCTURE = 4,
	/* A safe fix: applied without asking if the policy says patch. */
	RULE_SAFE_PATCH = 8,
	/* Fixes only if the policy asks for it (opt-in). */
	RULE_OPT_IN_PATCH = 16,
	/* Only in preset `all` (advice that many sites do not need). */
	RULE_PEDANTIC = 32,
	/* Reported by the engine itself (syntax, suppressions); has no
	 * check. */
	RULE_INTERNAL = 64,
	/* Also checks workloads that occur twice in the input. */
	RULE_DUPLICATES = 128,
	/* The rule is about devices that no quota counts. An UPDATE with
	 * such a finding does not count as a smaller request, whatever its
	 * numbers are. */
	RULE_TAKES = 256,
	/* Some of its findings are errors, although its severity is lower. */
	RULE_RAISES = 512,
	/* Not tried on enough clusters yet: runs in preset `all` or if it is
	 * named, at most as a warning, and audited. */
	RULE_PREVIEW = 1024,
	/* No comment, annotation or exemption hides it, only a baseline. */
	RULE_LOCKED = 2048,
	/* Infos of the rule depend on the cluster alone: reports show one and
	 * count the others. */
	RULE_SITE = 4096,
};

/*
 * Pods and objects that check_pod() and check_object() are called for: they
 * need not test these properties again.
 */
enum check_scope {
	GPU_PODS = 1, /* it certainly uses GPUs; for an object: one of its pods
			 does */
	PODSPEC = 2,  /* the pod has a PodSpec, not just a few of its fields */
	/*
	 * Skips a repetition (pod_repeats()) of the previous pod if that had no
	 * finding: a rule that reads only the template, not the pod's role and
	 * number, would find nothing again. Workers are usually written like
	 * their master: a PyTorchJob of 8 KB needs 20,000 of 209,000
	 * instructions less.
	 */
	NEW_TEMPLATES = 4,
};

/* The last item of a params array is all zero. */
struct rule_param {
	const char *name;
	const char *type;  /* int, quantity, string, list, map, bool */
	const char *value; /* default, "" for none */
	const char *help;
};

struct rule;
struct rule_run;
struct finding;

/*
 * A rejection by an operator's own validation, in the form of a rule of
 * x-kubernetes-validations: a part of an object for which `rule` is false is
 * rejected. `self` is the part, or each item of its list (value of its map) at
 * `each`; `owner` is the part and `object` the whole object.
 */
struct rejection {
	const char *id; /* unique in its rule */
	/* The parts: words "Kind", "Kind:path", "group/Kind:path". NULL: the
	 * pod templates of all kinds. */
	const char *kind;
	/* Path below the part to the reported field; NULL: the field that
	 * decides. A part without the field is accepted, unless absent is
	 * set. */
	const char *field;
	/* CEL, true: accepted. NULL: the rule's C code decides, and calls
	 * rule_report_rejection(). */
	const char *rule;
	const char *message; /* CEL text: the fault */
	const char *each;    /* path below the part, or NULL */
	bool absent;	     /* a part without the field may be rejected */
	/* The first version that rejects: a warning, because earlier versions
	 * in use accept it. NULL: all of rejections.versions. */
	const char *since;
	/* The last version that rejects, with all of its patches: a warning as
	 * well. NULL: the last of rejections.versions. */
	const char *until;
	/* A check that its operator turns off by default: an info. */
	const char *gate;
	/* Adds a fix to the finding at a part, or NULL. */
	void (*repair)(struct rule_run *run, struct finding *finding,
		       const struct node *part);
};

/* An entry of rejections.items: the members in order, the last ones named. */
#define REJECTION(...)                                                         \
	{                                                                      \
		.id = __VA_ARGS__                                              \
	}

struct rejections {
	const char *by;		       /* "the JobSet webhook" */
	const char *group;	       /* of kinds without a group, or NULL */
	const char *version;	       /* the only version, or NULL */
	const struct rejection *items; /* ends with {0} */
	const char *versions; /* the versions of the operator that were read:
				 "1.5 to 1.7" */
	bool groups;	      /* some kinds have other groups */
};

/* The rejection with this id, or NULL. */
const struct rejection *rule_rejection(const struct rule *rule, const char *id);

struct rule {
	const char *name;	/* kebab-case; never changes */
	const char *category;	/* = folder */
	enum severity severity; /* recommended, of most findings */
	unsigned needs, flags;
	unsigned scope;	      /* enum check_scope; 0: all objects and pods */
	const char *since;    /* version that added it: "1.0" */
	const char *summary;  /* one line: the flagged mistake */
	const char *why;      /* consequence, in one or two sentences */
	const char *remedy;   /* remedy, in the imperative */
	const char *evidence; /* source of the fact */
	const struct rule_param *params; /* NULL: none */
	/*
	 * Names of more specific rules, NULL-terminated: a finding of this rule
	 * is dropped if one of them reports the same pod and container (and the
	 * same cause, if both set one).
	 */
	const char *const *yields_to;
	const char *const *aliases; /* former names, NULL-terminated */
	/* Custom rules: the only kinds that the rule checks, in any group; ends
	 * with NULL. NULL: all kinds. */
	const char *const *kinds;
	/* For rule_check_rejections() or rule_check_pod_rejections(), or NULL.
	 */
	const struct rejections *rejections;
	/* Any of these may be NULL. check_pod is called for each pod
	 * template. */
	void (*check_pod)(struct rule_run *run, const struct pod *pod);
	/* Called for each GPU-relevant or policy object, with or without
	 * pods. */
	void (*check_object)(struct rule_run *run, const struct object *object);
	/* Called for each workload with GPU pods, once all objects are known;
	 * findings are placed in the workload's file. */
	void (*check_workload)(struct rule_run *run,
			       const struct workload *workload);
	/* Called once, when all objects are known. */
	void (*check_set)(struct rule_run *run);
};

/*
 * Reports a finding at a node: a value, or the nearest present parent of a
 * missing one; NULL means the container's or the object's name. A message is
 * one line in lower case without a full stop that names the object, the number
 * found and the problem; names are in backticks. finding_help() makes the
 * rule's own help concrete. The finding returned is never NULL; it lives until
 * the document is done.
 */
struct finding *report_container(struct rule_run *run,
				 const struct container *container,
				 const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
struct finding *report_pod(struct rule_run *run, const struct pod *pod,
			   const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The finding of report_place() is about the whole pod, or about its priority
 * class. */
void finding_of_pod(struct finding *finding, const struct workload_pod *pod);
void finding_of_class(struct finding *finding, const struct workload_pod *pod);
struct finding *report_object(struct rule_run *run, const struct object *object,
			      const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* For check_workload and check_set. */
struct finding *report_place(struct rule_run *run, const struct object_id *id,
			     const struct place *place, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* "Job `x`", or "this Job" where it has no name yet (generateName). */
const char *rule_title(struct rule_run *run, const char *kind,
		       const char *name);

/* "1 GPU", "3 GPUs", "2 processes": for a message, with %s. */
const char *rule_count(struct rule_run *run, int64_t n, const char *noun);
/* The number alone. */
const char *rule_number(struct rule_run *run, int64_t n);

/*
 * Overrides the rule's severity, unless the policy sets it; the action changes
 * with it, unless the policy sets that too. A rule of lower severity that
 * raises a finding to an error must have RULE_RAISES. If a finding depends on
 * something unknown, use at most SEVERITY_INFO and word the message with "if".
 */
void finding_severity(struct finding *finding, enum severity severity);
/* Returns the action for a severity if the policy names none: an error
 * denies and a warning warns, unless a safe fix is patched (never for rules
 * about uncounted devices); an info is audited. */
enum action rule_action(const struct rule *rule, enum severity severity);
/* Marks the finding as a guess at intent: at most a warning, unless the
 * policy's `rules:` set it. */
void finding_guess(struct rule_run *run, struct finding *finding);
/* Marks the finding as dependent on values outside of the object: an info,
 * unless the preset is strict. */
void finding_unseen(struct finding *finding);
void finding_help(struct rule_run *run, struct finding *finding,
		  const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Points the finding at the key of this map entry: the key is the problem. */
void finding_at_key(struct rule_run *run, struct finding *finding,
		    const struct node *entry);
/* Adds a second place that explains the finding. */
void finding_label(struct rule_run *run, struct finding *finding,
		   const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Names a missing value by the path from base where it belongs, so that
 * unrelated additions do not change the finding. base is the pod's spec, a
 * container, the object's root.
 */
void finding_missing(struct finding *finding, const struct object *object,
		     const struct node *base, const char *dotted);
/*
 * Adds a value that also decides the verdict and has no place in the report: an
 * UPDATE that changes it makes another finding. Counted without it: the value
 * at the place, the value of a label, the message; of maps, and of lists and
 * names among them, the whole value if the rule takes devices, else nothing.
 */
void finding_reads(struct rule_run *run, struct finding *finding,
		   const struct node *at);
void finding_label_place(struct rule_run *run, struct finding *finding,
			 const struct place *place, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Sets one more key to compare when findings yield, besides pod and container
 * (a resource name).
 */
void finding_cause(struct rule_run *run, struct finding *finding,
		   const char *cause);

/*
 * Fixes. A rule states its fix once, as ensure-operations on the tree
 * (doc/edit.h); the engine merges those of all rules and lint and admission
 * render them. Values are made in rule_arena(). Opt-in values are only written
 * if the policy sets them; else the rule offers no fix.
 *
 *	struct fix *fix = finding_fix(run, f, true, "mount %s at /dev/shm", s);
 *	fix_ensure(fix, pod->spec, "volumes", volume, "name");
 */
struct fix;

/* Starts a fix for this finding. safe: it changes no more than admission would.
 * The title names the edit, in the imperative. */
struct fix *finding_fix(struct rule_run *run, struct finding *finding,
			bool safe, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Declares that the values which the following edits overwrite or remove are
 * rejected by the API server or the operator, have no effect, take devices that
 * nothing counts, or lose no file (a mount that gets another volume). Without
 * it a fix that overwrites or removes a value of the author is unsafe, whatever
 * the rule says: neither --fix nor admission applies it without being asked. At
 * admission the API server's defaults count as written.
 */
void fix_replaces(struct fix *fix);
/* Sets the value at a dotted path from base, a value of the document ("" is
 * base itself). */
void fix_set(struct fix *fix, const struct node *base, const char *dotted,
	     struct node *value);
/* Sets a value under one more key, which may contain dots. */
void fix_set_key(struct fix *fix, const struct node *base, const char *dotted,
		 const char *key, struct node *value);
/* Adds item to the list at base.dotted, unless an item has the same values of
 * these keys ("mountPath", "key,operator,effect"). */
void fix_ensure(struct fix *fix, const struct node *base, const char *dotted,
		struct node *item, const char *keys);
/* True if the policy sets the value that this fix needs and only a policy can
 * choose. Otherwise reports name the parameter, so call it last, when nothing
 * else prevents the fix. */
bool finding_param_given(struct rule_run *run, struct finding *finding,
			 const char *name);
/* Removes this value, its key or its list item. */
void fix_remove(struct fix *fix, const struct node *node);

/* For check_object or check_pod: reports the operator's rejections. */
void rule_check_rejections(struct rule_run *run, const struct object *object);
void rule_check_pod_rejections(struct rule_run *run, const struct pod *pod);
/* Reports the rejection of this id that C code found, unless it is off; the
 * text is the fault. pod: the one that is rejected, or NULL: the object. */
struct finding *rule_report_rejection(struct rule_run *run,
				      const struct pod *pod,
				      const struct node *at, const char *id,
				      const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Counts a check that the rule could not make, reported in rulesNotRun. */
void rule_not_run(struct rule_run *run, const char *reason);

/*
 * rule_cluster() returns the snapshot of the checked object: its file's or the
 * run's; NULL if there is none, or it is too old. The snapshot lives as long as
 * the run. rule_needs_cluster() also requires it to know objects of a kind;
 * otherwise the rule counts as skipped. rule_cluster_lacks(): true if objects
 * of the kind could not be read for the snapshot; the rule then counts as
 * skipped.
 */
const struct cluster *rule_cluster(struct rule_run *run);
const struct cluster *rule_needs_cluster(struct rule_run *run,
					 enum cluster_kind kind);
bool rule_cluster_lacks(struct rule_run *run, enum cluster_kind kind);
/* For rules that depend on known objects: at admission there is only one
 * object, and a snapshot that is too old is not used. The rule then counts as
 * skipped. */
bool rule_cluster_lost(struct rule_run *run);
/* True in a review: the API server has decoded and pruned the object. */
bool rule_at_admission(const struct rule_run *run);
/* Returns the policy's statements about the cluster; never NULL. */
const struct platform *rule_platform(struct rule_run *run);
/* True if a DeviceClass of the snapshot or of the input files defines the
 * resource name. Clusters honor it from Kubernetes 1.36 on by default. */
bool rule_names_device(struct rule_run *run, const char *resource);
/* True if an object of the input files defines that name. */
bool rule_input_defines(struct rule_run *run, enum defined_kind kind,
			const char *text);
/* pod_runtime_scheduling(); also unknown if a RuntimeClass of the input files
 * adds to the pod. */
const struct node *rule_runtime_scheduling(struct rule_run *run,
					   const struct pod *pod,
					   bool *unknown);
/* Returns how devices are injected into containers, from the cluster state or
 * else from the policy. */
enum device_injection rule_injection(struct rule_run *run);
/* Returns the minor version of Karpenter 1 in the same way; 0 if unknown. */
int rule_karpenter(struct rule_run *run);
/* True if a LimitRange of the object's namespace gives containers a default of
 * the resource ("cpu", "memory"), by the cluster state, else by the policy. */
enum tri rule_limit_default(struct rule_run *run, const struct object *object,
			    const char *resource);
/* Returns the reason why the run lacks a cluster state, for rule_not_run(). */
const char *rule_without_cluster(struct rule_run *run);

/* Parameters, as the policy sets them. BUG() on a name that the rule does not
 * declare. */
const char *rule_param(struct rule_run *run, const char *name);
int64_t rule_param_int(struct rule_run *run, const char *name);
struct quantity rule_param_quantity(struct rule_run *run, const char *name);
bool rule_param_given(struct rule_run *run, const char *name);

/* Scratch memory until the document (or the set) is done. */
struct arena *rule_arena(struct rule_run *run);
/* All known objects; only in check_workload, check_set. */
const struct object_index *rule_index(struct rule_run *run);
/*
 * Returns the object of a workload with its pods, for check_workload. Lint
 * reads the file again for it: call it only when a finding depends on it.
 * Reports work on it, fixes do not. NULL: the file can no longer be read.
 * Valid until the next call.
 */
const struct object *rule_object(struct rule_run *run,
				 const struct workload *workload);
/* Labels of the object's namespace, from the review or the cluster state; NULL
 * if unknown. */
const struct node *rule_namespace_labels(struct rule_run *run,
					 const struct object *object);
/* True if the run has only some of the input files (--partial, --since,
 * hooks). */
bool rule_set_is_partial(struct rule_run *run);
const struct accelerator_extra *rule_accelerators(struct rule_run *run);

#endif
