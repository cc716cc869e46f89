/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to rules/kube: the table of kinds and the steps that turn an object's
 * tree into pods. data/kinds.awk turns the table, data/kinds.txt, into the
 * constants declared here. A row names its operator, and the formulas of its
 * counts, which are C functions of the same name (operator.h). Paths are
 * NULL-terminated arrays of keys; "[]" means every item of a list, "*" every
 * value of a map.
 */
#ifndef RULES_KUBE_KINDS_H
#define RULES_KUBE_KINDS_H

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "doc/node.h"
#include "kube/command/command.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/object.h"
#include "kube/purpose/purpose.h"

struct workload_operator;

struct count_place {
	struct arena *arena;
	const struct object *object;
	const struct node *group, *element;
	const struct pod *pod; /* NULL for embedded objects */
};

enum factor_base {
	BASE_GROUP, /* the group that was matched */
	BASE_ROOT,  /* the object */
	/* the innermost list item or map value that was matched */
	BASE_ELEMENT,
};

/* A factor of the number of pods, which is a product of formulas over nodes of
 * the object. */
struct factor {
	/* NULL ends the list of factors. */
	struct amount (*formula)(const struct count_place *place,
				 const struct node *at, int64_t number);
	enum factor_base base;
	const char *const *path; /* NULL: the base itself */
	int64_t number;		 /* the constant, or the default of the field */
};

enum pod_form {
	FORM_POD,   /* a map with metadata and spec */
	FORM_SPEC,  /* a PodSpec */
	FORM_FLAT,  /* other fields, from which containers are generated */
	FORM_PATCH, /* a patch of a template that the operator finds */
};

/* A place of containers below a pod's spec. */
struct box {
	enum box_kind {
		BOX_END,
		BOX_INIT, /* list of init containers */
		BOX_LIST, /* list of main containers */
		BOX_SIDE, /* list of sidecars */
		BOX_ONE,  /* one Container */
		BOX_SELF, /* the map itself has the fields of a container */
		BOX_ELSE, /* like BOX_SELF, if no main container was found */
	} kind;
	const char *const *path;
	const char *name; /* for BOX_ONE: name that the operator gives it */
	/* path of the container's resources; NULL: "resources" */
	const char *const *resources;
};

enum field_base { FIELD_OF_POD, FIELD_OF_GROUP, FIELD_OF_OBJECT };

/* Values of key_start in views (node_is_view()): how a view combines with a
 * value of the same key in another tree. */
enum view_merge {
	VIEW_MERGES = 1,
	VIEW_OF_NONE, /* a generated map, which only contains other views */
	VIEW_REPLACES,
	VIEW_APPENDS, /* a list, which is appended */
};

/* A place where a kind has a field of its pods. */
struct field_row {
	/* Path in the PodSpec or its main container, or NULL (all fields). */
	const char *const *to;
	const char *const *from; /* NULL: the map itself */
	/* key of a text that is joined to this one, or for a list, key in its
	 * items that has the meaning of mountPath; NULL if neither applies */
	const char *join;
	bool box; /* a field of the container */
	enum view_merge merge;
	enum field_base base;
};

enum role_from {
	ROLE_TEXT,
	ROLE_KEY,   /* key of the group in its map */
	ROLE_FIELD, /* a field of the group */
};

enum restart_from {
	RESTART_FROM_POD,      /* field of the pod's spec, else the default */
	RESTART_FROM_GROUP,    /* field of the group, else the default */
	RESTART_FORCED,	       /* fixed, whatever is written */
	RESTART_FROM_OPERATOR, /* Never if the operator's function forces it */
};

/* A map of annotations or labels that the operator copies to the pod. */
struct note_row {
	enum factor_base base;
	const char *const *path;
	bool over; /* overrides the pod's own entries */
};

