/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget that all documents of one object share, and all of one file or
 * review: manifests, patches and configurations in strings are read with a
 * loader for each string, and a string may be read many times. Shell scripts
 * count as well. An arena leads to the budget, so that every loader that uses
 * its memory spends from it.
 *
 * The cost depends on the bytes alone: the same object is always read, or
 * always rejected, whatever the load of the machine.
 */
#ifndef DOC_BUDGET_H
#define DOC_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct load_cost {
	uint64_t bytes;	    /* of the texts */
	uint64_t nodes;	    /* made of the texts */
	uint64_t flow_work; /* as in struct load_limits */
	uint64_t list_work; /* work_of() the trees */
	uint64_t script;    /* bytes and words of shell scripts */
	uint64_t cel;	    /* costs and work of custom rules */
	uint64_t memory;    /* bytes for pods, findings and fixes */
};

struct load_budget {
	struct load_cost object; /* left for this object */
	struct load_cost all;	 /* of this object and all that follow */
	bool over;		 /* a part of this object was not read */
};

/* Limits for one object, at admission and in files alike; and for a file. */
extern const struct load_cost load_cost_object, load_cost_file;

/* Begins the next object. */
void load_budget_object(struct load_budget *budget);
/* Returns the rest of the budget. */
struct load_cost load_budget_left(const struct load_budget *budget);
/* Spends the cost; budget may be NULL, here and below. Returns false, and marks
 * the budget as over, if the rest is smaller. */
bool load_budget_spend(struct load_budget *budget,
		       const struct load_cost *cost);

#endif
