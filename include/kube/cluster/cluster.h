/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot of a cluster, immutable and shared by reference count. It contains
 * the objects that rules read (enum cluster_kind), the nodes in groups, and the
 * requests of each owner's pods.
 *
 * A builder takes objects one by one, from a file or from a watch, and
 * publishes snapshots. Two snapshots share their unchanged parts, so that
 * publishing costs only the changes. Objects are stored packed (names of fields
 * and resources are stored once) and are unpacked into the caller's arena.
 * Look-ups use a keyed hash.
 */
#ifndef KUBE_CLUSTER_H
#define KUBE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "doc/node.h"
#include "kube/set/index.h"

enum cluster_kind {
	CLUSTER_NAMESPACE,
	CLUSTER_QUOTA,
	CLUSTER_LIMIT_RANGE,
	CLUSTER_LOCAL_QUEUE,
	CLUSTER_VOLUME_CLAIM,
	CLUSTER_DISRUPTION_BUDGET,
	CLUSTER_NETWORK_POLICY,
	CLUSTER_PRIORITY_CLASS,
	CLUSTER_RUNTIME_CLASS,
	CLUSTER_NODE_POOL,
	CLUSTER_QUEUE, /* Kueue ClusterQueue */
	CLUSTER_FLAVOR,
	CLUSTER_TOPOLOGY,
	CLUSTER_VOLCANO_QUEUE,
	CLUSTER_KAI_QUEUE,
	CLUSTER_DEVICE_CLASS,
	CLUSTER_RESOURCE_SLICE, /* devices are counted, not stored */
	CLUSTER_GPU_OPERATOR,	/* ClusterPolicy of NVIDIA's GPU Operator */
	CLUSTER_DAEMON_SET,	/* DaemonSets of NVIDIA's device plugin */
	/* Deployments of Karpenter and of operators (KubeRay, Kueue, ...) */
	CLUSTER_DEPLOYMENT,
	/* Runtimes (kube/runtime.h). */
	CLUSTER_TRAINING_RUNTIME,
	CLUSTER_ALL_TRAINING_RUNTIME,
	CLUSTER_SERVING_RUNTIME,
	CLUSTER_ALL_SERVING_RUNTIME,
	CLUSTER_WORKFLOW_TEMPLATE,
	CLUSTER_ALL_WORKFLOW_TEMPLATE,
	CLUSTER_ENGINE_PROFILE, /* RoleBasedGroup's */
	CLUSTER_NIM_CACHE,
	CLUSTER_NODE,
	CLUSTER_POD, /* counted per owner, not stored */
	CLUSTER_KINDS,
	/* only its owner references are stored */
	CLUSTER_OTHER = CLUSTER_KINDS,
};

/* Fields of a stored ResourceSlice: the number of its devices, and whether one
 * of them may be allocated to several claims. */
#define SLICE_COUNT    "deviceCount"
#define SLICE_MULTIPLE "allowMultipleAllocations"

/* The API resource of a kind. */
struct cluster_resource {
	const char *kind, *group, *plural;
	/* API versions separated by blanks, the preferred one first */
	const char *versions;
	bool optional; /* a CRD or another API that some clusters lack */
	/* parameters of its list and watch requests, or NULL */
	const char *query;
};
const struct cluster_resource *cluster_resource(enum cluster_kind kind);
/* Returns CLUSTER_OTHER for kinds that snapshots do not store. */
enum cluster_kind cluster_kind_of(const char *api_version, const char *kind);
bool cluster_kind_is_namespaced(enum cluster_kind kind);
bool cluster_kind_is_runtime(enum cluster_kind kind);
/* Returns the fields of an object that are stored; NULL with err set if the
 * object is invalid. */
struct node *cluster_trim(struct arena *arena, enum cluster_kind kind,
			  const struct node *root, struct err *err);
/* True if snapshots store the object. */
bool cluster_is_wanted(enum cluster_kind kind, const struct node *root);
/* True for DaemonSet and Deployment: few of their objects are stored, but all
 * of them may own pods. */
bool cluster_kind_owns(enum cluster_kind kind);

/* --- snapshots ------------------------------------------------------------ */

struct cluster;

/* Adds a reference; returns the same cluster. NULL stays NULL. */
const struct cluster *cluster_get(const struct cluster *cluster);
void cluster_put(const struct cluster *cluster);

/* Returns the time at which the snapshot was taken, in seconds since the
 * epoch. */
int64_t cluster_taken_at(const struct cluster *cluster);
/* True if that time is so far in the future that clock differences cannot
 * explain it. The snapshot would then never become too old. */
bool cluster_is_ahead(const struct cluster *cluster, int64_t now);
const char *cluster_server(const struct cluster *cluster); /* "" if unknown */
/* Returns the text of the policy of gpugated in the cluster; NULL if
 * unknown. */
