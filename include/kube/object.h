/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Kubernetes object and the pods it makes. Everything here is a view of
 * a node tree, built by object_read() into an arena, and read-only for
 * rules. Strings are NULL when absent, not a string, or unknown.
 *
 * Which kinds there are, where their pod templates stand, how many pods they
 * make and what their operators inject is data: rules/kube/data/kinds.txt.
 */
#ifndef KUBE_OBJECT_H
#define KUBE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/load.h"
#include "doc/node.h"
#include "kube/accelerator.h"
#include "kube/quantity.h"
#include "kube/tri.h"

/* What a kind is for. Decides "training" and "serving" in rules. */
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
	KIND_TEMPLATE,	  /* pods only when something refers to it */
};

/* What an operator adds by itself (inject.c); bits of pod.injects. */
enum inject {
	INJECT_SHM = 1,	      /* /dev/shm on every container */
	INJECT_SHM_FIRST = 2, /* /dev/shm on containers[0] only (KubeRay) */
	INJECT_GPU = 4,	      /* accelerator limits */
	INJECT_SELECTOR = 8,  /* node selector or tolerations */
	INJECT_MEMORY = 16,   /* memory limits */
	INJECT_PROBES = 32,
	INJECT_RESTART = 64,	  /* overwrites the pod's restartPolicy */
	INJECT_SHM_UNKNOWN = 128, /* depends on a runtime we do not see */
};

/*
 * How an object comes to its gang; see object.gang_*. Ray clusters work with
 * the workers that there are: none, unless a queue or scheduler holds them
 * together. A TrainJob's runtime may: operator.
 */
enum gang_kind {
	GANG_NONE,     /* pods start one by one, each useful alone */
	GANG_OPERATOR, /* the operator or queue starts all or none */
	GANG_NEEDED,   /* pods need each other, nothing holds them together */
};

enum restart_policy {
	RESTART_UNKNOWN,
	RESTART_ALWAYS,
	RESTART_ON_FAILURE,
	RESTART_NEVER,
	RESTART_EXIT_CODE, /* Kubeflow replica specs only */
};

enum container_role {
	CONTAINER_MAIN,
	CONTAINER_INIT,	   /* runs before the main ones */
	CONTAINER_SIDECAR, /* init container with restartPolicy Always */
};

/* Why a pod is taken for one that gets a GPU; bits of pod.gpu_by. */
enum gpu_by {
	GPU_BY_RESOURCE = 1,   /* an accelerator in limits or requests */
	GPU_BY_CLAIM = 2,      /* DRA resourceClaims */
	GPU_BY_ANNOTATION = 4, /* KAI gpu-fraction, gpu-memory */
	GPU_BY_OPERATOR = 8,   /* a field of the kind (Spark gpu, NIM, ...) */
	GPU_BY_SHARE = 16,     /* HAMi gpumem, gpucores only */
};

struct pod;
struct pod_memo;
struct container_memo;
struct object;
struct kind;

/* A value of `limits` or `requests`. */
struct resource_entry {
	const struct node *node; /* its key is the resource's name */
	const struct accelerator *accelerator; /* of that name, or NULL */
	/* The request to this limit, the limit to this request, or NULL. */
	const struct resource_entry *other;
	enum quantity_state state;
	struct quantity quantity;
};

/* An entry of `env` that has a name. */
struct env_entry {
	const struct node *name, *node;
	const struct node *value; /* under this key, or NULL */
	uint16_t tag;		  /* node_tag() of the name */
};

struct container {
	const struct pod *pod;
	const struct node *node; /* the Container map */
	const char *name;
	const char *image;
	enum container_role role;
	unsigned index;		      /* within its list */
	const struct node *resources; /* map with limits, requests, claims */
	const struct node *limits, *requests; /* what is under these keys */
	/* Their values, where they are maps: limits first. */
	const struct resource_entry *entries;
	size_t nlimits, nrequests;
	/* Some name in them has a domain, as all accelerators' have. */
	bool extended;
	/* Its env is a list of maps with strings for name and value. */
	bool env_plain;
	const struct env_entry *env; /* in order; envFrom is not looked at */
	size_t nenv;
	uint64_t env_tags; /* node_tag_bit() of their names */
	/* Devices: sum over accelerators of limits, else requests. */
	struct amount gpus;
	const struct accelerator
		*accelerator;	     /* first one asked for, or NULL */
	const char *resource;	     /* that resource's name, or NULL */
	struct container_memo *memo; /* answers given before (rules/kube) */
};

