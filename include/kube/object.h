/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Kubernetes object and the pods that it makes. object_read() builds these
 * structs in an arena; they refer to the node tree, and rules may only read
 * them. Strings are NULL if absent, not a string, or unknown.
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
#include "base/buf.h"
#include "base/text.h"
#include "doc/load.h"
#include "doc/node.h"
#include "kube/pod.h"

struct kind;
struct runtime;
struct runtime_use;

/* The purpose of a kind, from which rules derive "training" and "serving". */
enum kind_class {
	KIND_OTHER, /* makes no pods, or serves any purpose */
	KIND_POD,
	KIND_BATCH,    /* runs to completion: Job, CronJob, Workflow */
	KIND_TRAINING, /* made for training: Kubeflow, MPI, TrainJob, vcjob */
	KIND_SERVING,  /* made for serving: InferenceService, NIMService, ... */
	KIND_SERVICE,  /* runs indefinitely: Deployment, StatefulSet */
	KIND_RAY,      /* RayCluster, RayJob, RayService */
	KIND_INTERACTIVE, /* Notebook, Workspace */
	KIND_DAEMON,	  /* one pod per node */
	KIND_TEMPLATE,	  /* makes pods only if another object refers to it */
};

/*
 * Mechanism that starts an object's pods together (see object.gang_kind). Ray
 * clusters run with the workers they have, so they are GANG_NONE unless a queue
 * or scheduler groups them.
 */
enum gang_kind {
	GANG_NONE,     /* pods start one by one; each is useful alone */
	GANG_OPERATOR, /* the operator or queue starts all pods or none */
	/* pods need each other, but nothing starts them together */
	GANG_NEEDED,
};

struct object {
	const struct doc *doc;
	const struct node *root;
	/* The root with the field names that its controller uses; or the root
	 * itself. */
	const struct node *spelled;
	/* The spelled tree merged with the fields of the object's runtime; or
	 * the root. */
	const struct node *merged;
	const char *api_version, *group, *version, *kind;
	const char *name, *namespace, *generate_name;
	/* metadata of the object, or NULL */
	const struct node *labels, *annotations;
	/* row of the kinds table, or NULL (unknown kind) */
	const struct kind *type;
	enum kind_class class;
	bool fragment; /* a part of an object, such as a kustomize patch */
	/* Parts of the object, such as embedded objects or merged lists, were
	 * not read because they are too many or too complex. */
	bool costly;
	bool cluster_scoped;
	/* object that contains this one (Katib, AppWrapper) */
	const struct object *parent;
	/* number that the parent creates, else 1 */
	struct amount copies;
	struct pod *pods;
	size_t npods;
	/* list items are separate objects, not embedded */
	struct object *embedded;
	size_t nembedded;
	/* steady state: sum of pods x gpus of all pods, and of copies x gpus of
	 * embedded objects */
	struct amount gpus;
	struct amount gpus_peak;
	/* number of pods that must run at once, in one group if the kind has
	 * groups */
	struct amount gang;
	enum gang_kind gang_kind;
	bool suspended;
	/* Kueue's queue label is set in the object, or in one that contains
	 * it */
	bool kueue;
	/* Yes if the object's namespace is in the policy's `infrastructure:`,
	 * unknown if the namespace is unknown. */
	enum tri infrastructure;
	bool pods_inferred; /* unknown kind, pods found by their shape */
	bool pods_unknown;  /* unknown kind with devices, no pods found */
	const struct claim_table *claims; /* claims of its file, or NULL */
	/* name of its runtime, if that is in another file or the cluster */
	const struct node *runtime;
	const struct runtime_use *uses; /* its runtimes (kube/runtime.h) */
	/* pointer of the caller, which workload_read() copies to the workload;
	 * or NULL */
	const void *settings;
};

/* A kind that the policy adds (`kinds:`). */
struct policy_kind {
	const char *api_version, *kind;
	/* JSON pointer to its pods; a token * matches each item or value */
	const char *pods;
	/* JSON pointer to the number of pods, or NULL. A token * is the item
	 * that the same token of pods matched. */
	const char *replicas;
};

