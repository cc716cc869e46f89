/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator: the behavior of a controller for its kinds, in operators/, as
 * one constant `operator_NAME`. data/kinds.txt lists its kinds after `operator
 * NAME`, with their data: places of pods, paths, defaults. The operator's file
 * contains the code. Other files should use its members instead of testing a
 * kind by its name. A member that is NULL or 0 means the default behavior. A
 * row of kinds.txt selects gpus() by the word `gpus`, injects() by `injects`,
 * and forces_never() by restart=operator.
 */
#ifndef RULES_KUBE_OPERATOR_H
#define RULES_KUBE_OPERATOR_H

#include "rules/kube/kinds.h"

struct gang {
	struct amount n;  /* number of pods that must run at once */
	bool needed;	  /* the pods need each other */
	bool by_operator; /* the operator itself starts them together */
	/* each pod is useful alone, even if something groups them */
	bool alone;
};

/* Settings of vLLM that a kind has in fields; a flag in the command overrides
 * them. */
struct vllm_settings {
	/* The program, for messages, which may name the versions of the
	 * operator that read the fields. NULL if the operator does not start
	 * vLLM. */
	const char *program;
	/* fields with the number of devices over which each layer is split, and
	 * of copies in the container; or NULL */
	const struct node *tensor, *local;
	/* variable whose words are added to the command, or NULL */
	const char *more_args;
	bool one_pod;  /* they count devices of one pod, also in a group */
	bool versions; /* earlier versions of the operator ignore the fields */
};

struct workload_operator {
	/* Adds devices that are set by fields of the kind, not by resources. */
	void (*gpus)(struct pod_builder *builder, struct pod *pod);
	/* Changes the pod's spec before its fields are read. */
	void (*patch)(struct pod_builder *builder, struct pod *pod);
	/* Name of the list that replaces resourceClaims, or NULL. claim() reads
	 * an entry that is not a Kubernetes claim, or returns false. */
	const char *claims;
	bool (*claim)(struct pod *pod, const struct node *entry);
	/* Returns the pod template of the builder's group with the patch
	 * applied, or NULL. */
	const struct node *(*template)(struct pod_builder *builder,
				       const struct node *patch);
	/* Returns the PodSpec of another object into which the fields of a row
	 * with `based` are merged; NULL if unknown. Sets the builder's base. */
	const struct node *(*base)(struct pod_builder *builder,
				   const struct node *holder);
	/* Returns the builder's object with the usual case of its field
	 * names. */
	const struct node *(*spelled)(struct pod_builder *builder);
	/* Returns the object merged into the object to which it refers. */
	const struct node *(*merged)(struct pod_builder *builder);
	/* Returns bits of enum inject in addition to those of the row. */
	unsigned (*injects)(const struct pod_builder *builder,
			    const struct pod *pod);
	/* True if the operator overwrites restartPolicy with Never. */
	bool (*forces_never)(const struct pod_builder *builder,
			     const struct pod *pod);
	/* True if the operator merges the container with one of a preset or of
	 * a runtime, which may add fields that are not in the manifest. */
	bool (*merges)(const struct container *c);
	/* Returns the settings of vLLM in a container for which the operator
	 * writes the command. */
	struct vllm_settings (*vllm)(const struct container *c);

	struct gang (*gang)(const struct object *object);
	/* Returns how the resources of a PodGroup are computed from
	 * templates. */
	enum summed_requests (*sums_requests)(const struct object *object);
	/* Sets the largest numbers of pods that run together, for a kind with
	 * KIND_ONE. */
	void (*peaks)(struct arena *arena, struct object *object);
	/* True if some part of the object runs once for every item of a
	 * list. */
	bool (*fans_out)(const struct object *object);

	struct pod_handling pods;
	/* Place of the fields of `runs` in earlier versions, or NULL. */
	const char *runs_before;

	/* Yes if the object is for training; unknown if that depends on its
	 * program. */
	enum tri (*trains)(const struct object *object);
	/* True for a role that starts ranks in other pods and needs no
	 * device. */
	bool (*is_launcher)(const struct pod *pod);
	/* True if the pod must be in one topology domain (a node pool) with the
	 * other pods of its group. */
	bool (*shares_domain)(const struct pod *pod);
	/* True if threads load the data and each pod has one rank, so that
	 * processes share no memory. */
	bool (*loads_in_threads)(const struct object *object);

