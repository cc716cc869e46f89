/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' own kinds as tables: data/native_types.tsv (fields of the Go
 * types) and data/native_defaults.tsv, compiled by data/native_types.awk.
 */
#ifndef RULES_KUBE_NATIVE_H
#define RULES_KUBE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>

enum native_flags {
	NATIVE_POINTER = 1,
	NATIVE_LIST = 2,
	NATIVE_MAP = 4,
	NATIVE_ALWAYS = 8,     /* written although it is empty */
	NATIVE_OMIT_ZERO = 16, /* a struct that is not, when it is empty */
};

struct native_field {
	const char *name;
	char form; /* s y i f b q t o x, T: a struct */
	unsigned char flags;
	unsigned short type; /* of a T */
};

struct native_default {
	const char *field, *condition, *value; /* as the table has them */
};

struct native_type {
	const char *name; /* behind a dot, the group of one of several */
	unsigned short field, nfields, row, nrows; /* runs of the arrays */
};

struct native_kind {
	const char *group, *version, *kind, *resource;
	bool cluster_scoped;
	unsigned short type;
};

extern const struct native_field native_fields[];
extern const struct native_default native_defaults[];
extern const struct native_type native_types[];
extern const struct native_kind native_kinds[]; /* ends with {NULL} */
extern const unsigned native_every;    /* the type of rows for all objects */
extern const unsigned native_template; /* PodTemplateSpec */
extern const unsigned native_pod_spec, native_container, native_metadata;

/* NULL: a kind or version that the tables lack. */
const struct native_kind *native_kind(const char *group, const char *version,
				      const char *kind);
/* NULL: the type has no such field. */
const struct native_field *native_find(const struct native_type *type,
				       const char *name);

#endif
