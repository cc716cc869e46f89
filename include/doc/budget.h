/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the documents of one object, and of one file or review, may cost
 * together: manifests, patches and configurations in strings are read with a
 * loader for each string, and a string may be read many times. An arena leads
 * to the budget, so that every loader that uses its memory spends from it.
 *
 * What is left is known from the bytes alone: the same object is always read,
 * or always refused, whatever else the machine does.
 */
#ifndef DOC_BUDGET_H
#define DOC_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct load_cost {
	uint64_t bytes;	    /* of the texts */
	uint64_t nodes;	    /* that are made of them */
	uint64_t flow_work; /* as in struct load_limits */
	uint64_t list_work; /* work_of() the trees */
};

struct load_budget {
	struct load_cost object; /* left for this object */
	struct load_cost all;	 /* for this one and all that follow */
	bool over; /* something of this object was not read for it */
};

/* Of one object, in admission and lint alike; and of a file. */
extern const struct load_cost load_cost_object, load_cost_file;

/* The next object begins. */
void load_budget_object(struct load_budget *budget);
/* What is left to a reader. */
struct load_cost load_budget_left(const struct load_budget *budget);
/* budget: or NULL, as below. False: there was not as much left, and the budget
 * is over. */
bool load_budget_spend(struct load_budget *budget,
		       const struct load_cost *cost);

#endif
