/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of an object after its document is gone: compact facts for
 * rules that look at several objects (quota against workloads, priority
 * classes). The same facts come from linted files and, later, from a cluster
 * snapshot; rules cannot tell.
 *
 * Policy objects are few and stay in memory, each once. Workloads are many:
 * they are written to a store as they come and read back one at a time, in
 * the order of the files; memory holds 40 bytes for each.
 */
#ifndef KUBE_FACT_H
#define KUBE_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/object.h"

struct cluster;

/* As place.file: of no file, it comes from a cluster. */
#define NO_FILE UINT32_MAX

/* A place in a file that a later finding can point at. */
struct place {
	uint32_t file; /* index of the linted file, or NO_FILE */
	uint32_t document;
	uint32_t start, end; /* bytes in the source (BOM not counted) */
	uint32_t line, column, end_line, end_column;
	uint64_t named_path; /* node_named_path() below the object */
	const char *pointer; /* RFC 6901, "" for the document itself */
};

struct object_id {
	const char *api_version, *kind, *namespace, *name; /* "" when unset */
};

struct resource_amount {
	const char *resource;
	struct quantity quantity;
	bool unknown;
	struct place place;
};

struct quota_scope {
	const char *name;     /* Terminating, PriorityClass, ... */
	const char *operator; /* Exists for spec.scopes; In, NotIn, ... */
	const char *const *values;
	size_t nvalues;
	struct place place;
};

struct quota {
	struct object_id id;
	struct place place; /* metadata.name */
	uint64_t content;   /* keyed hash: equal ones are one object */
	const struct cluster *cluster; /* that its file belongs to */
	struct resource_amount *hard;
	size_t nhard;
	struct resource_amount *used; /* status.used, cluster only */
	size_t nused;
	struct quota_scope *scopes;
	size_t nscopes;
};

struct limit_range {
	struct object_id id;
	struct place place;
	uint64_t content;
	const struct cluster *cluster;
	/* Keys of type Container default / defaultRequest, by resource. */
	const char *const *defaults;
	size_t ndefaults;
	const char *const *default_requests;
	size_t ndefault_requests;
};

struct priority_class {
	struct object_id id;
	struct place place; /* metadata.name */
	uint64_t content;
	const struct cluster *cluster;
	struct place value_place;
	struct amount value;
	bool global_default;
	struct place default_place;
	bool never_preempts; /* preemptionPolicy: Never */
	bool used_by_gpu;    /* GPU pods name it; after fact_set_finish() */
};

/* A LocalQueue, ClusterQueue, or a queue of Volcano or KAI. */
struct queue_fact {
	uint64_t id; /* keyed hash, of its cluster */
};

enum queue_sort { QUEUE_OTHER, QUEUE_VOLCANO, QUEUE_KAI };

/* What each pod of a template asks for. */
struct pod_demand {
	const char *resource;
	struct quantity quantity;
	bool unknown;
};

enum missing_sort {
	MISSING_CPU_REQUEST,
	MISSING_CPU_LIMIT,
	MISSING_MEMORY_REQUEST,
	MISSING_MEMORY_LIMIT,
	MISSING_SORTS,
};

/* The first container of a pod that does not set it. */
struct missing {
	enum missing_sort sort;
	const char *container;
	struct place place;
};

/* Pods of one template of a workload. */
struct workload_pod {
	const char *role;
	struct place place;	    /* the pod template */
	struct amount steady, peak; /* pods */
	struct amount gpus;	    /* devices per pod */
	struct pod_demand *demand;  /* per pod: extended resources */
	size_t ndemand;
	const char *priority_class; /* NULL: none; "" unknown */
	struct place priority_place;
	bool priority_unknown;
	bool queue_priority;	       /* a queue orders it (kube/priority.h) */
	bool best_effort, terminating; /* quota scopes */
	struct missing *missing;       /* what some container leaves out */
	size_t nmissing;
	bool gpu;      /* a GPU pod */
	bool fragment; /* of a kustomize patch */
};

struct workload {
	const struct reservations *reservations; /* or NULL: none are made */
	/* That its file belongs to (kube/cluster.h), or NULL: not known. */
	const struct cluster *cluster;
	struct object_id id;
	struct place place; /* metadata.name, or the object */
	enum kind_class class;
	enum gang_kind gang_kind;
	struct amount gang;
	bool training, serving;
	bool suspended, kueue, child, elastic;
	const char *queue;	    /* volcano, KAI, ... queue, or NULL */
	enum queue_sort queue_sort; /* of that queue */
	const char *kueue_queue;    /* a LocalQueue, or NULL */
	struct workload_pod *pods;
	size_t npods;
	/* The same object in the set (index + 1), earlier or where this is
	 * only a patch of it; 0: this is the first, and alone counted. */
	uint32_t duplicate_of;
};