	/* The operator makes a PodGroup if a pod names the scheduler
	 * `volcano`. */
	bool makes_pod_groups;
	/* The ranks of a group are separate pods, possibly with one device
	 * each. */
	bool ranks_are_pods;
	/* Another object, the runtime, may set a deadline, and the priority
	 * class of flat pods. */
	bool has_runtime;
	/* A kind of class KIND_TRAINING that may also run other work. */
	bool runs_anything;
	/* All roles except launchers are ranks of one job. */
	bool ranks_are_equal;
	/* A container that only waits gets its ranks from another pod. */
	bool starts_ranks_elsewhere;
};

/* The operator of kinds without one. */
extern const struct workload_operator operator_none;

/* Returns the operator of the object's kind; never NULL. */
const struct workload_operator *object_operator(const struct object *object);

/* -- counts ---------------------------------------------------------------- */

/*
 * Defines a formula for kinds.txt: count=ray-max(PATH,NUMBER) calls
 * COUNT_FORMULA(ray_max) with the node at PATH.
 */
#define COUNT_FORMULA(name)                                                    \
	struct amount count_##name(const struct count_place *place,            \
				   const struct node *at, int64_t number);     \
	struct amount count_##name(const struct count_place *place,            \
				   const struct node *at, int64_t number)

/*
 * Formulas for all operators. count_const returns the number; count_nearest
 * returns `replicas` of the map or of its nearest parent that sets it, else 1.
 */
struct amount count_const(const struct count_place *place,
			  const struct node *at, int64_t number);
struct amount count_nearest(const struct count_place *place,
			    const struct node *at, int64_t number);

/* Reads an integer field of a map. */
static inline struct amount amount_field(const struct node *map,
					 const char *key, int64_t unset)
{
	return amount_int(node_get(map, key), unset);
}

static inline bool field_is_set(const struct node *map, const char *key)
{
	return !node_is_unset(node_get(map, key));
}

/* True if two lists have over 10,000 pairs of items. Names of one list are
 * looked up in the other one by one, which is fast for usual lengths. If it is
 * true, the object is marked as too complex to read, because it might hide its
 * devices. */
bool too_many(struct arena *arena, const struct node *a, const struct node *b);

/* -- gangs ----------------------------------------------------------------- */

/* Returns a gang of one pod, because each pod starts alone. A template makes no
 * pods, so that its gang is empty. */
struct gang gang_none(const struct object *object);
/* Returns the number of pods that start together. Jobs that wait for others to
 * complete form a later gang, and the larger gang counts. */
struct gang gang_of_all(const struct object *object);
/* Returns the sum of the gangs of all embedded objects. */
struct gang gang_of_children(const struct object *object);
/* Returns the number of pods in the steady state. */
struct amount gang_sum(const struct object *object);

/* -- devices --------------------------------------------------------------- */

/* Returns the first main container, or NULL. */
struct container *pod_main_container(struct pod *pod);
/* Adds n devices of the resource to the main container, or to the pod if it has
 * none, and sets GPU_BY_OPERATOR. */
void pod_add_devices(struct pod_builder *builder, struct pod *pod,
		     const char *resource, struct amount n);
/* Adds devices whose resource name and quantity are fields. If name is NULL or
 * unset, the resource is nvidia.com/gpu. */
void pod_add_device_quantity(struct pod_builder *builder, struct pod *pod,
			     const struct node *name, const struct node *n);
/* Adds the devices of a sidecar with these resources. */
void pod_add_sidecar_devices(struct pod_builder *builder, struct pod *pod,
			     const struct node *resources);
/* Returns the number of devices in the limits, or else the requests, of a map
 * of resources. Sets *name to the last of these resources; without one, *name
 * stays. */
struct amount devices_asked(const struct kube_config *config,
			    const struct node *resources, const char **name);
/* Adds n devices of a claim. use says whether the claim is for a GPU; if it is
 * unknown, so is whether the pod is a GPU pod. */
void pod_add_claim(struct pod *pod, enum tri use, struct amount n);

#endif
