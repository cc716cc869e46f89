/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private parts of this folder. Kubernetes' own kinds as tables:
 * data/native_types.tsv (fields of the Go types) and data/native_defaults.tsv,
 * and fields of operators' kinds (data/custom_types.tsv), compiled by
 * data/native_types.awk.
 */
#ifndef RULES_KUBE_NATIVE_H
#define RULES_KUBE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/build.h"
#include "doc/node.h"
#include "kube/typed.h"

struct node;
struct object;

enum native_flags {
	NATIVE_POINTER = 1,
	NATIVE_LIST = 2,
	NATIVE_MAP = 4,
	NATIVE_ALWAYS = 8,	  /* written even if it is empty */
	NATIVE_OMIT_ZERO = 16,	  /* a struct that is omitted if it is empty */
	NATIVE_REQUIRED = 32,	  /* required by the API server */
	NATIVE_REQUIREMENTS = 64, /* the field, or one below it, is required */
	/* the field, or one below it, has constraints */
	NATIVE_CONSTRAINTS = 128,
};

struct native_field {
	const char *name;
	char form; /* letter as in data/native_types.tsv; T means a struct */
	unsigned char flags;
	unsigned short type;  /* type of a struct */
	unsigned char values; /* index of the allowed words in native_enums */
	unsigned char len;    /* length of the name */
	unsigned short tag;   /* node_tag() of the name */
};

struct native_default {
	const char *field, *condition, *value; /* columns of the table */
};

enum native_constraint_kind {
	CONSTRAINT_RANGE,
	CONSTRAINT_LABEL,
	CONSTRAINT_SUBDOMAIN,
	CONSTRAINT_PORT,
	CONSTRAINT_PORTNAME,
	CONSTRAINT_ENVNAME,
	CONSTRAINT_LABELS,
	CONSTRAINT_INSIDE,
	CONSTRAINT_NODOTS,
	CONSTRAINT_LABELKEY,
	CONSTRAINT_LABELVALUE,
	CONSTRAINT_IP,
	CONSTRAINT_TRIMMED,
	CONSTRAINT_WORDS,
	CONSTRAINT_FIELDPATH,
	CONSTRAINT_RESOURCE,
	CONSTRAINT_UNIQUE,
	CONSTRAINT_ONE,
	CONSTRAINT_MOST,
	CONSTRAINT_WITH,
	CONSTRAINT_NOT,
	CONSTRAINT_LENGTH,
	CONSTRAINT_ITEMS,
	CONSTRAINT_KEYS,
	CONSTRAINT_PATTERN,
	CONSTRAINT_FORMAT,
};

struct native_constraint {
	const char *field;
	unsigned char len;
	unsigned short tag; /* node_tag() of the field */
	enum native_constraint_kind kind;
	const char *argument; /* column of the table */
	bool items;	      /* it is one of the items of a list or map */
	bool zero; /* 0 or an empty value may be omitted, and is valid */
	/* first release of the operator that has it; NULL: all have it */
	const char *since;
};

struct native_type {
	const char *name; /* includes group and version if several have it */
	unsigned short field, nfields, row, nrows; /* ranges of the arrays */
	/* Range of native_slots, a hash table of the fields by node_tag(). A
	 * slot holds the number of a field in its type, from 1, or 0. */
	unsigned short slot, slot_mask;
	/* Range of native_word_fields, the fields that have allowed words or
	 * contain such fields. word_tags has the node_tag_bit() bits of their
	 * names. */
	unsigned short word, nwords;
	unsigned short constraint, nconstraints;
	uint64_t word_tags;
};

struct native_kind {
	const char *group, *version, *kind, *resource;
	bool cluster_scoped;
	unsigned short type;
};

/* A custom kind. Its types have fields, some of them required, with allowed
 * words or with constraints, but no defaults. */
struct operator_kind {
	const char *group, *version, *kind;
	/* The operator also has a definition that preserves all fields. */
	bool loose;
	unsigned short type;
};