struct kube_config {
	struct accelerator_extra accelerators;
	const struct policy_kind *kinds;
	size_t nkinds;
	const struct pod_injection *injected; /* see below */
	size_t ninjected;
	/* Exact names of infrastructure namespaces, NULL-terminated, or NULL
	 * (the default names). */
	const char *const *infrastructure;
	bool fragment; /* every object is a patch (kustomize names the file) */
	/* claims in the file (kube/claim.h) */
	const struct claim_table *claims;
	struct runtime_finder {
		const struct runtime *(*find)(void *context,
					      const struct object *object,
					      const char *kind,
					      const struct node *ref);
		void *context;
	} runtimes; /* see kube/runtime.h */
};

struct object_list {
	struct object *items;
	size_t n, size;
};

/*
 * Reads the objects of a document: one object, the items of a List (any *List
 * kind with items), or none if it has no apiVersion and kind. Embedded objects
 * become children of their object. A ClusterSnapshot is skipped. Sets
 * *nested_list (nested_list may be NULL) to the first List inside a List, which
 * gpugate reads although kubectl rejects it, or to NULL.
 */
void object_read(struct arena *arena, const struct kube_config *config,
		 const struct doc *doc, struct object_list *out,
		 const struct node **nested_list);

/* Properties of a kind, from the table. */
enum kind_flags {
	KIND_CLUSTER = 1,  /* cluster-scoped */
	KIND_SELECTOR = 2, /* native: spec.selector is required */
	KIND_NATIVE = 4,   /* the API server checks its pod templates */
	KIND_ONE = 8,	   /* pods of different rows need not run together */
	/* its values do not belong to pods of this object */
	KIND_OPAQUE = 16,
	/* runs on a schedule and has spec.concurrencyPolicy */
	KIND_SCHEDULED = 32,
	KIND_ENDS = 64,	   /* runs to completion, whatever its class */
	KIND_SERVES = 128, /* serves requests, whatever its class */
	KIND_WHOLE = 256,  /* a template that is used unchanged */
	KIND_VALUES = 512, /* values for a chart whose output is unknown */
	/* Kueue reads the labels of the object, not of its pods */
	KIND_QUEUED = 1024,
	KIND_RANKS = 2048,    /* pods with devices are ranks of one program */
	KIND_HEADLESS = 4096, /* has a headless Service of the same name */
	KIND_NUMBERS = 8192,  /* a webhook writes its numbers as strings */
	/* flat pods have the command and args of a container */
	KIND_ARGV = 16384,
	KIND_PLAIN = 32768, /* serving, with templates of Kubernetes' type */
	KIND_PART = 65536,  /* its containers become parts of other pods */
};

/* True if the kind has any of these flags. */
bool object_kind_has(const struct object *object, unsigned flags);
/* Returns the object's label that names a Kueue queue, or NULL. For a CronJob
 * it is the label of its Jobs, which get only the labels of their template
 * (pkg/controller/cronjob/utils.go, copyLabels). */
const struct node *object_kueue_label(const struct object *object);
/* True if the object has pods of this role. */
bool object_has_role(const struct object *object, const char *role);
/* Returns the name of the container that the operator requires in each pod of
 * the object, or NULL. */
const char *object_main_container(const struct object *object);

/*
 * True if this kind makes pods according to the table or the policy, so that an
 * owner of this kind is checked itself. api_version is as in an ownerReference.
 */
bool kind_makes_pods(const struct kube_config *config, const char *api_version,
		     const char *kind);

#define FOR_EACH_POD(object_, pod_)                                            \
	for (const struct pod *pod_ = (object_)->pods;                         \
	     pod_ && pod_ < (object_)->pods + (object_)->npods; pod_++)

/* Method by which the kind's operator adds up the requests of the templates for
 * a PodGroup. */
