/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside rules/kube: the table of kinds and the steps that turn an object's
 * tree into pods. data/kinds.txt is the table, data/kinds.awk makes it the
 * constants declared here; a row names formulas (counts, gangs, GPUs,
 * injections) that are C functions of the same name.
 *
 * Paths are arrays of keys that end in NULL; "[]" stands for every item of a
 * list, "*" for every value of a map.
 */
#ifndef RULES_KUBE_KINDS_H
#define RULES_KUBE_KINDS_H

#include "base/arena.h"
#include "doc/node.h"
#include "kube/object.h"

/* How many: named formulas over one node of the object. */
enum formula {
	FORMULA_END,	     /* no more factors */
	FORMULA_CONST,	     /* a number */
	FORMULA_INT,	     /* an integer, with a default */
	FORMULA_JOB,	     /* min(parallelism, completions) */
	FORMULA_JOB_PEAK,    /* ... doubled while a failed pod terminates */
	FORMULA_CRON,	     /* runs of a CronJob at once; Allow: unbounded */
	FORMULA_SURGE,	     /* replicas and maxSurge of a Deployment */
	FORMULA_ROLLOUT,     /* the same of an Argo Rollout */
	FORMULA_ELASTIC,     /* Kubeflow: maxReplicas while metrics scale it */
	FORMULA_RAY,	     /* clamp(replicas) x numOfHosts */
	FORMULA_RAY_MAX,     /* maxReplicas while autoscaling */
	FORMULA_RAY_UPGRADE, /* two clusters during an upgrade */
	FORMULA_LWS_WORKERS, /* size, less the leader with its own template */
	FORMULA_LWS_SURGE,   /* groups and the groups of maxSurge */
	FORMULA_SCALED,	     /* replicas, else the minimum of its scaler */
	FORMULA_SCALED_MAX,
	FORMULA_KSERVE, /* minReplicas */
	FORMULA_KSERVE_MAX,
	FORMULA_KSERVE_WORKERS, /* nodes of a multi-node predictor but one */
	FORMULA_LLM_WORKERS, /* LLMInferenceService: pods of a group but one */
	FORMULA_SPARK,	     /* executors at start */
	FORMULA_SPARK_MAX,
	FORMULA_KNATIVE, /* min-scale, max-scale annotations */
	FORMULA_KNATIVE_MAX,
	FORMULA_NOTEBOOK,      /* 1, stopped by an annotation: 0 */
	FORMULA_NODES,	       /* TrainJob: numNodes, else the runtime's */
	FORMULA_NEAREST,       /* `replicas` here or in the nearest parent */
	FORMULA_GROVE,	       /* replicas of a clique in its scaling groups */
	FORMULA_ROLE_TEMPLATE, /* roles that refer to a role template */
	FORMULA_ROLE_OWN,      /* pods of a role that no patch changes */
	FORMULA_ROLE_PATCHED,  /* ... that a patch with resources changes */
	FORMULA_ROLE_LEADER,
	FORMULA_ROLE_WORKERS,
	FORMULA_RAY_SUBMITTER, /* 1 in K8sJobMode */
	FORMULA_COUNT_,
};

enum factor_base {
	BASE_GROUP,   /* the matched group */
	BASE_ROOT,    /* the object */
	BASE_ELEMENT, /* the innermost list item or map value matched */
};

struct factor {
	enum formula formula;
	enum factor_base base;
	const char *const *path; /* NULL: the base itself */
	int64_t number;		 /* the constant, or the default */
};

enum pod_form {
	FORM_POD,  /* a map with metadata and spec */
	FORM_SPEC, /* a PodSpec */
	FORM_FLAT, /* neither; containers are made up from its fields */
};

/* Where containers stand below a pod's spec. */
struct box {
	enum box_kind {
		BOX_END,
		BOX_INIT, /* list of init containers */
		BOX_LIST, /* list of main containers */
		BOX_SIDE, /* list of helpers that run beside them */
		BOX_ONE,  /* one Container */
		BOX_SELF, /* the map itself has image, resources, ... */
		BOX_ELSE, /* the same, when no main container was found */
	} kind;
	const char *const *path;
	const char *name; /* of a BOX_ONE: what its operator calls it */
	const char *const *resources; /* BOX_SELF: not at "resources" */
};