struct pod_row {
	const char *const *group; /* path from the object */
	const char *const *pod;	  /* path from the group */
	enum pod_form form;
	enum role_from role_from;
	const char *role;
	const struct factor *count, *peak;
	enum restart_from restart_from;
	enum restart_policy restart; /* default, or the fixed value */
	unsigned injects;
	const struct workload_operator *by;
	/* call the operator's injects(), gpus() */
	bool asks_injects, asks_gpus;
	const struct box *boxes; /* NULL: initContainers, containers */
	/* path from the group, unless FORM_POD */
	const char *const *metadata;
	const struct note_row *notes;  /* maps of annotations, or NULL */
	const struct note_row *labels; /* maps of labels, or NULL */
	/* path from the pod to a PodSpec in it */
	const char *const *inner;
	/* path from the object to its defaults, which are used last */
	const char *const *defaults;
	const struct field_row *fields; /* fields of a generated pod, or NULL */
	const char *container; /* name of the generated container, or NULL */
	/* version to which the row applies, or "!" and a list of those to which
	 * it does not, or NULL (all) */
	const char *version;
	/* the fields are merged into the PodSpec of base() */
	bool based;
	/* the fields are merged below the pod's, not over them */
	bool below;
	/* if no container has that name, use the first */
	bool or_first;
	bool no_image; /* containers may lack an image */
	bool some;     /* without a container it is not a pod */
	bool counted;  /* with the number 0 it is not a pod */
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
	/* paths of these fields in the object, or NULL */
	const char *const *suspend, *const *priority, *const *scheduler;
	struct run_row {
		const char *path; /* NULL: the kind lacks these fields */
		const char *fields[RUN_FIELDS];
	} runs;
	/* name of a container that each pod must have, or NULL */
	const char *main;
	const struct pod_row *const *pods; /* NULL-terminated */
	const struct embed_row *embeds;	   /* ends with path NULL */
};

/* Written by data/kinds.awk. The slots are a hash table with linear probing
 * that contains 1 + row numbers. */
extern const struct kind kind_table[]; /* ends with {0} */
extern const unsigned short kind_slots[];
extern const unsigned kind_nslots;

const struct kind *kind_find(const char *group, size_t group_len,
			     const char *kind);

/* -- paths (kinds.c) ------------------------------------------------------ */

/* Follows a path without wildcards. A NULL path leads to the node itself. */
const struct node *path_get(const struct node *node, const char *const *path);

struct path_walk {
	void (*found)(struct path_walk *walk, const struct node *node,
		      const struct node *element);
	void *context;
};

/* Calls found for every node at the end of the path that is set, and for an
 * unknown node on the way. element is the innermost list item or map value on
 * the way. */
void path_each(struct path_walk *walk, const struct node *node,
	       const char *const *path, const struct node *element);

/* -- counts ---------------------------------------------------------------- */

struct amount count_eval(const struct factor *factors,
			 const struct count_place *place);
/* -- building (read/) ----------------------------------------------------- */

struct pod_builder {
	struct arena *arena;
	const struct kube_config *config;
	struct object *object;
	const struct pod_row *row;
	const struct node *group;
	size_t size;	   /* allocated size of object->pods */
	size_t embed_size; /* allocated size of object->embedded */
	/* Patches of the workflow's defaults, and of its templateDefaults. */
	struct device_patch *patch, *usual_patch;
	uint32_t merge_budget; /* see template_merge() */
	/* The PodSpec of the object that the pod is based on, as its author
	 * wrote it. Set by base(). */
	const struct node *base;
};

/* Returns the operator of the builder's row; never NULL. */
const struct workload_operator *
builder_operator(const struct pod_builder *builder);

/* Results about a pod that many rules need and that are costly to compute. */
struct pod_memo {
	enum pod_purpose purpose;
	bool purpose_known;
	bool infrastructure; /* has an infrastructure image */
	bool infrastructure_known;
	bool spot_known;
	bool unit_known;
	bool may_serve, may_serve_known;
	/* last result of shm_has_volume_alone() */
	bool shm_alone;
	const struct node *shm_volume;
	struct shm_users *shm_users; /* users of the last volume, see shm.c */
	/* Results about the whole object, stored with its first pod. */
	bool platform, platform_known;
	/* class of the devices on the nodes that it selects */
	enum accel_class unit;
	struct arena *arena; /* arena of the object */
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
};

/* True if the name of a container or an image shows a server, or if there is a
 * readiness probe: pods of equal size are then replicas, not ranks. */
