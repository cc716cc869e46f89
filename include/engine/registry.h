/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All rules, sorted by name; generated from the files of rules/catalog. The
 * engine does not refer to this list; the programs pass it in.
 */
#ifndef ENGINE_REGISTRY_H
#define ENGINE_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "engine/rule.h"

extern const struct rule *const all_rules[];
extern const size_t all_rules_count;

struct rule_set {
	/* Built-in rules sorted by name, followed by `added` custom rules of a
	 * policy's files in any order. A built-in rule has the same index in
	 * all sets. */
	const struct rule *const *items;
	size_t n, added;
	/* An entry for each kind that a custom rule checks, sorted by hash. */
	const struct rule_kind *kinds;
	size_t nkinds;
};

struct rule_kind {
	uint64_t hash; /* hash of the kind's name; 0 for rules of all kinds */
	unsigned rule;
};
/* Returns the custom rules that name this kind in rule.kinds; if kind is NULL,
 * those that check all kinds. Sets *n to their number. A rule may occur twice
 * in a row. */
const struct rule_kind *rule_set_of_kind(const struct rule_set *rules,
					 const char *kind, size_t *n);

/* Readers of the files listed in `custom:`, by kind; ends with NULL. */
struct custom_reader;
extern const struct custom_reader *const custom_readers[];

/* Returns the index of a rule by name or alias; -1 if there is none. */
int rule_set_find(const struct rule_set *rules, const char *name);
/* Returns the nearest name for "did you mean", or NULL. */
const char *rule_set_nearest(const struct rule_set *rules, const char *name);

#endif
