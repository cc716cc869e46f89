/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of an object after its document is gone: compact facts for
 * rules that look at several objects (quota against workloads, priority
 * classes). The same facts come from linted files and, later, from a cluster
 * snapshot; rules cannot tell. Strings and arrays live in the set's arena.
 */
#ifndef KUBE_FACT_H
#define KUBE_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/object.h"

/* A place in a file that a later finding can point at. */
struct place {
	uint32_t file;	/* index of the linted file, UINT32_MAX: none */
	uint32_t document;
	uint32_t start, end; /* bytes in the source (BOM not counted) */
	uint32_t line, column, end_line, end_column;
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
	/* Keys of type Container default / defaultRequest, by resource. */
	const char *const *defaults;
	size_t ndefaults;
	const char *const *default_requests;
	size_t ndefault_requests;
};

struct priority_class {
	struct object_id id;
	struct place place;	  /* metadata.name */
	struct place value_place;
	struct amount value;
	bool global_default;
	struct place default_place;
	bool never_preempts; /* preemptionPolicy: Never */
};

/* Pods of one template of a workload. */
struct workload_pod {
	const char *role;
	struct place place;		/* the pod template */
	struct amount steady, peak;	/* pods */
	struct amount gpus;		/* devices per pod */
	struct resource_amount *demand;	/* per pod: accelerators, cpu, memory,
					   limits.cpu, limits.memory */
	size_t ndemand;
	const char *priority_class;	/* NULL: none; "" unknown */
	struct place priority_place;
	bool priority_unknown;
	bool queue_priority;		/* a queue orders it (kube/priority.h) */
	bool best_effort, terminating;	/* quota scopes */
	/* First container without cpu / memory request / limit; NULL: none. */
	struct missing {
		const char *container;
		struct place place;
	} missing_cpu_request, missing_cpu_limit, missing_memory_request,
		missing_memory_limit;
	bool gpu;			/* a GPU pod */
	bool fragment;			/* of a kustomize patch */
};

struct workload {
	struct object_id id;
	struct place place;		/* metadata.name, or the object */
	enum kind_class class;
	enum gang_kind gang_kind;
	struct amount gang;
	bool training, serving;
	bool suspended, kueue, child, elastic;
	const char *queue;		/* volcano, KAI, ... queue, or NULL */
	const char *hami;		/* non-NULL: HAMi resources or scheduler */
	struct workload_pod *pods;
	size_t npods;
	/* The same object earlier in the set (index + 1), 0: this is the
	 * first. Only the first is counted by set rules. */
	uint32_t duplicate_of;
};

/* Other objects that rules ask for by kind and name. */
struct named_object {
	struct object_id id;
	struct place place;
	enum { NAMED_SERVICE, NAMED_CONFIG_MAP, NAMED_NAMESPACE, NAMED_QUEUE,
	       NAMED_RUNTIME, NAMED_OTHER } sort;
};

struct fact_set {
	struct arena arena;
	struct quota *quotas;
	size_t nquotas, quotas_size;
	struct limit_range *limit_ranges;
	size_t nlimit_ranges, limit_ranges_size;
	struct priority_class *classes;
	size_t nclasses, classes_size;
	struct workload *workloads; /* those with GPU pods */
	size_t nworkloads, workloads_size;
	struct named_object *named;
	size_t nnamed, named_size;
};

/* Add what is worth keeping of one object. file: index for its places. */
void fact_set_add(struct fact_set *set, const struct object *object,
		  uint32_t file);
/* Move all facts of src to the end of dst (arena included). */
void fact_set_join(struct fact_set *dst, struct fact_set *src);
/* Fill in workload.duplicate_of, when all facts are there. An object without
 * a known namespace is nobody's duplicate. */
void fact_set_find_duplicates(struct fact_set *set);
void fact_set_release(struct fact_set *set);
/* Facts of one object, for a caller that has just one (the door). */
struct workload *workload_read(struct arena *arena,
			       const struct object *object, uint32_t file);
struct place place_of(struct arena *arena, const struct object *object,
		      const struct node *node, uint32_t file);

#endif
