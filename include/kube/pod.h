/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pod that an object makes: its template with the changes that its group
 * and its operator make.
 */
#ifndef KUBE_POD_H
#define KUBE_POD_H

#include "base/arena.h"
#include "kube/container.h"

struct field_row;
struct object;
struct pod_memo;

/* Fields that an operator injects; bits of pod.injects. */
enum inject {
	INJECT_SHM = 1,	      /* /dev/shm in every container */
	INJECT_SHM_FIRST = 2, /* /dev/shm in containers[0] only (KubeRay) */
	INJECT_GPU = 4,	      /* accelerator limits */
	INJECT_SELECTOR = 8,  /* node selector or tolerations */
	INJECT_MEMORY = 16,   /* memory limits */
	INJECT_PROBES = 32,
	INJECT_RESTART = 64, /* overwrites the pod's restartPolicy */
	/* /dev/shm by a runtime that is not in the input */
	INJECT_SHM_UNKNOWN = 128,
	/* places a pod without devices on nodes that have some */
	INJECT_GPU_NODES = 256,
};

enum restart_policy {
	RESTART_UNKNOWN,
	RESTART_ALWAYS,
	RESTART_ON_FAILURE,
	RESTART_NEVER,
	RESTART_EXIT_CODE, /* in Kubeflow replica specs only */
};

/* Reasons why a pod counts as a GPU pod; bits of pod.gpu_by. */
enum gpu_by {
	GPU_BY_RESOURCE = 1, /* an accelerator in limits or requests */
	GPU_BY_CLAIM = 2,    /* DRA resourceClaims */
	/* annotations of KAI: gpu-fraction, gpu-memory */
	GPU_BY_ANNOTATION = 4,
	GPU_BY_OPERATOR = 8, /* a field of the kind (Spark gpu, NIM, ...) */
	/* a field of the kind with the number of devices (VLLMRuntime,
	 * Dynamo) */
	GPU_BY_FIELD = 16,
	GPU_BY_SHARE = 32, /* only HAMi's gpumem or gpucores */
};

/* More containers than an object within the limits can have: 3,000 in four
 * lists (doc/work.h). */
enum { CONTAINERS_MAX = 3072 };

struct pod {
	const struct object *object;
	/* map that contains metadata and spec, or NULL */
	const struct node *template;
	/* metadata of the template (for a Pod: of the object) */
	const struct node *metadata;
	const struct node *labels, *annotations; /* maps in metadata, or NULL */
	/* PodSpec, or a map with some of its fields */
	const struct node *spec;
	const struct node *inner; /* PodSpec inside a flat pod, or NULL */
	/* map in which pod_field() looks last, or NULL */
	const struct node *defaults;
	/* pod_field() of the fields that are used most. */
	const struct node *volumes, *node_selector, *tolerations;
	const struct node *injected; /* fields that the cluster adds, or NULL */
	/* replica spec, worker group, task or role; else the map with the
	 * number of pods */
	const struct node *group;
	/* "Worker", name of the group or task, or "" */
	const char *role;
	/* All containers: init containers and sidecars first, in order of
	 * start. */
	struct container *containers;
	size_t ncontainers;
	/* Number of debug containers, which follow in the array. They are added
	 * through their subresource and may not request resources, but rules
	 * check which devices they can see. */
	size_t nephemeral;
	/* Field of the operator that names a resource (Spark's), or NULL. */
	const struct node *device_name;
	unsigned injects; /* enum inject */
	unsigned gpu_by;  /* enum gpu_by, 0: not a GPU pod */
	bool gpu_unknown; /* a placeholder hides whether it is a GPU pod */
	/* has more containers than CONTAINERS_MAX; for those beyond it, only
	 * the devices are counted */
	bool cut;
	/* effective devices per pod; shares of a device count as 0 */
	struct amount gpus;
	struct amount steady; /* pods of this template, steady state */
	/* largest number of pods: during a rollout with surge, or at the
	 * elastic maximum */
	struct amount peak;
	/* effective value, with the operator's default */
	enum restart_policy restart;
	const struct node *restart_node; /* node of the value, or NULL */
	/* spec is not a PodSpec (NIM, TrainJob, Spark), so that rules on
	 * PodSpec fields skip it */
	bool flat;
	/* the only fields that a generated pod can have; NULL: all fields of a
	 * PodSpec */
	const struct field_row *fields;
	/* map of the kind from which a generated pod is made */
	const struct node *source;
	bool based; /* generated from source and from another object */
	const struct node *base; /* the PodSpec of that object, or NULL */
	/* the patch that makes the pod from a template that others may use, or
	 * NULL */
	const struct node *patch;
	bool partly; /* generated from a PodSpec and from other values */
	/* spec is generated from other fields of the kind, which also has those
	 * of a PodSpec except the container's */
	bool made;
	/* results that were computed before (rules/kube) */
	struct pod_memo *memo;
};

/* Returns the device of the pod for messages: "GPU", "TPU", "NPU" or
 * "accelerator". */
const char *pod_device(const struct pod *pod);