/* GPUs that stand elsewhere than in a container's resources. */
enum gpu_formula {
	GPUS_BY_RESOURCES,
	GPUS_BY_SPARK,	   /* gpu{name, quantity}, or Spark's own properties */
	GPUS_BY_VLLM,	   /* resources{gpu, gpuType} */
	GPUS_BY_DYNAMO,	   /* resources.limits.gpu */
	GPUS_BY_NIM,	   /* what the profile wants */
	GPUS_BY_KSERVE,	   /* multi-node: written by the controller */
	GPUS_BY_KAITO,	   /* by instance type, a model server */
	GPUS_BY_RAGENGINE, /* by instance type, maybe none */
	GPUS_BY_KUBEAI,	   /* resourceProfile: NAME:COUNT */
	GPUS_BY_KAIWO,	   /* gpus, gpusPerReplica */
	GPUS_BY_ARGO,	   /* podSpecPatch may add some */
	GPUS_BY_RUNTIME,   /* the runtime may ask for some */
	GPUS_BY_RAY,	   /* of containers that KubeRay adds */
	GPUS_BY_SELDON,	   /* of the orchestrator beside the first pod */
};

enum injector {
	INJECTOR_NONE,
	INJECTOR_RAY,
	INJECTOR_KSERVE,
	INJECTOR_VLLM,
	INJECTOR_DYNAMO,
	INJECTOR_SELDON, /* v2: the Triton server config mounts /dev/shm */
};

enum role_from {
	ROLE_TEXT,
	ROLE_KEY,   /* the group's key in its map */
	ROLE_FIELD, /* a field of the group */
};

enum restart_from {
	RESTART_FROM_POD,   /* pod spec, else the default */
	RESTART_FROM_GROUP, /* a field of the group beats the pod's */
	RESTART_FORCED,	    /* whatever is written */
	RESTART_FROM_RAY,   /* forced Never by some options */
};

struct pod_row {
	const char *const *group; /* from the object */
	const char *const *pod;	  /* from the group */
	enum pod_form form;
	enum role_from role_from;
	const char *role;
	const struct factor *count, *peak;
	enum restart_from restart_from;
	enum restart_policy restart; /* default, or the forced one */
	unsigned injects;
	enum injector injector;
	enum gpu_formula gpus;
	const struct box *boxes;     /* NULL: initContainers, containers */
	const char *const *metadata; /* from the group, when not FORM_POD */
	const char *const *inner;    /* from POD: a PodSpec in it */
	const char *const *defaults; /* from the object: last place */
	const char *version;	     /* only for this version, or NULL */
	bool no_image;		     /* containers may lack an image */
	bool some;		     /* no pod without a container */
};

enum gang_formula {
	GANG_BY_NONE,	  /* each pod is useful alone */
	GANG_BY_COMMAND,  /* together when the command is distributed */
	GANG_BY_SUM,	  /* all pods */
	GANG_BY_KUBEFLOW, /* minAvailable, elastic minimum, all */
	GANG_BY_VOLCANO,
	GANG_BY_RAY,
	GANG_BY_LWS, /* one group */
	GANG_BY_KSERVE,
	GANG_BY_LLM,
	GANG_BY_NIM,
	GANG_BY_SPARK,
	GANG_BY_GROVE,
	GANG_BY_DYNAMO,
	GANG_BY_ROLES, /* RoleBasedGroup: an annotation asks for it */
	GANG_BY_STORM,
	GANG_BY_CHILDREN, /* all embedded objects */
	GANG_BY_TRIALS,	  /* embedded objects, each alone */
};

struct embed_row {
	const char *const *path;
	bool yaml; /* a string that holds YAML */
	const struct factor *copies;
};

enum kind_flags {
	KIND_CLUSTER = 1,  /* cluster-scoped */
	KIND_SELECTOR = 2, /* native: spec.selector is required */
	KIND_NATIVE = 4,   /* the API server checks its pod templates */
	KIND_RUNS_ONE = 8, /* pods of different rows need not run together */
	KIND_OPAQUE = 16,  /* its values are no pods of this object */
};

struct kind {
	const char *group, *kind;
	enum kind_class class;
	unsigned flags;
	enum gang_formula gang;
	const char *const *suspend;
	const struct pod_row *const *pods; /* ends in NULL */
	const struct embed_row *embeds;	   /* ends in path NULL */
};

/* data/kinds.awk writes these; the slots are a hash table of row numbers
 * plus one, with linear probing. */
extern const struct kind kind_table[];
extern const unsigned short kind_slots[];
extern const unsigned kind_nslots;

const struct kind *kind_find(const char *group, size_t group_len,
			     const char *kind);

/* -- paths (path.c) ------------------------------------------------------ */

/* Follow a path without wildcards; NULL path: the node itself. */
const struct node *path_get(const struct node *node, const char *const *path);

struct path_walk {
	void (*found)(struct path_walk *walk, const struct node *node,
		      const struct node *element);
	void *context;
};

/* Call found for every node that the path leads to. */
void path_each(struct path_walk *walk, const struct node *node,
	       const char *const *path, const struct node *element);

/* -- amounts and counts (count.c) ---------------------------------------- */

