/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside rules/kube: the table of kinds and the steps that turn an object's
 * tree into pods. data/kinds.awk turns the table, data/kinds.txt, into the
 * constants declared here; a row names formulas (counts, gangs, GPUs,
 * injections) that are C functions of the same name. Paths are arrays of keys
 * that end in NULL; "[]" means every item of a list, "*" every value of a map.
 */
#ifndef RULES_KUBE_KINDS_H
#define RULES_KUBE_KINDS_H

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "doc/node.h"
#include "kube/command/argv.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/object.h"
#include "kube/purpose/class.h"

struct workload_operator;

struct count_place {
	struct arena *arena;
	const struct object *object;
	const struct node *group, *element;
	const struct pod *pod; /* NULL for embedded objects */
};

enum factor_base {
	BASE_GROUP,   /* the matched group */
	BASE_ROOT,    /* the object */
	BASE_ELEMENT, /* the innermost list item or map value matched */
};

/* Number of pods: the product of formulas over nodes of the object. */
struct factor {
	/* NULL: no more factors */
	struct amount (*formula)(const struct count_place *place,
				 const struct node *at, int64_t number);
	enum factor_base base;
	const char *const *path; /* NULL: the base itself */
	int64_t number;		 /* the constant, or the default */
};

enum pod_form {
	FORM_POD,   /* a map with metadata and spec */
	FORM_SPEC,  /* a PodSpec */
	FORM_FLAT,  /* neither; containers are generated from its fields */
	FORM_PATCH, /* of a template that the operator finds */
};

/* Places of containers below a pod's spec. */
struct box {
	enum box_kind {
		BOX_END,
		BOX_INIT, /* list of init containers */
		BOX_LIST, /* list of main containers */
		BOX_SIDE, /* list of helper containers that run beside them */
		BOX_ONE,  /* one Container */
		BOX_SELF, /* the map itself has image, resources, ... */
		BOX_ELSE, /* the same, if no main container was found */
	} kind;
	const char *const *path;
	const char *name; /* of a BOX_ONE: the operator's name for it */
	const char *const *resources; /* BOX_SELF: not at "resources" */
};

enum field_base { FIELD_OF_POD, FIELD_OF_GROUP, FIELD_OF_OBJECT };

/* The key_start of views (node_is_view()): how a view changes a value of the
 * same key in another tree. */
enum view_merge {
	VIEW_MERGES = 1,
	VIEW_OF_NONE, /* has no fields: a map that only holds other views */
	VIEW_REPLACES,
	VIEW_APPENDS, /* a list */
};

/* A place where a kind has a field of its pods. */
struct field_row {
	/* Path in the PodSpec or its main container; NULL: all fields. */
	const char *const *to;
	const char *const *from; /* NULL: the end */
	const char
		*join; /* for a map: the key that follows the first, or NULL */
	bool box;      /* of the container */
	enum view_merge merge;
	enum field_base base;
};

enum role_from {
	ROLE_TEXT,
	ROLE_KEY,   /* the group's key in its map */
	ROLE_FIELD, /* a field of the group */
};

enum restart_from {
	RESTART_FROM_POD,      /* pod spec, else the default */
	RESTART_FROM_GROUP,    /* a field of the group overrides the pod's */
	RESTART_FORCED,	       /* whatever is written */
	RESTART_FROM_OPERATOR, /* Never if the operator's function forces it */
};

/* A map of annotations or labels that the operator copies to the pod. */
struct note_row {
	enum factor_base base;
	const char *const *path;
	bool over; /* it goes before the pod's own */
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
	const struct workload_operator *by;
	bool asks_injects, asks_gpus;	/* of the operator */
	const struct box *boxes;	/* NULL: initContainers, containers */
	const char *const *metadata;	/* from the group, unless FORM_POD */
	const struct note_row *notes;	/* annotations, or NULL */
	const struct note_row *labels;	/* or NULL */
	const char *const *inner;	/* path from POD to a PodSpec in it */
	const char *const *defaults;	/* path from the object: last place */
	const struct field_row *fields; /* fields of a generated pod, or NULL */
	const char *container; /* name of the generated container, or NULL */
	const char *version;   /* only for this version, or NULL */
	bool based;	       /* fields are merged into base() */
	bool below;	       /* the pod is merged into the fields */
	bool or_first;	       /* else the template's first container */
	bool no_image;	       /* containers may lack an image */
	bool some;	       /* not a pod without a container */
	bool counted;	       /* not a pod if its number is 0 */
};

struct embed_row {
	const char *const *path;
	bool yaml; /* a string that holds YAML */
	const struct factor *copies;
};

struct kind {
	const char *group, *kind;
	enum kind_class class;
	unsigned flags;
	const struct workload_operator *by;
	const char *const *suspend, *const *priority, *const *scheduler;
	struct run_row {
		const char *path; /* NULL: nothing limits its runs */
		const char *fields[RUN_FIELDS];
	} runs;
	const char *main; /* a container that each pod must have, or NULL */
	const struct pod_row *const *pods; /* ends in NULL */
	const struct embed_row *embeds;	   /* ends in path NULL */
};

/* Written by data/kinds.awk; the slots are a hash table of row numbers plus
 * one, with linear probing. */
extern const struct kind kind_table[]; /* ends with {0} */
extern const unsigned short kind_slots[];
extern const unsigned kind_nslots;

const struct kind *kind_find(const char *group, size_t group_len,
			     const char *kind);

/* -- paths (kinds.c) ------------------------------------------------------ */

/* Follows a path without wildcards; a NULL path leads to the node itself. */
const struct node *path_get(const struct node *node, const char *const *path);

