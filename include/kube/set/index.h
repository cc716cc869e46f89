/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about objects that are kept after their documents are gone, for rules
 * over several objects (quota against workloads, priority classes). Facts from
 * linted files and from a cluster snapshot have the same form, so that rules
 * need not distinguish them.
 *
 * Only facts by which objects are found, compared or added up are kept. Rules
 * read everything else from the objects themselves (rule_object()).
 */
#ifndef KUBE_INDEX_H
#define KUBE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/scheduling/selector.h"

struct cluster;

/* Value of place.file for a place in a cluster, not in a file. */
#define NO_FILE UINT32_MAX

/* A place in a file, to which a later finding can refer. */
struct place {
	uint32_t file; /* index of the linted file, or NO_FILE */
	uint32_t document;
	uint32_t start, end; /* byte offsets in the source, without the BOM */
	uint32_t line, column, end_line, end_column;
	uint64_t named_path; /* node_named_path() from the object's root */
	const char *pointer; /* RFC 6901, "" for the document itself */
	/* If not NULL, all members except file are still to be computed from
	 * these two. */
	const struct object *object;
	const struct node *node;
};
/*
 * The start of a PodSpec in its file; UINT32_MAX if the object is in a string.
 * If the PodSpec is made from that of a runtime of the input, `base` is the
 * start of that one in the file `base_file`. Otherwise base_file is NO_FILE.
 */
struct spec_place {
	uint32_t start, base_file, base;
};
struct pod;
struct spec_place spec_place_of(const struct pod *pod);

/* Computes the other members, while the object's document exists. Few places of
 * a workload are needed, so at admission only those of findings are
 * computed. */
void place_settle(struct arena *arena, struct place *place);

struct resource_amount {
	const char *resource;
	struct quantity quantity;
	bool unknown;
	struct place place;
};

struct quota_scope {
	/* name of the scope: Terminating, PriorityClass, ... */
	const char *name;
	const char *operator; /* In, NotIn, ...; Exists for spec.scopes */
	const char *const *values;
	size_t nvalues;
	struct place place;
};

struct quota {
	struct object_id id;
	struct place place; /* node of metadata.name */
	uint64_t content;   /* keyed hash of identity, content and cluster */
	const struct cluster *cluster; /* cluster of the object's file */
	uint32_t set;		       /* see object_index.file_sets */
	struct resource_amount *hard;
	size_t nhard;
	/* from status.used, which files usually lack */
	struct resource_amount *used;
	size_t nused;
	struct quota_scope *scopes;
	size_t nscopes;
};

struct limit_range {
	struct object_id id;
	struct place place;
	uint64_t content;
	const struct cluster *cluster;
	uint32_t set;
	/* Resources with a default limit or request for containers. */
	const char *const *defaults;
	size_t ndefaults;
	const char *const *default_requests;
	size_t ndefault_requests;
};

struct priority_class {
	struct object_id id;
	struct place place; /* node of metadata.name */
	uint64_t content;
	const struct cluster *cluster;
	uint32_t set;
	struct place value_place;
	struct amount value;
	bool global_default;
	struct place default_place;
	bool never_preempts; /* preemptionPolicy is Never */
	/* a GPU pod refers to it; set by object_index_finish() */
	bool used_by_gpu;
};

/* A device class that a ResourceClaim or a ResourceClaimTemplate requests. */
struct class_request {
	struct object_id id;
	struct place place; /* node of deviceClassName */
	const char *name;
	/* Devices of the class that quotas count for the whole claim; 0 for a
	 * template, and for further requests of the same class. */
	int64_t counted;
	/* Least number of devices that the request needs; 0 if it is an
	 * alternative, or unknown. */
	int64_t least;
	const struct cluster *cluster;
};