struct pod {
	const struct object *object;
	const struct node
		*template; /* map that holds metadata and spec, or NULL */
	const struct node *metadata; /* of the template (of the object: Pod) */
	const struct node *labels, *annotations; /* in it, or NULL */
	const struct node *spec;     /* PodSpec, or what stands for it */
	const struct node *inner;    /* PodSpec in a flat one, or NULL */
	const struct node *defaults; /* last place for pod_field(), or NULL */
	const struct node *group;    /* replica spec, worker group, task, role;
					without these, the map that counts */
	const char *role;	     /* "Worker", group or task name, or "" */
	/* All containers: init and sidecars first, in order of start. */
	struct container *containers;
	size_t ncontainers;
	/* Behind them in the array: debug containers, put in through their
	 * subresource. They may ask for no resources; what they see counts. */
	size_t nephemeral;
	unsigned injects;     /* enum inject */
	unsigned gpu_by;      /* enum gpu_by, 0: not a GPU pod */
	bool gpu_unknown;     /* a placeholder hides whether it is one */
	struct amount gpus;   /* effective devices per pod (1.3); shares
				 of a device count none */
	struct amount steady; /* pods of this template, steady state */
	struct amount peak;   /* ... during rollout, surge, elastic max */
	enum restart_policy restart; /* effective, after operator's defaults */
	const struct node *restart_node; /* where it is written, or NULL */
	bool flat;	       /* spec is no PodSpec (NIM, TrainJob, Spark):
				  rules on PodSpec fields keep silent */
	struct pod_memo *memo; /* answers given before (rules/kube), or
				  NULL: nothing is kept */
};

struct object {
	const struct doc *doc;
	const struct node *root;
	const char *api_version, *group, *version, *kind;
	const char *name, *namespace, *generate_name;
	const struct node *labels, *annotations; /* of metadata, or NULL */
	const struct kind *type; /* row of the table, NULL: not known */
	enum kind_class class;
	bool fragment; /* kustomize patch or component */
	bool cluster_scoped;
	const struct object *parent; /* embeds this one (Katib, AppWrapper) */
	struct amount copies; /* ... that the parent makes of it, else 1 */
	struct pod *pods;
	size_t npods;
	struct object *embedded; /* list items are objects of their own */
	size_t nembedded;
	struct amount gpus; /* steady: sum over pods of pods x gpus,
			       and over embedded of copies x gpus */
	struct amount gpus_peak;
	struct amount gang; /* pods that must run at once; of kinds
			       that come in groups, one group */
	enum gang_kind gang_kind;
	bool suspended;
	bool kueue; /* carries kueue.x-k8s.io/queue-name */
	/* Is its namespace one of the policy's `infrastructure:`? Unknown while
	 * nobody says which namespace it is. Set when that is settled. */
	enum tri infrastructure;
	bool guessed; /* unknown kind, pods found by shape */
	const struct claim_table *claims; /* of its file, or NULL */
};

/* Kinds of the policy (`kinds:`), and its accelerators. */
struct policy_kind {
	const char *api_version, *kind;
	const char *pods; /* "/spec/roles/" "*" "/template": pointer with * */
	const char *replicas; /* the same, bound to the same *, or NULL */
};

struct kube_config {
	struct accelerator_extra accelerators;
	const struct policy_kind *kinds;
	size_t nkinds;
	/* Exact names of namespaces, NULL-terminated; NULL: the default. */
	const char *const *infrastructure;
	bool fragment; /* every object is a patch (kustomize names the file) */
	const struct claim_table *claims; /* of the file (kube/claim.h) */
};

struct object_list {
	struct object *items;
	size_t n, size;
};

/*
 * The objects of a document: one; the items of a List (of a *List kind with
 * items); nothing when it is no Kubernetes object (no apiVersion and kind).
 * Embedded objects hang below their object. *nested_list tells of a List
 * inside a List (kubectl refuses it, we read it).
 */