struct path_walk {
	void (*found)(struct path_walk *walk, const struct node *node,
		      const struct node *element);
	void *context;
};

/* Calls found for every node at the end of the path. */
void path_each(struct path_walk *walk, const struct node *node,
	       const char *const *path, const struct node *element);

/* -- counts -----------------------------------------------------------------
 */

struct amount count_eval(const struct factor *factors,
			 const struct count_place *place);
/* -- building (read/) ----------------------------------------------------- */

struct pod_builder {
	struct arena *arena;
	const struct kube_config *config;
	struct object *object;
	const struct pod_row *row;
	const struct node *group;
	size_t size;	   /* room of object->pods */
	size_t embed_size; /* room of object->embedded */
	/* Patches of the defaults, and of the templates' defaults. */
	struct device_patch *patch, *usual_patch;
	uint32_t merge_budget; /* see template_merge() */
	/* The PodSpec of the runtime, as its author wrote it: base() sets
	 * it. */
	const struct node *base;
};

/* Returns the operator of its row; never NULL. */
const struct workload_operator *
builder_operator(const struct pod_builder *builder);

/* Results about a pod that many rules need and that are costly to compute. */
struct pod_memo {
	enum pod_purpose purpose;
	bool purpose_known;
	bool infrastructure; /* by an image */
	bool infrastructure_known;
	bool spot_known;
	bool unit_known;
	/* Results about the object, stored with its first pod. */
	bool platform, platform_known;
	enum accel_class unit; /* of the nodes that it selects */
	struct arena *arena; /* the object's arena, which lives as long as it */
	const struct node_needs *needs;
	const struct node *spot;
};

struct container_memo {
	const struct argv *argv;
	const struct parallel_list *parallel;
	const struct assignments *assigned;
	const struct container_command *command;
	const struct shm *shm;
	bool image_known;
	struct image_type image;
	/*
	 * Accelerators that the entries' names resemble, as far as they were
	 * looked up.
	 */
	const struct accelerator **resembles;
};

static inline bool node_same_key(const struct node *a, const struct node *b)
{
	return a->tag == b->tag && a->key_len == b->key_len &&
	       text_same_bytes(a->key, b->key, a->key_len);
}

/* Returns the text after the last '/'. */
const char *base_name(const char *text);
/* Computes the facts about words that follow from their texts. */
struct argv argv_finish(struct argv argv);
/* True if a word may be NAME=value. */
bool argv_may_assign(const struct argv *argv, const char *name);
/* Commands to look for, none of them a flag. The bits of their first characters
 * are computed on first use: most look-ups end there without comparing names
 * (1,100 of 1,700 instructions for a Pod of 4 KB). */
struct argv_names {
	const char *const *names;
	_Atomic uint64_t starts;
};
/* Like argv_have(), for any of them. */
bool argv_have_name(const struct argv *argv, struct argv_names *wanted);

void pods_read(struct arena *arena, const struct kube_config *config,
	       struct object *object);
/* Builds one pod from the builder's row and group at that place. */
void pod_build(struct pod_builder *builder, const struct node *holder,
	       const struct node *element);
/* Finds pods by shape, for a kind that is in no table. */
void shape_read(struct pod_builder *builder);
void policy_kind_read(struct pod_builder *builder,
		      const struct policy_kind *kind);
/* Adds one embedded object at that node; nothing if it is not an object. */
void embed_add(struct pod_builder *builder, const struct doc *doc,
	       const struct node *node, struct amount copies);

/*
 * Returns the template after a strategic merge patch, as kubectl and the
 * operators apply it. Values keep their place in the source; such a pod gets no
 * fixes, because no place in the file holds all of it (fix.c). Each value that
 * it reads spends one node of the budget; values beyond it are unknown.
 */
const struct node *template_merge(struct arena *arena, uint32_t *budget,
				  const struct node *template,
				  const struct node *patch);
/* Make a tree: copy a node without its children, and add a child, which keeps
 * its parent and its children. */
struct node *merge_hollow(struct arena *arena, const struct node *node);
void merge_add(struct arena *arena, uint32_t *budget, struct node *out,
	       const struct node *node);
/* The node under another key, at its own place. */
struct node node_view(struct arena *arena, const struct node *node,
		      const char *key);
/* Returns the value after the patch; both are under the same key. */
const struct node *value_merge(struct arena *arena, uint32_t *budget,
			       const struct node *value,
			       const struct node *patch);
/* Returns the PodSpec that the row's fields make from the kind's own map; NULL
 * if its base is unknown, or no field changes it. */
const struct node *pod_fields_make(struct pod_builder *builder,
				   const struct node *holder);
/* The string at the key, or NULL. A longer name than any that is stored is cut:
 * each finding would copy it. */
const char *name_read(struct arena *arena, const struct node *map,
		      const char *key);
/* True if the PodSpec has a main container of that name. */
bool has_container(const struct node *spec, const char *name);
/* Adds the cluster's entries to a container's own. */
void container_add_env(struct arena *arena, struct container *c,
		       const struct node *list);
void containers_read(struct pod_builder *builder, struct pod *pod);
/* Computes the devices per pod, including the operators' fields; also sets
 * gpu_by. */
void pod_gpus(struct pod_builder *builder, struct pod *pod);
/* Like pod_request() for an extended resource, after all its users are
 * added. */
struct quantity pod_extended(const struct pod *pod, const char *resource,
			     const struct request_sum *all, bool *unknown);
/* Returns the text with each `{{x}}` replaced by a placeholder of the same
 * length. */
const char *text_without_markup(struct arena *arena, const char *text,
				size_t len);
void object_gang(struct object *object);

#endif