enum summed_requests {
	REQUESTS_NOT_SUMMED, /* not at all, or limits replace requests */
	/* requests, or the limits if no requests are set */
	REQUESTS_WHERE_SET,
	REQUESTS_ALONE, /* requests only */
};
enum summed_requests object_request_sum(const struct object *object);
/* Returns the number of copies of this object that its parents create, up to
 * the first parent that makes pods itself; 1 if there are none. */
struct amount object_copies(const struct object *object);

static inline bool object_is(const struct object *object, const char *group,
			     const char *kind)
{
	return text_eq(object->group, group) && text_eq(object->kind, kind);
}

/* Returns NULL also for an explicit null. Inline for the same reason as
 * node_get(). */
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

/*
 * Identities of objects: (group, kind, namespace, name), without the version.
 * Equal hashes count as equal identities, because 64 bits under a random key
 * practically never collide.
 */

struct object;

struct object_id {
	const char *api_version, *kind, *namespace, *name; /* "" if unset */
};

/* Returns an object's identity, whose texts belong to the object. */
struct object_id object_id_of(const struct object *object);
/* Copies an identity and its texts. */
struct object_id object_id_copy(struct arena *arena, struct object_id id);

/* Returns a hash that is never 0. scratch is overwritten. */
uint64_t object_id_hash(const struct object_id *id, struct buf *scratch);

/* Append a piece of text or an identity to out, to hash several things
 * together. */
void identity_part(struct buf *out, const char *text, size_t len);
void identity_add(struct buf *out, const struct object_id *id);
uint64_t identity_hash_of(const struct buf *text);

/*
 * Fields that the cluster adds to pods before they are created, as listed in
 * the policy's `injected:`. Rules read them if the author did not set the
 * field. Their nodes are not in a file (node_is_injected()), so that findings
 * and fixes skip them.
 */

struct glob;
struct object;
struct pod;
struct kube_config;

struct pod_injection {
	/* NULL-terminated, or NULL (all namespaces) */
	const struct glob *const *namespaces;
	/* Map with schedulerName, runtimeClassName, tolerations, volumes, env,
	 * labels. */
	const struct node *fields;
};

bool node_is_injected(const struct node *node);
/* Adds the fields for the object's namespace, which must be final. An object
 * whose namespace is unknown gets only fields for all namespaces. */
void object_inject(struct arena *arena, const struct kube_config *config,
		   struct object *object);
/* Adds the fields to a pod; flat pods get none. An unknown list or map that is
 * injected replaces the author's. */
void pod_inject(struct arena *arena, struct pod *pod,
		const struct node *fields);

/*
 * Names of pods in the cluster's DNS.
 */

/*
 * Returns the subdomain, of *len bytes, in an address of the first pod of a Job
 * or StatefulSet ("NAME-0.SUBDOMAIN:29500"), as a pointer into the address.
 * Returns NULL if the address has another form, contains a `$`, or may be that
 * of a Service or of a host outside of the cluster.
 */
const char *first_pod_subdomain(const struct object *object,
				const char *address, size_t *len);
/* Returns the end of the sentence "ADDRESS cannot be resolved", with the reason
 * why an address in the pod's manifest names no pod of the pod's object.
 * Returns NULL if it may name one, or if it is the address of something else.
 */
const char *pod_name_unresolved(struct arena *arena, const struct pod *pod,
				const char *value);

/* API versions that Kubernetes or an operator removed. */

struct removed_version {
	const char *kind, *group;
	const char *version; /* NULL: all versions */
	/* N if Kubernetes 1.N removed it, or 0 for a CRD, which its operator
	 * removed */
	int since;
	const char *only; /* the only operator that serves it, or NULL */
};

/* Returns the removed version of the object; NULL if its version is served or
 * unknown. */
const struct removed_version *object_removed_version(const struct object *o);
/* True if Kubernetes itself had this version and no supported release serves it
 * any more. False for CRDs. */
bool version_is_gone(const struct removed_version *removed);

#endif
