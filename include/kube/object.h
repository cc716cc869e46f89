/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Kubernetes object and the pods it makes. Everything here is a view of a
 * node tree, built by object_read() into an arena, and read-only for rules.
 * Strings are NULL when absent, not a string, or unknown.
 *
 * The kinds, the paths of their pod templates, their numbers of pods and the
 * fields that operators inject are data: rules/kube/data/kinds.txt.
 */
#ifndef KUBE_OBJECT_H
#define KUBE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "doc/load.h"
#include "doc/node.h"
#include "kube/pod.h"

struct kind;
struct runtime;
struct runtime_use;

/* The purpose of a kind. Decides "training" and "serving" in rules. */
enum kind_class {
	KIND_OTHER, /* no pods, or nothing special */
	KIND_POD,
	KIND_BATCH,    /* Job, CronJob, Workflow: runs to an end */
	KIND_TRAINING, /* made for training: Kubeflow, MPI, TrainJob, vcjob */
	KIND_SERVING,  /* made for serving: InferenceService, NIMService, ... */
	KIND_SERVICE,  /* long-running of any sort: Deployment, StatefulSet */
	KIND_RAY,      /* RayCluster, RayJob, RayService */
	KIND_INTERACTIVE, /* Notebook, Workspace */
	KIND_DAEMON,	  /* one pod a node */
	KIND_TEMPLATE,	  /* makes pods only if another object refers to it */
};

/*
 * Source of an object's gang; see object.gang_*. Ray clusters run with the
 * workers they have: GANG_NONE, unless a queue or scheduler groups them. A
 * TrainJob's runtime may group its pods: GANG_OPERATOR.
 */
enum gang_kind {
	GANG_NONE,     /* pods start one by one, each useful alone */
	GANG_OPERATOR, /* the operator or queue starts all or none */
	GANG_NEEDED,   /* pods need each other, but nothing groups them */
};

struct object {
	const struct doc *doc;
	const struct node *root;
	/* The root as its controller spells the fields, or the root. */
	const struct node *spelled;
	/* The spelled tree merged with the fields of the object's runtime, or
	 * the root. */
	const struct node *merged;
	const char *api_version, *group, *version, *kind;
	const char *name, *namespace, *generate_name;
	const struct node *labels, *annotations; /* of metadata, or NULL */
	const struct kind *type; /* row of the table, NULL: unknown kind */
	enum kind_class class;
	bool fragment; /* kustomize patch or component */
	/* Objects inside of it, or documents in its strings, are too many or
	 * too complex to read: some are missing here. */
	bool costly;
	bool cluster_scoped;
	const struct object *parent; /* the object that embeds this one (Katib,
					AppWrapper) */
	struct amount copies;	     /* created by the parent, else 1 */
	struct pod *pods;
	size_t npods;
	struct object *embedded; /* list items are separate objects */
	size_t nembedded;
	struct amount gpus; /* steady: sum over pods of pods x gpus,
			       and over embedded of copies x gpus */
	struct amount gpus_peak;
	struct amount gang; /* pods that must run at once; for kinds with
			       groups, of one group */
	enum gang_kind gang_kind;
	bool suspended;
	bool kueue; /* carries kueue.x-k8s.io/queue-name */
	/* Yes if its namespace is in the policy's `infrastructure:`, unknown if
	 * the namespace is unknown. */
	enum tri infrastructure;
	bool pods_inferred; /* unknown kind, pods found by their shape */
	bool pods_unknown;  /* unknown kind with devices, no pods found */
	const struct claim_table *claims; /* of its file, or NULL */
	const struct node *runtime;	/* its name, if it is in another file */
	const struct runtime_use *uses; /* its runtimes (kube/runtime.h) */
	const void *settings; /* the caller's pointer, or NULL: see workload */
};

/* Kinds and accelerators that the policy adds (`kinds:`). */
struct policy_kind {
	const char *api_version, *kind;
	const char *pods; /* "/spec/roles/" "*" "/template": pointer with * */
	const char *replicas; /* the same, with the same value for *, or NULL */
};