/* A HorizontalPodAutoscaler, or a ScaledObject of KEDA. */
struct scaler {
	struct object_id id;
	/* node of the metric, or of the object's name */
	struct place place;
	/* cpu or memory if it scales by these alone; else NULL */
	const char *metric;
	const char *kind, *name; /* object that it scales, in its namespace */
	/* maximum number of replicas, or 0 if unknown */
	int64_t most;
	struct place most_place;
	const struct cluster *cluster;
};

struct pod_label {
	const char *key, *value; /* NULL: unknown */
};

/* A port of the pods to which a Service or an InferencePool sends requests. */
struct service_port {
	const char *name; /* NULL if the port is a number */
	int64_t number;
	struct place place;
};

/* A Service or an InferencePool in a file. */
struct kube_service {
	struct object_id id;
	bool pool; /* an InferencePool, whose pods are model servers */
	struct place selector_place;
	struct service_port *ports; /* ports that are known */
	size_t nports;
	/* numbers of the Service's ports, to which routes send; NULL if not
	 * all are known */
	const int64_t *numbers;
	size_t nnumbers;
	/* node of the type that makes it reachable from outside of the cluster,
	 * or of its name */
	struct place place;
	/* pods in its namespace get variables with its address */
	bool has_address;
	/* makes Ray's dashboard reachable from outside of the cluster */
	bool exposes_dashboard;
	struct pod_label *selector; /* a value is NULL if unknown */
	size_t nselector;
	const struct cluster *cluster;
};

enum group_type {
	GROUP_COSCHEDULING,
	GROUP_VOLCANO,
	GROUP_KUBERNETES,
	GROUP_KAI
};

/* A PodGroup of a file, or pods that name one. */
struct pod_group {
	enum group_type type;
	bool member; /* these are pods */
	struct object_id id;
	const char *name; /* name of the PodGroup */
	/* place of the minimum, or of the name on the pods */
	struct place place;
	struct amount n; /* minimum, or number of pods */
	/* number of pods for which the ranks wait, or 0 if unknown */
	int64_t ranks;
	const struct cluster *cluster;
};

enum config_type {
	/* Kueue manages jobs without a queue, or maps device classes */
	CONFIG_KUEUE,
	CONFIG_RENAMED_GPU, /* nodes offer nvidia.com/gpu.shared instead */
};

/* A configuration of a cluster component in a file. */
struct component_config {
	enum config_type type;
	struct place place;
	const struct node *root; /* Kueue's Configuration, or NULL */
	const struct cluster *cluster;
};

/* A reference of an HTTPRoute or GRPCRoute to a Service of its namespace. */
struct route_backend {
	struct object_id id; /* the route */
	const char *service;
	int64_t port;
	struct place name_place, port_place;
	const struct cluster *cluster;
};

struct kept_object; /* see kube/set/index_find.h */

enum queue_type {
	QUEUE_OTHER,
	QUEUE_VOLCANO,
	/* Volcano's queue if a flag of the training operator selects Volcano */
	QUEUE_OF_GANG,
	QUEUE_KAI,
};

/* The request of each pod of a template for one resource. */
struct pod_demand {
	const char *resource;
	struct quantity quantity;
	bool unknown;
};

/*
 * A GPU pod that has no priority class, and whose workload no other field
 * orders in a queue. Nearly every GPU workload has one, so its place is stored:
 * reading the files again for it took a quarter of the time of 100,000 files.
 */
struct pod_without_class {
	const char *role;   /* or "" */
	struct place place; /* PodSpec */
	struct spec_place spec;
	bool fixable; /* the class can be set in the PodSpec */
};

/* Facts about the pods of one template by which other objects find and count
 * them. Rules read everything else of the object itself (rule_object()). */
struct workload_pod {
	struct amount steady, peak; /* pods */
	struct amount gpus;	    /* devices per pod */
	struct pod_demand *demand;  /* extended resources of each pod */
	size_t ndemand;
	const char *priority_class; /* NULL: none, or unknown */
	bool priority_unknown;
	struct pod_without_class *without_class; /* or NULL */
	bool best_effort, terminating;		 /* for the scopes of quotas */
	/* Labels that are known, including those that the operator adds. */
	struct pod_label *labels;
	size_t nlabels;
	enum more_labels more_labels; /* labels that it may have in addition */
	bool gpu;		      /* a GPU pod */
};