extern const struct operator_kind operator_kinds[]; /* ends with {NULL} */
extern const struct native_field native_fields[];
extern const unsigned char native_slots[];
extern const unsigned short native_word_fields[]; /* indexes of native_fields */
/* NULL-terminated lists of words; the first entry is NULL. */
extern const char *const *const native_enums[];
extern const struct native_default native_defaults[];
extern const struct native_constraint native_constraints[];
extern const struct native_type native_types[];
extern const struct native_kind native_kinds[]; /* ends with {NULL} */
/* type whose rows apply to all objects */
extern const unsigned native_every;
extern const unsigned native_template; /* type PodTemplateSpec */
extern const unsigned native_pod_spec, native_container, native_metadata;

/* Returns NULL for an unknown kind or version. */
const struct native_kind *native_kind(const char *group, const char *version,
				      const char *kind);
/* Returns NULL for other kinds than those of data/custom_types.tsv. */
const struct operator_kind *operator_kind(const struct object *object);
/* Returns NULL if the type lacks the field. */
const struct native_field *native_find(const struct native_type *type,
				       const char *name, size_t len);
/* Returns the field that a child of a map of the type is, or NULL. */
const struct native_field *native_field_of(const struct native_type *type,
					   const struct node *child);
/* Returns the required type in words if a value of that form cannot be
 * decoded, else NULL. */
const char *native_wanted_type(const struct node *node, char form);
/* False for a text that is none of the words of the field. */
bool native_word_is_allowed(const struct node *node,
			    const struct native_field *field);

/* Checks values against the constraints of data/native_constraints.tsv and
 * data/custom_types.tsv. */

struct constraint_check {
	/* text is a message: "`maxSkew` must be at least 1, not 0". */
	void (*found)(struct constraint_check *check, const struct node *at,
		      const char *text);
	struct arena *arena; /* memory of the texts */
	void *context;
	/* field-unknown reports fields that the types lack */
	bool reports_unknown;
	/* True if the text does not match a regular expression of Go. */
	bool (*mismatches)(struct constraint_check *check, const char *pattern,
			   const struct node *text);
	const struct native_constraint *constraint; /* the violated one */
	/* another object may add the missing member of a union, or items */
	bool partial;
};

/* Checks the values of a map against the constraints of its type. Unknown
 * values are skipped. */
void constraint_check_map(struct constraint_check *check,
			  const struct node *map,
			  const struct native_type *type);

/* -- schema_constraint.c: constraints of definitions ------------------------
 */

void constraint_check_schema(struct constraint_check *check,
			     const struct node *value,
			     const struct native_constraint *constraint);
/* Reads "1 63". A bound of `-` leaves that side open. */
void constraint_bounds(const char *argument, int64_t *least, int64_t *most);
/* Returns "`field`", or "each item of `field`". */
const char *constraint_label(struct constraint_check *check,
			     const struct native_constraint *constraint);
/* True for a name in capitals with `_`, or a variable of kustomize: sed or
 * kustomize may replace it. */
bool constraint_is_filled_in(const char *s);

/* Functions that build the trees of kube/typed.h; private to this folder. */

/* Returns a new node without children, at the source position of `at`, or of
 * parent if `at` is NULL. */
struct node *typed_new(struct arena *arena, enum node_type type,
		       const struct node *at, const struct node *parent);
struct node *typed_text(struct arena *arena, const char *text,
			const struct node *parent);
/* Appends to a map. The key is not copied. */
void typed_put(struct node *map, const char *key, struct node *value);
/* Returns a child of a map that is under construction, or NULL. */
struct node *typed_find(const struct node *map, const char *key, size_t len);
/* Returns a deep copy, including nulls. */
struct node *typed_copy(struct arena *arena, const struct node *node);
/* Appends the value to the map, under the key of `from`. */
void typed_keep(struct node *map, const struct node *from, struct node *value);

/* Makes a struct of a native type from the author's map; from is NULL for an
 * empty one. */
struct node *native_struct(struct arena *arena, unsigned type,
			   const struct node *from, const struct node *parent);
/* Sets the defaults of a map by the rows of its type. */
void native_set_defaults(struct arena *arena, unsigned type, struct node *map);
/* Makes an object of a native kind. */
struct node *native_root(struct arena *arena, const struct native_kind *kind,
			 const struct node *from);
/* Returns a quantity as canonical text, or a copy if it is not a quantity. */
struct node *native_quantity(struct arena *arena, const struct node *from);

#endif
