/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that build the trees of kube/typed.h; private to this folder. */
#ifndef RULES_KUBE_TYPED_H
#define RULES_KUBE_TYPED_H

#include "doc/build.h"
#include "kube/typed.h"
#include "native.h"

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

struct node *custom_object(struct arena *arena, const struct node *root,
			   const struct node *schema);
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