const char *cluster_policy(const struct cluster *cluster);
/* Returns the cluster's own admission policies, their parameters and the
 * CustomResourceDefinitions as the JSON of a List (engine/admission_policy.h);
 * NULL if they were not saved. */
const char *cluster_admission(const struct cluster *cluster);
/*
 * Drops the admission policies, for callers that do not evaluate them; call it
 * before the snapshot is shared.
 */
void cluster_drop_admission(struct cluster *cluster);
/* Returns the reason why objects of that kind could not be read; NULL if they
 * were. */
const char *cluster_unreadable(const struct cluster *cluster,
			       enum cluster_kind kind);
/* Returns a number that is unique to this snapshot in the process. */
uint64_t cluster_serial(const struct cluster *cluster);
size_t cluster_count(const struct cluster *cluster, enum cluster_kind kind);

struct cluster_object {
	const char *name;
	const struct node *root; /* stored fields: spec, status, value, ... */
};
/* Returns the objects of a kind in a namespace ("" for cluster-scoped kinds)
 * and sets *n to their number. The result is in the arena and refers to the
 * cluster, so it is valid as long as the caller holds both. */
const struct cluster_object *cluster_objects(const struct cluster *cluster,
					     enum cluster_kind kind,
					     const char *namespace,
					     struct arena *arena, size_t *n);
/* Returns the stored fields of the object with this identity. Returns NULL, and
 * records the absence, if the snapshot lacks it. Returns NULL for nodes, pods
 * and kinds that snapshots do not store. */
const struct node *cluster_object(const struct cluster *cluster,
				  const struct object_id *id,
				  struct arena *arena);
/* Returns the labels of a namespace; NULL if it has none or is unknown. */
const struct node *cluster_namespace(const struct cluster *cluster,
				     const char *name, struct arena *arena);

/*
 * An object that was looked up and not found. A caller can ask the API server
 * for it before it relies on the absence. Absences are recorded per thread, but
 * not for nodes and pods, nor for kinds that could not be read.
 */
struct cluster_absence {
	enum cluster_kind kind;
	/* name is NULL for any object of the kind */
	const char *namespace, *name;
};
enum { CLUSTER_ABSENCES = 16 };
struct cluster_absences {
	struct arena *arena; /* memory of the names */
	struct cluster_absence items[CLUSTER_ABSENCES];
	size_t n;
	/* A bit for each item that was looked up since the caller cleared this
	 * member, and one bit for all absences beyond the table. */
	uint32_t touched;
};
#define CLUSTER_ABSENCE_MORE (UINT32_C(1) << CLUSTER_ABSENCES)
/* Starts to record in absences; NULL stops. */
void cluster_absences_record(struct cluster_absences *absences);
/* Records an absence that the caller relies on. */
void cluster_absent(const struct cluster *cluster, enum cluster_kind kind,
		    const char *namespace, const char *name);
bool cluster_absence_same(const struct cluster_absence *a,
			  const struct cluster_absence *b);

/* Nodes that are equal for every pod. */
struct node_group {
	const char *name; /* name of one of them */
	uint64_t count;
	const struct node *labels, *taints, *allocatable;
};
const struct node_group *cluster_nodes(const struct cluster *cluster,
				       size_t *n);
/*
 * True if the label differs on every node (like hostname), so that it is not
 * stored.
 */
bool cluster_label_is_individual(const struct cluster *cluster,
				 const char *key);

/* Requests of the unfinished pods of an owner, including the pods of objects
 * that it owns (a CronJob's Jobs). Only pods that request extended resources
 * count. */
struct cluster_usage {
	struct object_id owner;
	uint64_t pods;
	struct pod_demand *items; /* extended resources */
	size_t n;
	bool owned; /* has a known owner, whose usage includes this one */
};
bool cluster_usage(const struct cluster *cluster, const struct object_id *owner,
		   struct arena *arena, struct cluster_usage *out);
/* True if the owner has unfinished pods that request extended resources. */
bool cluster_has_pods(const struct cluster *cluster,
		      const struct object_id *owner);
/* Returns the owner's requests of one resource; 0 if there are none. */
struct quantity cluster_use_of(const struct cluster *cluster,
			       const struct object_id *owner,
			       const char *resource);

/* Iterate over all namespaces and all usages. *cursor is 0 at first. Return
 * NULL or false at the end. */
const char *cluster_next_namespace(const struct cluster *cluster,
				   size_t *cursor);
bool cluster_next_usage(const struct cluster *cluster, size_t *cursor,
			struct arena *arena, struct cluster_usage *out);

/* --- files ---------------------------------------------------------------- */