/* Where workloads are kept, given by the caller. */
struct fact_store {
	/* Keep these bytes; the answer brings them back. */
	uint64_t (*keep)(void *context, const void *data, size_t len);
	/* The bytes, in the arena or in the store's own memory until the next
	 * keep(); NULL: they cannot be read, which the store tells. */
	const void *(*get)(void *context, uint64_t at, size_t len,
			   struct arena *arena);
	void *context;
};

struct fact_set {
	struct arena arena;
	/* NULL: workloads stay in memory. Must outlive the set. */
	const struct fact_store *store;
	/* Of the file whose objects are being added, or NULL; must outlive
	 * the set. */
	const struct cluster *cluster;
	struct quota *quotas;
	size_t nquotas, quotas_size;
	struct limit_range *limit_ranges;
	size_t nlimit_ranges, limit_ranges_size;
	struct priority_class *classes;
	size_t nclasses, classes_size;
	struct queue_fact *queues;
	size_t nqueues, queues_size;
	size_t nworkloads; /* those with GPU pods */
	bool clusters;	   /* the cluster of some is known */
	/* Known after fact_set_finish(). */
	/* The lowest class that a serving workload names, or NULL; its value,
	 * its cluster, and who does. */
	const char *serving_class;
	int64_t serving_value;
	const struct cluster *serving_cluster;
	struct object_id server;
	/* Private to rules/kube. */
	struct fact_index *index;
};

/* Add what is worth keeping of one object. file: index for its places. */
void fact_set_add(struct fact_set *set, const struct object *object,
		  uint32_t file);
/* Move all facts of src to dst (arena included). */
void fact_set_join(struct fact_set *dst, struct fact_set *src);
/*
 * When all facts are there: bring them into order, find what stands twice.
 * Of policy objects that are the same and say the same the first is kept. A
 * workload without a known namespace is nobody's duplicate.
 */
void fact_set_finish(struct fact_set *set);
void fact_set_release(struct fact_set *set);

/*
 * After fact_set_finish(): what holds for a workload, from the set and from
 * its cluster. Of an object that both have the spec is the file's and the
 * status the cluster's; those of the cluster alone lie in NO_FILE. Answers
 * live until one is asked for with another namespace or cluster.
 */
const struct quota *facts_quotas(const struct fact_set *set,
				 const struct workload *workload, size_t *n);
const struct limit_range *facts_limit_ranges(const struct fact_set *set,
					     const struct workload *workload,
					     size_t *n);
const struct priority_class *facts_class(const struct fact_set *set,
					 const struct workload *workload,
					 const char *name);
/* The first globalDefault, or NULL; that of the cluster's state alone, unless
 * the set has this class too. */
const struct priority_class *facts_default_class(const struct fact_set *set,
						 const struct workload *w);
const struct priority_class *facts_cluster_default(const struct fact_set *set,
						   const struct workload *w);
/* Does the set hold a queue of that group and kind, for the workload's
 * cluster? id: api_version without a version will do ("kueue.x-k8s.io/"). */
bool facts_have_queue(const struct fact_set *set, const struct workload *w,
		      const struct object_id *id);
/* Quotas of the set alone: they lie in set->quotas. */
const struct quota *facts_own_quotas(const struct fact_set *set,
				     const struct workload *workload,
				     size_t *n);

/* Which workloads are read: to pass over one costs next to nothing. */
enum workload_choice {
	WORKLOADS_ALL,
	WORKLOADS_WITH_QUOTA, /* facts_own_quotas() may find some for it */
	WORKLOADS_WITH_CLASS, /* a pod names a priority class */
};

/*
 * All workloads, in the order of the files, or those of a choice:
 *
 *	struct workload_cursor cursor = {0};
 *
 *	while ((w = workload_next(facts, &cursor)))
 *
 * Each lives until the next one is asked for. At the end (or when a store
 * cannot be read) NULL; who leaves earlier calls workload_stop().
 */
struct workload_cursor {
	size_t next; /* index of the next; the last one's plus 1 */
	enum workload_choice choice;
	struct arena arena;
};
const struct workload *workload_next(const struct fact_set *set,
				     struct workload_cursor *cursor);
void workload_stop(struct workload_cursor *cursor);
/* Not the whole object, but a kustomize patch of it. */
bool workload_is_part(const struct workload *w);
/* One of them again, by its index; NULL when the store cannot be read. */
const struct workload *workload_at(const struct fact_set *set, size_t index,
				   struct arena *arena);

/* NULL: all containers set it. */
const struct missing *workload_pod_missing(const struct workload_pod *pod,
					   enum missing_sort sort);
/* Does the object have pods of its own that use GPUs? */
bool object_is_gpu_workload(const struct object *object);
/* Facts of one object, for a caller that has just one (the door). */
struct workload *workload_read(struct arena *arena, const struct object *object,
			       uint32_t file);
struct place place_of(struct arena *arena, const struct object *object,
		      const struct node *node, uint32_t file);

#endif