void object_read(struct arena *arena, const struct kube_config *config,
		 const struct doc *doc, struct object_list *out,
		 const struct node **nested_list);

/*
 * Does this kind make pods, by the table or by the policy? Such an owner was
 * judged itself; api_version as in an ownerReference.
 */
bool kind_makes_pods(const struct kube_config *config, const char *api_version,
		     const char *kind);

/* -- pods ---------------------------------------------------------------- */

#define FOR_EACH_POD(object_, pod_)                                            \
	for (const struct pod *pod_ = (object_)->pods;                         \
	     pod_ && pod_ < (object_)->pods + (object_)->npods; pod_++)

#define FOR_EACH_CONTAINER(pod_, c_)                                           \
	for (const struct container *c_ = (pod_)->containers;                  \
	     c_ && c_ < (pod_)->containers + (pod_)->ncontainers; c_++)

#define FOR_EACH_LIMIT(c_, entry_)                                             \
	for (const struct resource_entry *entry_ = (c_)->entries;              \
	     entry_ && entry_ < (c_)->entries + (c_)->nlimits; entry_++)

#define FOR_EACH_REQUEST(c_, entry_)                                           \
	for (const struct resource_entry *entry_ =                             \
		     (c_)->entries ? (c_)->entries + (c_)->nlimits : NULL;     \
	     entry_ &&                                                         \
	     entry_ < (c_)->entries + (c_)->nlimits + (c_)->nrequests;         \
	     entry_++)

/* Each resource asked for once: requests give way to limits of their name. */
#define FOR_EACH_ASKED(c_, entry_)                                             \
	for (const struct resource_entry *entry_ = (c_)->entries;              \
	     entry_ &&                                                         \
	     entry_ < (c_)->entries + (c_)->nlimits + (c_)->nrequests;         \
	     entry_++)                                                         \
		if (entry_ < (c_)->entries + (c_)->nlimits ||                  \
		    !entry_->other || node_is_unset(entry_->other->node))

/* The ephemeral ones as well. */
#define FOR_EACH_CONTAINER_OF_ALL(pod_, c_)                                    \
	for (const struct container *c_ = (pod_)->containers;                  \
	     c_ && c_ < (pod_)->containers + (pod_)->ncontainers +             \
				   (pod_)->nephemeral;                         \
	     c_++)

/* The same field from the pod's other places. */
const struct node *pod_field_default(const struct pod *pod, const char *name);

/* A PodSpec field, from where the kind keeps it (Argo: template, then
 * spec; Dynamo: extraPodSpec). */
static inline const struct node *pod_field(const struct pod *pod,
					   const char *name)
{
	const struct node *node = node_get(pod->spec, name);

	if ((!pod->inner && !pod->defaults) || !node_is_unset(node))
		return node;
	return pod_field_default(pod, name);
}

/* How many of it the objects around it make: 1 where it stands alone. */
struct amount object_copies(const struct object *object);
const struct node *pod_label(const struct pod *pod, const char *key);
const struct node *pod_annotation(const struct pod *pod, const char *key);
const struct node *object_label(const struct object *object, const char *key);
const struct node *object_annotation(const struct object *object,
				     const char *key);
/* A volume of the pod by name, or NULL. */
const struct node *pod_volume(const struct pod *pod, const char *name);
/* gpu_by != 0; unknown while a placeholder hides it. */
enum tri pod_uses_gpu(const struct pod *pod);
/* Effective request of any resource per pod, as the scheduler counts it:
 * max(sum of containers and sidecars, each init with the sidecars before it)
 * plus overhead. unknown set when part of it is not known. */
struct quantity pod_request(const struct pod *pod, const char *resource,
			    bool limits, bool *unknown);
/* Pods of a kind made for training, or whose command is one. */
bool pod_is_training(const struct pod *pod);
bool pod_is_serving(const struct pod *pod);
/* One of the policy's, or without that key of its default? NULL: unknown. */
enum tri namespace_is_infrastructure(const struct kube_config *config,
				     const char *namespace);
/*
 * Left out by rules about waste: device plugins, drivers, monitoring. Only a
 * namespace that the policy lists makes them so, since names of images and
 * kinds are a tenant's to choose; but where nobody says which namespace it is,
 * a DaemonSet or an image of that name is not judged either.
 */
