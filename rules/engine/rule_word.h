/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of policies, the command line and suppressions: those that select
 * rules, and the days of `until`.
 *
 * A word selects a rule by its name (or its former name), a category, `all`,
 * or one check of a rule (`RULE/CHECK`).
 */
#ifndef RULES_ENGINE_RULE_WORD_H
#define RULES_ENGINE_RULE_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "engine/registry.h"

enum rule_scope { SCOPE_ALL, SCOPE_CATEGORY, SCOPE_RULE };

struct rule_word {
	enum rule_scope scope;
	const struct rule *rule; /* for SCOPE_RULE */
	const struct rejection
		*check;	      /* the only check that is selected, or NULL */
	const char *category; /* for SCOPE_CATEGORY */
};

/* Returns false if the word selects no rule. */
bool rule_word_parse(const struct rule_set *rules, const char *text,
		     struct rule_word *out);
bool rule_word_covers(const struct rule_word *word, const struct rule *rule);
/* Returns the nearest rule or category for "did you mean", or NULL. */
const char *rule_word_nearest(const struct rule_set *rules, const char *text);
/* True if this text, as written in a manifest, selects the rule: its name,
 * alias or category, `all`, or its check (may be NULL). */
bool rule_is_named(const struct rule *rule, const char *check,
		   const char *text);
/* Sets the set's kinds after all rules are added. */
void rule_set_index_kinds(struct rule_set *rules, struct arena *arena);
/* True for invalid-syntax, which cannot be turned off or suppressed. */
bool rule_is_fixed(const struct rule *rule);

/*
 * Calendar days as numbers of days since 1970-01-01 UTC, for `until`, which
 * includes the day itself.
 */

#define DATE_NONE INT64_MAX
#define DATE_TEXT 32

/* Parses exactly YYYY-MM-DD. Returns false for other texts and for days that do
 * not exist. */
bool date_parse(const char *text, size_t len, int64_t *days);
const char *date_text(int64_t days, char out[DATE_TEXT]);
int64_t date_today(void);

#endif
