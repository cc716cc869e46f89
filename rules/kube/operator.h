/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator: everything that a controller does with its kinds, in one file of
 * operators/, as one constant `operator_NAME`. data/kinds.txt lists its kinds
 * after `operator NAME` and has the data: places of pods, paths, defaults. The
 * operator's file has the code. No other file tests a kind by its name. Members
 * that are NULL or 0 mean: nothing special. A row of kinds.txt selects gpus()
 * by the word `gpus`, injects() by `injects`, and forces_never() by
 * restart=operator.
 */
#ifndef RULES_KUBE_OPERATOR_H
#define RULES_KUBE_OPERATOR_H

#include "rules/kube/kinds.h"

struct gang {
	struct amount n;  /* pods that must run at once */
	bool needed;	  /* the pods need each other */
	bool by_operator; /* the kind itself starts them together */
	bool alone; /* each is useful alone, even if something groups them */
};

struct workload_operator {
	/* Adds devices that are set by fields of the kind, not by resources. */
	void (*gpus)(struct pod_builder *builder, struct pod *pod);
	/* Changes the fields from which the pod is read. */
	void (*patch)(struct pod_builder *builder, struct pod *pod);
	/* The list that replaces resourceClaims, or NULL; claim() reads an
	 * entry that is not a Kubernetes claim, or returns false. */
	const char *claims;
	bool (*claim)(struct pod *pod, const struct node *entry);
	/* The template made by a patch of the builder's group, or NULL. */
	const struct node *(*template)(struct pod_builder *builder,
				       const struct node *patch);
	/* The PodSpec of another object into which the fields of a row with
	 * `based` are merged; NULL if unknown. Sets the builder's base. */
	const struct node *(*base)(struct pod_builder *builder,
				   const struct node *holder);
	/* Returns the builder's object with the usual spelling of its
	 * fields. */
	const struct node *(*spelled)(struct pod_builder *builder);
	/* Returns the object merged into the one to which it refers. */
	const struct node *(*merged)(struct pod_builder *builder);
	/* Bits of enum inject besides those of the row. */
	unsigned (*injects)(const struct pod_builder *builder,
			    const struct pod *pod);
	/* True if the operator overwrites restartPolicy with Never. */
	bool (*forces_never)(const struct pod_builder *builder,
			     const struct pod *pod);
	/* True if it merges the container with one of a preset or of a runtime,
	 * which may add fields that are not in the manifest. */
	bool (*merges)(const struct container *c);
	/* The field that gives the number of devices over which its vLLM
	 * spreads each layer, if no command does. */
	const struct node *(*tensor)(const struct container *c);

	struct gang (*gang)(const struct object *object);
	/* Rule by which a PodGroup's resources are computed from templates. */
	enum summed_requests (*sums_requests)(const struct object *object);
	/* For a kind with KIND_ONE: sets the peaks of pods that run
	 * together. */
	void (*peaks)(struct arena *arena, struct object *object);
	/* True if some part runs once for every item of a list. */
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
	/* True if it must be in one domain of the topology (a node pool)
	 * with the other pods of its group. */
	bool (*shares_domain)(const struct pod *pod);
	/* Threads load the data, and each pod has one rank: processes share no
	 * memory. */
	bool (*loads_in_threads)(const struct object *object);

	/* The operator makes a PodGroup if a pod names the scheduler
	 * `volcano`. */
	bool makes_pod_groups;
	/* The ranks of one group are several pods, possibly with one device
	 * each. */
	bool ranks_are_pods;
	/* Another object, the runtime, may set the priority class of flat pods
	 * and end them; earlier versions have no deadline. */
	bool has_runtime;
	/* A kind of the class training that may also run other work. */
	bool runs_anything;
	/* All roles but launchers are ranks of one job. */
	bool ranks_are_equal;
	/* Containers that only wait get their ranks from another pod. */
	bool starts_ranks_elsewhere;
};

/* For kinds without an operator. */
extern const struct workload_operator operator_none;

/* The object's: never NULL. */
const struct workload_operator *object_operator(const struct object *object);

/* -- counts ---------------------------------------------------------------- */

/*
 * A formula named in kinds.txt: count=ray-max(PATH,NUMBER) calls
 * COUNT_FORMULA(ray_max) with the node at PATH.
 */
#define COUNT_FORMULA(name)                                                    \
	struct amount count_##name(const struct count_place *place,            \
				   const struct node *at, int64_t number);     \
	struct amount count_##name(const struct count_place *place,            \
				   const struct node *at, int64_t number)

/*
 * Counts for all operators: a constant; `replicas` here or in the nearest
 * parent.
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

/* Names of one list are looked up in the other one by one, which is fast for
 * the usual few. True if there are over 10,000 pairs: the caller has no result,
 * and the object is too hard to read, because it might hide its devices. */
bool too_many(struct arena *arena, const struct node *a, const struct node *b);

/* -- gangs ----------------------------------------------------------------- */

/* Each pod starts alone; templates make none. */
struct gang gang_none(const struct object *object);
/* All pods, except those that wait for others to complete. */
struct gang gang_of_all(const struct object *object);
/* All embedded objects. */
struct gang gang_of_children(const struct object *object);
/* Pods in the steady state. */
struct amount gang_sum(const struct object *object);

/* -- devices --------------------------------------------------------------- */

/* The first main container, or NULL. */
struct container *pod_main_container(struct pod *pod);
/* Adds n devices of the operator to the main container. */
void pod_add_devices(struct pod_builder *builder, struct pod *pod,
		     const char *resource, struct amount n);
/* Adds devices whose resource and quantity are fields; name NULL or unset:
 * nvidia.com/gpu. */
void pod_add_device_quantity(struct pod_builder *builder, struct pod *pod,
			     const struct node *name, const struct node *n);
/* Adds the devices of a sidecar with these resources. */
void pod_add_sidecar_devices(struct pod_builder *builder, struct pod *pod,
			     const struct node *resources);
/* The devices that a map of resources requests: limits, else requests. */
struct amount devices_asked(const struct kube_config *config,
			    const struct node *resources, const char **name);
/* Adds n devices of a claim that is, is not, or may be for a GPU. */
void pod_add_claim(struct pod *pod, enum tri use, struct amount n);

#endif