/*
 * Reads a file written by `gpugate snapshot`, a regular file of at most
 * FILE_CLUSTER_MAX bytes; if may_pipe is set because the user named it, also a
 * pipe. Returns NULL and sets err (with a position) if it cannot be used.
 * Invalid objects are left out, and warn (may be NULL) is called with one line
 * for each.
 */
struct cluster *cluster_load(const char *path, bool may_pipe,
			     void (*warn)(void *context, const char *text),
			     void *context, struct err *err);
/* A snapshot file that was read into memory. */
struct cluster_text {
	const char *name, *text;
	size_t len;
};
struct cluster *cluster_parse(const struct cluster_text *text,
			      void (*warn)(void *context, const char *text),
			      void *context, struct err *err);
/* Writes a snapshot file; the caller checks ferror(). */
void cluster_write(const struct cluster *cluster, FILE *out);

/*
 * --- builder --------------------------------------------------------------
 *
 * A builder is used by one thread; the snapshots that it publishes may be used
 * by any thread.
 */

struct cluster_builder;

struct cluster_builder *cluster_builder_new(void);
void cluster_builder_free(struct cluster_builder *builder);

/* Maximum sizes in bytes of one runtime and of all runtimes. Larger ones are
 * not stored, so that fields which they would generate are unknown. */
enum { CLUSTER_RUNTIME_MAX = 64 << 10, CLUSTER_RUNTIMES_MAX = 2 << 20 };

struct cluster_item {
	const char *api_version, *kind;
	const struct node *root;
};
/*
 * Adds an object as the API server returns it, or replaces the one of the same
 * name. Returns 1 if a stored field changed, 0 if not, and -1 with err set if
 * the object is invalid and left out (an older one of that name stays). Pods
 * add to the usage of their owners. Objects of other kinds provide owner
 * references. The item's api_version and kind are used if the object lacks
 * them, like an object in a list; they may be NULL.
 */
int cluster_builder_add(struct cluster_builder *builder,
			const struct cluster_item *item, struct err *err);
/*
 * A response of an API server that is being read, to a list request or to a get
 * request (one object).
 */
struct cluster_list {
	enum cluster_kind kind;	  /* CLUSTER_OTHER: metadata of any kind */
	struct buf next, version; /* continue token and resourceVersion */
	size_t items;		  /* objects of lists so far, valid or not */
	void (*warn)(void *context, const char *text); /* may be NULL */
	void *context;
};
/* Adds the objects of a response and sets the other members of list. Invalid
 * objects are left out, and warn is called for each. Returns 0, or -1 with err
 * set if the text is not a JSON object. If the object in the response to a get
 * is invalid, returns 0 with err set. */
int cluster_builder_list(struct cluster_builder *builder, const char *text,
			 size_t len, struct cluster_list *list,
			 struct err *err);
/* Returns 1 if something stored was removed with the object, else 0. */
int cluster_builder_remove(struct cluster_builder *builder,
			   const struct object_id *id);
/* Removes all objects of a kind before it is listed again. Publish only after
 * the list is complete, so that no reader sees an incomplete one. */
void cluster_builder_clear(struct cluster_builder *builder,
			   enum cluster_kind kind);
/* Returns the key of an object for cluster_builder_keep(). */
uint64_t cluster_builder_key(struct cluster_builder *builder,
			     enum cluster_kind kind,
			     const struct object_id *id);
/*
 * Removes the objects of a kind whose keys are not among the n given, which are
 * sorted in place. Returns the number of removed objects.
 */
size_t cluster_builder_keep(struct cluster_builder *builder,
			    enum cluster_kind kind, uint64_t *keys, size_t n);
/* True for parts of an object of the kind that no rule reads, so that the
 * loader skips them. */
bool cluster_is_unread(enum cluster_kind kind, const struct node *map,
		       const char *key, size_t len);
/* Sets the reason why a kind cannot be read, or removes it if reason is NULL.
 * The text is copied. */
void cluster_builder_unreadable(struct cluster_builder *builder,
				enum cluster_kind kind, const char *reason);
/* Sets server and policy; the texts are copied. policy is NULL if unknown. */
void cluster_builder_origin(struct cluster_builder *builder, const char *server,
			    const char *policy);
/* Sets the admission policies; the text is copied. list is NULL if they are
 * unknown. */
void cluster_builder_admission(struct cluster_builder *builder,
			       const char *list);
/*
 * Adds the usage of an owner as written in a snapshot; cannot be combined with
 * pods. Returns 0, or -1 with err set if the item is invalid.
 */
int cluster_builder_usage(struct cluster_builder *builder,
			  const struct node *item, struct err *err);
/* Publishes the current state, as a snapshot with one reference. The builder
 * can be used further. */
struct cluster *cluster_builder_finish(struct cluster_builder *builder,
				       int64_t taken_at);

#endif
