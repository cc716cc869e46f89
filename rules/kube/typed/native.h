/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' own kinds as tables: data/native_types.tsv (fields of the Go
 * types) and data/native_defaults.tsv, compiled by data/native_types.awk.
 */
#ifndef RULES_KUBE_NATIVE_H
#define RULES_KUBE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum native_flags {
	NATIVE_POINTER = 1,
	NATIVE_LIST = 2,
	NATIVE_MAP = 4,
	NATIVE_ALWAYS = 8,     /* written even if it is empty */
	NATIVE_OMIT_ZERO = 16, /* a struct that is omitted if it is empty */
	NATIVE_REQUIRED = 32,  /* the API server rejects an object without it */
	NATIVE_REQUIREMENTS = 64, /* it, or a field below it, is required */
	NATIVE_CONSTRAINTS = 128, /* it, or a field below it, has constraints */
};

struct native_field {
	const char *name;
	char form; /* one of s y i f b q t o x; T: a struct */
	unsigned char flags;
	unsigned short type;  /* of a T */
	unsigned char values; /* index of its allowed words in native_enums */
	unsigned char len;    /* of the name */
	unsigned short tag;   /* node_tag() of the name */
};

struct native_default {
	const char *field, *condition, *value; /* as in the table */
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
	CONSTRAINT_TRIMMED,
	CONSTRAINT_WORDS,
	CONSTRAINT_FIELDPATH,
	CONSTRAINT_UNIQUE,
	CONSTRAINT_ONE,
	CONSTRAINT_MOST,
};

struct native_constraint {
	const char *field;
	unsigned char len;
	unsigned short tag; /* node_tag() of the field */
	enum native_constraint_kind kind;
	const char *argument; /* as in the table */
};

struct native_type {
	const char *name; /* with its group and version if several have it */
	unsigned short field, nfields, row, nrows; /* runs of the arrays */
	/* A run of native_word_fields: fields with allowed words, or with such
	 * fields below; node_tag_bit() of their names. */
	unsigned short word, nwords;
	unsigned short constraint, nconstraints;
	uint64_t word_tags;
};

struct native_kind {
	const char *group, *version, *kind, *resource;
	bool cluster_scoped;
	unsigned short type;
};

extern const struct native_field native_fields[];
extern const unsigned short native_word_fields[]; /* of native_fields */
/* Lists that end with NULL; the first one is NULL. */
extern const char *const *const native_enums[];
extern const struct native_default native_defaults[];
extern const struct native_constraint native_constraints[];
extern const struct native_type native_types[];
extern const struct native_kind native_kinds[]; /* ends with {NULL} */
extern const unsigned native_every;    /* the type of rows for all objects */
extern const unsigned native_template; /* PodTemplateSpec */
extern const unsigned native_pod_spec, native_container, native_metadata;

/* NULL for an unknown kind or version. */
const struct native_kind *native_kind(const char *group, const char *version,
				      const char *kind);
/* NULL if the type has no such field. */
const struct native_field *native_find(const struct native_type *type,
				       const char *name);

#endif