bool pod_may_serve(const struct pod *pod);

static inline bool node_same_key(const struct node *a, const struct node *b)
{
	return a->tag == b->tag && a->key_len == b->key_len &&
	       text_same_bytes(a->key, b->key, a->key_len);
}

/* True if a word may be NAME=value. */
bool argv_may_assign(const struct argv *argv, const char *name);
/* Names of commands to find; none is a flag. The bits of their first characters
 * are computed on first use, so that most look-ups end without comparing names
 * (for a Pod of 4 KB, this saves 600 of 1,700 instructions). */
struct argv_names {
	const char *const *names;
	_Atomic uint64_t starts;
};
/* True if argv contains one of the names. */
bool argv_have_name(const struct argv *argv, struct argv_names *wanted);

void pods_read(struct arena *arena, const struct kube_config *config,
	       struct object *object);
/* Builds one pod from the builder's row and group, and adds it to the object
 * unless it has no spec or the row says that it is none. holder is the
 * template, the PodSpec or the map of fields; element is the innermost list
 * item or map value, or NULL. */
void pod_build(struct pod_builder *builder, const struct node *holder,
	       const struct node *element);
/* Finds pods by the shape of the tree, for kinds that are in no table and for
 * custom kinds without a pod at the places in the table. */
void shape_read(struct pod_builder *builder);
void policy_kind_read(struct pod_builder *builder,
		      const struct policy_kind *kind);
/* Adds the object embedded at that node; does nothing if it is not an
 * object. */
void embed_add(struct pod_builder *builder, const struct doc *doc,
	       const struct node *node, struct amount copies);

/*
 * Returns the template after a strategic merge patch, as kubectl and the
 * operators apply it. Values keep their source positions. A pod that is read
 * from the result is not in the file as a whole; fix.c decides where its fixes
 * are written. Each value that is copied costs one node of the budget; values
 * beyond the budget are unknown.
 */
const struct node *template_merge(struct arena *arena, uint32_t *budget,
				  const struct node *template,
				  const struct node *patch);
/* Build a tree: merge_hollow() copies a node without its children, merge_add()
 * adds a copy of a child, which keeps its parent and its children. If the
 * budget is used up, merge_add() marks out as unknown instead. */
struct node *merge_hollow(struct arena *arena, const struct node *node);
void merge_add(struct arena *arena, uint32_t *budget, struct node *out,
	       const struct node *node);
/* Returns a copy of the node under another key, with the same source position.
 * Its parent is a second copy. */
struct node node_view(struct arena *arena, const struct node *node,
		      const char *key);
/* Returns the value after the patch. Both must have the same key. */
const struct node *value_merge(struct arena *arena, uint32_t *budget,
			       const struct node *value,
			       const struct node *patch);
/* Returns the PodSpec that the operator makes from the kind's own map: by the
 * row's fields, and merged with a template if the row has one. NULL if the
 * PodSpec of another object is needed and unknown, or if a row with `below`
 * sets no field. */
const struct node *pod_fields_make(struct pod_builder *builder,
				   const struct node *holder);
/* Returns the string at the key, or NULL. A string longer than any stored name
 * is cut, because each finding would copy it. */
const char *name_read(struct arena *arena, const struct node *map,
		      const char *key);
/* True if the PodSpec has a main container of that name. */
bool has_container(const struct node *spec, const char *name);
/* Adds the variables that the cluster injects to a container. */
void container_add_env(struct arena *arena, struct container *c,
		       const struct node *list);
void containers_read(struct pod_builder *builder, struct pod *pod);
/* Computes the devices per pod, including those in the operator's fields, and
 * sets gpu_by. */
void pod_gpus(struct pod_builder *builder, struct pod *pod);
/* Like pod_request() for an extended resource, whose requests by containers the
 * caller has added up in `all`. */
struct quantity pod_extended(const struct pod *pod, const char *resource,
			     const struct request_sum *all, bool *unknown);
/* Returns the text with each `{{x}}` replaced by a placeholder of the same
 * length. */
const char *text_without_markup(struct arena *arena, const char *text,
				size_t len);
void object_gang(struct object *object);

#endif
