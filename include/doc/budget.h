/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on the work that reading and checking an object may cause. */
#ifndef DOC_BUDGET_H
#define DOC_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "doc/node.h"

/*
 * Limits on the work that all documents of one object, and of one file or
 * review, may cause together. A limit per document is not enough, because
 * manifests, patches and configurations in strings are read with a loader for
 * each string, and a string may be read many times. Shell scripts count as
 * well. An arena points to the budget, so that every loader that uses its
 * memory spends from it.
 *
 * The cost depends on the bytes alone: the same object is always read, or
 * always rejected, whatever the load of the machine.
 */

struct load_cost {
	uint64_t bytes;	    /* bytes of text read */
	uint64_t nodes;	    /* nodes made of the texts */
	uint64_t flow_work; /* as in struct load_limits */
	uint64_t list_work; /* work_of() of the trees */
	uint64_t script;    /* bytes and words of shell scripts */
	uint64_t cel;	    /* cost and work of custom rules */
	uint64_t memory;    /* bytes for pods, findings and fixes */
	uint64_t compared;  /* values compared with the cluster's nodes */
};

struct load_budget {
	struct load_cost object; /* left for the current object */
	/* left for the current object and all that follow */
	struct load_cost all;
	bool over; /* a part of this object was not read */
};

/* Limits for one object (the same at admission and in files), and for a
 * file. */
extern const struct load_cost load_cost_object, load_cost_file;

/* Restores the limits of one object for the next object. */
void load_budget_object(struct load_budget *budget);
/* Returns the part of the budget that the object may still use. */
struct load_cost load_budget_left(const struct load_budget *budget);
/* Subtracts the cost from the budget, which may be NULL here and below. Returns
 * false, and marks the budget as exceeded, if less is left. */
bool load_budget_spend(struct load_budget *budget,
		       const struct load_cost *cost);

/*
 * Limits the work that the lists, keys and texts of an object cause, in the
 * same way in admission and lint.
 *
 * Rules compare items of a list with each other (containers, volumes and their
 * mounts), and against nodes and quotas. Checking 1,500 items takes a tenth of
 * a second. Checking 12,000, which an object can contain, takes longer than the
 * API server's timeout, after which `failurePolicy: Ignore` admits the object.
 */

enum {
	/* longest list that is checked, if it is the only one */
	WORK_ITEMS = 1500,
	WORK_MAX = WORK_ITEMS * WORK_ITEMS,
};

/*
 * Returns the sum of the squares of the lengths of all lists and maps. Numbers
 * and strings cost less, so the square of their number counts a sixteenth. Keys
 * around a list or map also count, because each pod and finding below them may
 * be given its path.
 */
uint64_t work_of(const struct node *node);
/* Returns the work for the keys around a list or map, which have this many
 * bytes. */
static inline uint64_t work_of_keys(uint64_t bytes)
{
	return bytes / 1024 * 64;
}
/* Limits on long texts. Every map may refer to a long text: a volume's path is
 * read for each mount of each container. */
enum {
	WORK_TEXT = 4096,	 /* bytes; longer texts are long */
	WORK_TEXTS_MAX = 1 << 14 /* KiB of long texts times maps */
};

/* True if the lists, keys or texts are too long to check the object. */
bool work_is_too_much(const struct node *node);
/* Returns the list or map that contributes most; NULL if there is none. */
const struct node *work_longest(const struct node *node);

#endif
