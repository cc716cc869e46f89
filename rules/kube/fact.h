/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside rules/kube: pieces of fact reading shared by its files.
 */
#ifndef RULES_KUBE_FACT_H
#define RULES_KUBE_FACT_H

#include "kube/fact.h"

/* Copies into the set's arena; NULL becomes "". */
const char *fact_text(struct arena *arena, const char *text);
struct object_id fact_id(struct arena *arena, const struct object *object);
/* metadata.name, else the object. */
const struct node *fact_name_node(const struct object *object);

/* Read one policy object; what to read stands in the file's head. */
void quota_read(struct arena *arena, const struct object *object,
		uint32_t file, struct quota *out);
void limit_range_read(struct arena *arena, const struct object *object,
		      uint32_t file, struct limit_range *out);
void priority_class_read(struct arena *arena, const struct object *object,
			 uint32_t file, struct priority_class *out);

#endif