bool pod_is_infrastructure(const struct pod *pod);
/* May it see devices that it does not ask for? The same, where the namespace is
 * not known with such images in all of its containers. */
bool pod_is_trusted(const struct pod *pod);
/* For the help of what infrastructure may do: how a DaemonSet, or a pod with
 * such an image, becomes infrastructure; "" for all others. */
const char *pod_infrastructure_hint(const struct pod *pod);
/* Does its object's namespace match one of "a,b*"? */
bool pod_in_namespaces(struct arena *arena, const struct pod *pod,
		       const char *namespaces);
/* The label key that pins the pod to accelerator nodes, by nodeSelector or
 * required affinity (In, Exists, Gt), or NULL. *label gets its row. */
const struct node *pod_gpu_selector(const struct pod *pod,
				    const struct node_label **label);

/* -- containers ---------------------------------------------------------- */

/* What a value of its limits or requests says; NULL: it says nothing. */
enum quantity_state container_value(const struct container *c,
				    const struct node *value,
				    struct quantity *q);

static inline enum quantity_state container_limit(const struct container *c,
						  const char *resource,
						  struct quantity *q)
{
	return container_value(c, node_get(c->limits, resource), q);
}

static inline enum quantity_state container_request(const struct container *c,
						    const char *resource,
						    struct quantity *q)
{
	return container_value(c, node_get(c->requests, resource), q);
}

/* For texts. The API server wants a name; a file may lack it all the same. */
static inline const char *container_title(const struct container *c)
{
	return c->name ? c->name : "(without a name)";
}

/* The map `limits` or `requests`, or NULL. */
static inline const struct node *container_limits(const struct container *c)
{
	return node_is_map(c->limits) ? c->limits : NULL;
}

static inline const struct node *container_requests(const struct container *c)
{
	return node_is_map(c->requests) ? c->requests : NULL;
}

const struct node *container_env_tagged(const struct container *c,
					const char *name, uint16_t tag);

/* The env entry of that name (the last one wins), or NULL; its literal
 * value is node_str(node_get(entry, "value")). envFrom is not looked at.
 * Many rules ask for variables, and most containers have none of them. */
static inline const struct node *container_env(const struct container *c,
					       const char *name)
{
	uint16_t tag = node_tag(name, strlen(name));

	return c->env_tags & node_tag_bit(tag)
		       ? container_env_tagged(c, name, tag)
		       : NULL;
}

/* The volumeMounts entry at exactly this path (a trailing '/' is the same). */
const struct node *container_mount(const struct container *c, const char *path);
/* What its image is for, by the image's name. */
struct image_sort container_image(const struct container *c);
/* Does the container ask for a device (or a claim that may be one)? */
enum tri container_uses_gpu(const struct container *c);
/* accelerator_resembles() of an entry's name, looked up once a pod. */
const struct accelerator *
container_resembles(const struct accelerator_extra *extra,
		    const struct container *c,
		    const struct resource_entry *entry);

/*
 * Words of command and args in order, with the words inside `sh -c` strings
 * (split at blanks, quotes taken off). Unknown tokens have text NULL; a word
 * whose unknown part is behind '=' keeps the text up to there ("--flag=").
 */
struct words {
	struct word {
		const char *text;
		const char *base;	 /* the text behind its last '/' */
		size_t len;		 /* of the text */
		const struct node *node; /* the list item it stands in */
		bool unknown;		 /* the value behind '=' is unknown */
	} * items;
	size_t n;
	bool unknown; /* something in it could be any flag */
	/* Bits (modulo 64) of what texts and bases begin with, and names of
	 * flags: most questions end there. */
	uint64_t starts, flags;
};
struct words container_words(struct arena *arena, const struct container *c);
/*
 * Value of a flag: `--flag value`, `--flag=value`, with - and _ alike in the
 * flag's name ("--tensor-parallel-size", "-tp"; without dashes any number of
 * them matches). The last one wins. NULL when absent or not known; found
 * (may be NULL) gets the word that holds the value, or NULL when absent.
 * words_have() finds a flag with or without a value, and a command by name
 * or by path (/opt/conda/bin/torchrun).
 */
const char *words_flag(const struct words *words, const char *flag,
		       const struct word **found);
bool words_have(const struct words *words, const char *word);

#endif