struct workload {
	const struct reservations *reservations; /* may be NULL */
	/* Cluster of its file (kube/cluster/cluster.h), or NULL if unknown. */
	const struct cluster *cluster;
	/* pointer of the caller, copied from the object */
	const void *settings;
	struct object_id id;
	struct place place; /* node of metadata.name, or of the object */
	enum kind_class class;
	enum gang_kind gang_kind;
	struct amount gang;
	bool training, serving;
	bool suspended, kueue, child, elastic;
	bool fragment;	    /* a kustomize patch, not a complete object */
	bool claims;	    /* a pod names a PersistentVolumeClaim */
	bool runtime_class; /* a pod names a RuntimeClass */
	bool subdomain;	    /* a pod names a subdomain */
	const char *queue;  /* queue of Volcano, KAI, ..., or NULL */
	enum queue_type queue_type; /* kind of that queue */
	const char *kueue_queue;    /* name of a LocalQueue, or NULL */
	struct workload_pod *pods;
	size_t npods;
	/* The members below are set by object_index_add() and _finish(). */
	uint64_t hash; /* hash of the identity, or 0 (never a duplicate) */
	/* index among all workloads; before object_index_finish(), among those
	 * of its thread */
	size_t at;
	/* Another workload for the same object: an earlier one, or a later one
	 * if this is only a patch. NULL if this workload counts. */
	const struct workload *duplicate_of;
	const struct workload *next;
};

struct object_index {
	struct arena arena;
	/* Snapshot for the file whose objects are being added, or NULL. It must
	 * outlive the index. */
	const struct cluster *cluster;
	/*
	 * Number of the set to which each file belongs. The objects of a set
	 * are applied together. Objects of different sets are never compared or
	 * added up, but a named object (a class, a queue) may be found in
	 * another set. NULL if all files are one set. Set it before
	 * object_index_finish().
	 */
	const uint32_t *file_sets;
	struct quota *quotas;
	size_t nquotas, quotas_size;
	struct limit_range *limit_ranges;
	size_t nlimit_ranges, limit_ranges_size;
	struct priority_class *classes;
	size_t nclasses, classes_size;
	struct class_request *requests;
	size_t nrequests, requests_size;
	struct scaler *scalers;
	size_t nscalers, scalers_size;
	struct kube_service *services;
	size_t nservices, services_size;
	struct route_backend *routes;
	size_t nroutes, routes_size;
	struct pod_group *groups;
	size_t ngroups, groups_size;
	struct component_config *configs;
	size_t nconfigs, configs_size;
	struct kept_object *named;
	size_t nnamed, named_size;
	struct workload **workloads; /* with GPU pods */
	size_t nworkloads, workloads_size;
	bool clusters; /* the cluster of some file is known */
	/*
	 * Lowest priority class of a serving workload, or NULL, and its value.
	 * serving_cluster, serving_set and server are the cluster, the set and
	 * the identity of that workload. All five are valid after
	 * object_index_finish().
	 */
	const char *serving_class;
	int64_t serving_value;
	const struct cluster *serving_cluster;
	uint32_t serving_set;
	struct object_id server;
	/* Used only in rules/kube. */
	struct workload_index *index;
};

/* Adds the facts of one object. file is the index for its places. An object
 * that makes no pods and has a version of a native kind that no supported
 * release serves is skipped. */
void object_index_add(struct object_index *set, const struct object *object,
		      uint32_t file);
/* Moves all facts of src, and its arena, to dst. */
void object_index_join(struct object_index *dst, struct object_index *src);
/*
 * Sorts the facts and finds duplicates; called once after all facts are added.
 * If policy objects have the same identity and content, the first is kept. A
 * workload without a known namespace is never a duplicate.
 */