struct amount amount_max(struct amount a, struct amount b);
/* An int-or-percent of n (percentages rounded up), as maxSurge is. */
struct amount amount_share(const struct node *node, struct amount n,
			   int percent);
/* An integer field: unset gives the default, negative 0, else unknown. */
struct amount amount_int(const struct node *node, int64_t unset);

struct count_place {
	const struct object *object;
	const struct node *group, *element;
	const struct pod *pod; /* NULL for embedded objects */
};

/* The formulas of count_serving.c; the others are in count.c. */
struct amount serving_eval(const struct factor *factor,
			   const struct count_place *place,
			   const struct node *at);
struct amount count_eval(const struct factor *factors,
			 const struct count_place *place);
/* Nodes and GPUs per node of a KServe multi-node component. */
struct kserve_nodes {
	struct amount nodes, head_gpus, worker_gpus;
};
struct kserve_nodes kserve_nodes(const struct node *component);
/* Pods of a Ray worker group that a gang scheduler waits for. */
struct amount ray_group_gang(const struct node *group);
/* Pods of one LLMInferenceService group with a `worker`. */
struct amount llm_group_size(const struct node *workload);

/* -- building (object.c, pod.c, shape.c, container.c) -------------------- */

struct pod_builder {
	struct arena *arena;
	const struct kube_config *config;
	struct object *object;
	const struct pod_row *row;
	const struct node *group;
	size_t size;		    /* room of object->pods */
	size_t embed_size;	    /* ... and of object->embedded */
	struct device_patch *patch; /* of the defaults, when it was read */
};

enum pod_purpose { PURPOSE_NONE, PURPOSE_TRAINING, PURPOSE_SERVING };

/* What many rules ask of a pod and takes long to find out. */
struct pod_memo {
	enum pod_purpose purpose;
	bool purpose_known;
	bool infrastructure; /* by an image */
	bool infrastructure_known;
	struct arena *arena; /* the object's: lives as long as it */
	const struct node_needs *needs;
};

struct container_memo {
	const struct words *words;
	const struct command *command;
	const struct shm *shm;
	bool image_known;
	struct image_sort image;
	/* What the name of each entry resembles, as far as it was asked. */
	const struct accelerator **resembles;
};

/* The text behind the last '/'. */
const char *base_name(const char *text);
/* What is known of words by their texts. */
struct words words_finish(struct words words);
/* words_have() for any of several commands, none of them a flag. */
bool words_have_name(const struct words *words, const char *const *names);

void pods_read(struct arena *arena, const struct kube_config *config,
	       struct object *object);
/* One pod of the builder's row and group at that place. */
void pod_build(struct pod_builder *builder, const struct node *holder,
	       const struct node *element);
/* Pods found by shape, for a kind that is in no table. */
void shape_read(struct pod_builder *builder);
void policy_kind_read(struct pod_builder *builder,
		      const struct policy_kind *kind);
/* One embedded object at that node; NULL when it is no object. */
void embed_add(struct pod_builder *builder, const struct doc *doc,
	       const struct node *node, struct amount copies);

void containers_read(struct pod_builder *builder, struct pod *pod);
/* Devices per pod, operators' fields included; also sets gpu_by. */
void pod_gpus(struct pod_builder *builder, struct pod *pod);
/* What containers ask of one resource, added in their order. */
struct request_sum {
	struct quantity sum;	 /* main and sidecars */
	struct quantity started; /* sidecars so far */
	struct quantity floor;	 /* the largest init container */
	bool unknown;
};
void request_add(struct request_sum *all, const struct container *c,
		 const char *resource, bool limits);
/* pod_request() of an extended resource, when all that name it are added. */
struct quantity pod_extended(const struct pod *pod, const char *resource,
			     const struct request_sum *all, bool *unknown);
/* The operator gives n devices to the main container. */
void pod_give(struct pod_builder *builder, struct pod *pod,
	      const char *resource, struct amount n);
/* device_indirect.c: patches, properties, containers that operators add. */
void gpus_by_argo(struct pod_builder *builder, struct pod *pod);
void gpus_by_spark_conf(struct pod_builder *builder, struct pod *pod);
void gpus_by_ray(struct pod_builder *builder, struct pod *pod);
void gpus_by_seldon(struct pod_builder *builder, struct pod *pod);
/* Text in which `{{x}}` became a placeholder of the same length. */
const char *text_without_markup(struct arena *arena, const char *text,
				size_t len);
/* /dev/shm of a runtime of KServe, by name: INJECT_SHM, _UNKNOWN or 0. */
unsigned kserve_runtime(const char *name);
void pod_injects(const struct pod_builder *builder, struct pod *pod);
void pod_restart(const struct pod_builder *builder, struct pod *pod);
void object_gang(struct arena *arena, struct object *object);

#endif