#define FOR_EACH_CONTAINER(pod_, c_)                                           \
	for (const struct container *c_ = (pod_)->containers;                  \
	     c_ && c_ < (pod_)->containers + (pod_)->ncontainers; c_++)

/* Loops over all containers, including the ephemeral ones. */
#define FOR_EACH_CONTAINER_OF_ALL(pod_, c_)                                    \
	for (const struct container *c_ = (pod_)->containers;                  \
	     c_ && c_ < (pod_)->containers + (pod_)->ncontainers +             \
				   (pod_)->nephemeral;                         \
	     c_++)

/* Looks for the field in the pod's other maps (inner, defaults). */
const struct node *pod_field_default(const struct pod *pod, const char *name);

/* Returns the scheduler that the operator sets on pods without one, or NULL. */
const struct node *pod_scheduler_default(const struct pod *pod);

/* Returns a PodSpec field, from the map in which the kind has it (Argo:
 * template, then spec; Dynamo: extraPodSpec). */
static inline __attribute__((always_inline)) const struct node *
pod_field(const struct pod *pod, const char *name)
{
	const struct node *node;

	/* The comparisons cost nothing if the name is a literal. */
	if (!strcmp(name, "volumes"))
		return pod->volumes;
	if (!strcmp(name, "nodeSelector"))
		return pod->node_selector;
	if (!strcmp(name, "tolerations"))
		return pod->tolerations;
	node = node_get(pod->spec, name);
	if (!strcmp(name, "schedulerName"))
		return node_is_unset(node) ? pod_scheduler_default(pod) : node;
	if ((!pod->inner && !pod->defaults && !pod->injected) ||
	    !node_is_unset(node))
		return node;
	return pod_field_default(pod, name);
}

/* Finds an entry of the labels or annotations in Argo's podMetadata. */
const struct node *pod_meta_default(const struct pod *pod, const char *map,
				    const char *key);

/* Returns NULL also for an explicit null. Inline for the same reason as
 * node_get(). */
static inline __attribute__((always_inline)) const struct node *
pod_label(const struct pod *pod, const char *key)
{
	const struct node *node = node_if_set(node_get(pod->labels, key));

	return node || !pod->defaults ? node
				      : pod_meta_default(pod, "labels", key);
}

static inline __attribute__((always_inline)) const struct node *
pod_annotation(const struct pod *pod, const char *key)
{
	const struct node *node = node_if_set(node_get(pod->annotations, key));

	return node || !pod->defaults
		       ? node
		       : pod_meta_default(pod, "annotations", key);
}

/* True if the kind of the pod has a place for this field of a container. */
bool pod_takes_container_field(const struct pod *pod, const char *name);
/*
 * Finds the place where a fix writes a field of a generated pod. base is the
 * PodSpec or a generated container, dotted a path from it. Returns the author's
 * node and the keys below it, which replace the first *taken keys of dotted; or
 * NULL if the kind lacks a place for the field.
 */
const struct node *pod_field_place(const struct pod *pod,
				   const struct node *base, const char *dotted,
				   const char *const **keys, size_t *taken);
/* Returns a volume of the pod by name, or NULL. */
const struct node *pod_volume(const struct pod *pod, const char *name);
/* True if the pod is made from a copy of the other's template and differs at
 * most in its name, its role or its number. Both belong to one group. */
bool pod_repeats(const struct pod *pod, const struct pod *other);
/* Describes how an operator handles its pods. */
struct pod_handling {
	/* It rejects some PodSpec fields unless features allow them. */
	bool gates_fields;
	/* It sets probes and time limits, whatever the probes are. */
	bool bounds_start;
	/* The field that requests unlimited retries (Argo's retryStrategy
	 * without a limit, Spark's Always, JobSet's IgnoreMaxRestarts), or
	 * NULL. */
	const struct node *(*endless)(const struct pod *pod);
	/* True if it adds a container with cpu requests. */
	bool (*adds_helper)(const struct pod *pod);
};
const struct pod_handling *pod_handling(const struct pod *pod);
/* True if it has nodeSelector and tolerations as a PodSpec does. Flat pods do
 * not. */
bool pod_has_placement(const struct pod *pod);
/* True if an item that a patch adds to this list of a pod joins the items of
 * its template. */
bool pod_list_merges(const char *key);
/* Yes if gpu_by != 0; unknown if a placeholder hides it. */
enum tri pod_uses_gpu(const struct pod *pod);
/* Returns the effective request of any resource per pod, as the scheduler
 * counts it: the larger one of (the sum of containers and sidecars) and (each
 * init container with the sidecars before it), plus overhead. Sets *unknown if
 * part of it is unknown. */
struct quantity pod_request(const struct pod *pod, const char *resource,
			    bool limits, bool *unknown);
/* Requests of containers for one resource, added in their order. */
struct request_sum {
	struct quantity sum;	 /* main and sidecars */
	struct quantity started; /* sidecars so far */
	struct quantity floor;	 /* the largest init container */
	bool unknown;
};
void request_add(struct request_sum *all, const struct container *c,
		 const char *resource, bool limits);

#endif