struct kube_config {
	struct accelerator_extra accelerators;
	const struct policy_kind *kinds;
	size_t nkinds;
	const struct pod_injection *injected; /* kube/injected.h */
	size_t ninjected;
	/* Exact names of namespaces, NULL-terminated; NULL: the default
	 * names. */
	const char *const *infrastructure;
	bool fragment; /* every object is a patch (kustomize names the file) */
	const struct claim_table *claims; /* of the file (kube/claim.h) */
	struct runtime_finder {
		const struct runtime *(*find)(void *context,
					      const struct object *object,
					      const char *kind,
					      const struct node *ref);
		void *context;
	} runtimes; /* kube/runtime.h */
};

struct object_list {
	struct object *items;
	size_t n, size;
};

/*
 * Reads the objects of a document: one object, the items of a List (any *List
 * kind with items), or none if it has no apiVersion and kind. Embedded objects
 * hang below their object. *nested_list reports a List inside a List (kubectl
 * rejects it, gpugate reads it).
 */
void object_read(struct arena *arena, const struct kube_config *config,
		 const struct doc *doc, struct object_list *out,
		 const struct node **nested_list);

/* Properties of a kind, from the table. */
enum kind_flags {
	KIND_CLUSTER = 1,    /* cluster-scoped */
	KIND_SELECTOR = 2,   /* native: spec.selector is required */
	KIND_NATIVE = 4,     /* the API server checks its pod templates */
	KIND_ONE = 8,	     /* pods of different rows need not run together */
	KIND_OPAQUE = 16,    /* its values are not pods of this object */
	KIND_SCHEDULED = 32, /* runs on a schedule; spec.concurrencyPolicy */
	KIND_ENDS = 64,	     /* runs to an end, whatever its class */
	KIND_SERVES = 128,
	KIND_WHOLE = 256,   /* a template that is used unchanged */
	KIND_VALUES = 512,  /* values for a chart whose output is unknown */
	KIND_QUEUED = 1024, /* Kueue reads its labels, not those of its pods */
	KIND_RANKS = 2048,  /* pods with devices are ranks of one program */
	KIND_HEADLESS = 4096, /* has a headless Service of the same name */
	KIND_NUMBERS = 8192,  /* a webhook writes its numbers as strings */
	KIND_ARGV = 16384, /* flat pods have a container's command and args */
};

/* True if the kind has any of these flags. */
bool object_kind_has(const struct object *object, unsigned flags);
/* Returns its label that names a Kueue queue, or NULL; for a CronJob, the
 * label of its Jobs, which get only the labels of their template
 * (pkg/controller/cronjob/utils.go, copyLabels). */
const struct node *object_kueue_label(const struct object *object);
/* True if it has pods of this role. */
bool object_has_role(const struct object *object, const char *role);
/* The container that its operator requires in each of its pods, or NULL. */
const char *object_main_container(const struct object *object);

/*
 * True if this kind makes pods, by the table or by the policy: the owner itself
 * is checked then. api_version is as in an ownerReference.
 */
bool kind_makes_pods(const struct kube_config *config, const char *api_version,
		     const char *kind);

#define FOR_EACH_POD(object_, pod_)                                            \
	for (const struct pod *pod_ = (object_)->pods;                         \
	     pod_ && pod_ < (object_)->pods + (object_)->npods; pod_++)

/* Rule by which the operator of its gang scheduler sums up the requests of its
 * templates. */
enum summed_requests {
	REQUESTS_NOT_SUMMED, /* or limits replace requests */
	REQUESTS_WHERE_SET,  /* limits, if no requests are set */
	REQUESTS_ALONE,	     /* nothing but requests */
};
enum summed_requests object_request_sum(const struct object *object);
/* Number of copies that the enclosing objects create; 1 if there are none. */
struct amount object_copies(const struct object *object);

static inline bool object_is(const struct object *object, const char *group,
			     const char *kind)
{
	return text_eq(object->group, group) && text_eq(object->kind, kind);
}

/* NULL also for an explicit null. Inline as node_get() is. */
static inline __attribute__((always_inline)) const struct node *
object_label(const struct object *object, const char *key)
{
	return node_if_set(node_get(object->labels, key));
}

static inline __attribute__((always_inline)) const struct node *
object_annotation(const struct object *object, const char *key)
{
	return node_if_set(node_get(object->annotations, key));
}

#endif