void object_index_finish(struct object_index *set);
void object_index_release(struct object_index *set);
/* Returns the set to which a workload's file belongs. */
uint32_t index_set_of(const struct object_index *set, const struct workload *w);
/*
 * Calls each() with a hash of every object that a cluster can contain only
 * once: complete workloads with a name and a namespace, quotas, limit ranges,
 * and the default PriorityClass whatever its name. Call it before
 * object_index_finish().
 */
void object_index_each(const struct object_index *set,
		       void (*each)(void *context, uint64_t what,
				    uint32_t file),
		       void *context);

/*
 * Return, after object_index_finish(), the objects that apply to a workload,
 * from its set and its cluster. A class may also be from another set. An object
 * in both the set and the cluster has the spec of the file and the status of
 * the cluster. The place of an object that only the cluster has is NO_FILE.
 * Results are valid until the next call with another namespace, set or cluster.
 */
const struct quota *index_quotas(const struct object_index *set,
				 const struct workload *workload, size_t *n);
const struct limit_range *index_limit_ranges(const struct object_index *set,
					     const struct workload *workload,
					     size_t *n);
const struct priority_class *index_class(const struct object_index *set,
					 const struct workload *workload,
					 const char *name);
/* Returns the first class with globalDefault, or NULL. The default class of the
 * snapshot does not count if the set defines that class as well. */
const struct priority_class *index_default_class(const struct object_index *set,
						 const struct workload *w);
const struct priority_class *
index_cluster_default(const struct object_index *set, const struct workload *w);
/* Returns the quotas of the set without those of the cluster, as a part of
 * set->quotas. */
const struct quota *index_own_quotas(const struct object_index *set,
				     const struct workload *workload,
				     size_t *n);

/* Loops over all workloads, in the order of the files. */
#define FOR_EACH_WORKLOAD(set_, w_)                                            \
	for (const struct workload *w_ =                                       \
		     (set_)->nworkloads ? *(set_)->workloads : NULL;           \
	     w_; w_ = w_->next)

/* Returns the known labels of the pods, as a map. */
const struct node *workload_pod_labels(const struct workload_pod *pod,
				       struct arena *arena);
/* Returns whether a LabelSelector selects the pods. */
enum tri workload_pod_selected(const struct workload_pod *pod,
			       const struct node *selector,
			       struct arena *arena);
/* True if the autoscaler sets the number of the workload's pods. */
bool scaler_scales(const struct object_index *set, const struct scaler *scaler,
		   const struct workload *w);
/* True if the Service is in the namespace, the cluster and the set of the
 * workload. */
bool service_is_beside(const struct object_index *set,
		       const struct kube_service *service,
		       const struct workload *w);
/* True if the Service certainly selects the pods. */
bool service_selects(const struct kube_service *service,
		     const struct workload_pod *pod);
/* True unless the pods certainly lack a label of the Service's selector. */
bool service_may_select(const struct kube_service *service,
			const struct workload_pod *pod);
/* True if the configuration and the workload belong to one cluster and one
 * set. */
bool config_is_beside(const struct object_index *set,
		      const struct component_config *config,
		      const struct workload *w);
/* Returns the resource name in the last of some metrics (autoscaling/v2
 * MetricSpec) that are all about the CPU or the memory; NULL if there are
 * others, or none. */
const struct node *metrics_of_host(const struct node *metrics);
/* True if the object itself, without embedded objects, has pods that use
 * GPUs. */
bool object_is_gpu_workload(const struct object *object);
/* Returns the facts of one object, for a caller that has only one (admission).
 * They refer to the object and their places are not computed yet, so that they
 * are valid only as long as the document. */
struct workload *workload_read(struct arena *arena, const struct object *object,
			       uint32_t file);
/* Returns the node of metadata.name or generateName, or else of the object,
 * which is the place of a workload. */
const struct node *index_name_node(const struct object *object);
struct place place_of(struct arena *arena, const struct object *object,
		      const struct node *node, uint32_t file);

#endif
