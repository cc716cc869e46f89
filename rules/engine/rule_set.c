/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds rules by the names that users write, and reads their days. Names are
 * sorted for a binary search; custom rules and former names (aliases) are few
 * and are scanned. A rule has precedence over a category of the same name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "engine/registry.h"
#include "rule_word.h"

static bool has_alias(const struct rule *rule, const char *name)
{
	return rule->aliases && text_any(name, rule->aliases, text_eq);
}

int rule_set_find(const struct rule_set *rules, const char *name)
{
	size_t low = 0, high = rules->n - rules->added;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, rules->items[middle]->name);

		if (order == 0)
			return (int)middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	for (size_t i = rules->n - rules->added; i < rules->n; i++)
		if (strcmp(rules->items[i]->name, name) == 0)
			return (int)i;
	for (size_t i = 0; i < rules->n; i++)
		if (has_alias(rules->items[i], name))
			return (int)i;
	return -1;
}

static uint64_t kind_hash(const char *kind)
{
	return kind ? text_hash(kind, strlen(kind), 0) | 1 : 0;
}

static int by_kind(const void *a, const void *b)
{
	const struct rule_kind *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

const struct rule_kind *rule_set_of_kind(const struct rule_set *rules,
					 const char *kind, size_t *n)
{
	const struct rule_kind key = {kind_hash(kind), 0};
	size_t first = array_first(rules->kinds, rules->nkinds, sizeof(key),
				   &key, by_kind);
	size_t end = first;

	while (end < rules->nkinds && rules->kinds[end].hash == key.hash)
		end++;
	*n = end - first;
	return rules->kinds + first;
}

void rule_set_index_kinds(struct rule_set *rules, struct arena *arena)
{
	struct rule_kind *kinds = NULL;
	size_t n = 0, size = 0;

	for (size_t i = rules->n - rules->added; i < rules->n; i++) {
		const char *const *kind = rules->items[i]->kinds;

		do
			*VEC_PUSH(arena, kinds, n, size) = (struct rule_kind){
				kind_hash(kind ? *kind : NULL), (unsigned)i};
		while (kind && *++kind);
	}
	if (n)
		qsort(kinds, n, sizeof(*kinds), by_kind);
	rules->kinds = kinds;
	rules->nkinds = n;
}

/* Returns the nearest name among rules and, with `categories`, categories; NULL
 * if none is near. */
static const char *nearest_rule(const struct rule_set *rules, const char *name,
				bool categories)
{
	struct arena arena = ARENA_INIT;
	const char **names = ARENA_ARRAY(&arena, const char *, 2 * rules->n);
	const char *found;
	size_t n = 0;

	for (size_t i = 0; i < rules->n; i++)
		names[n++] = rules->items[i]->name;
	for (size_t i = 0; categories && i < rules->n; i++)
		names[n++] = rules->items[i]->category;
	found = text_nearest(name, names, n);
	arena_release(&arena);
	return found;
}

const char *rule_set_nearest(const struct rule_set *rules, const char *name)
{
	return nearest_rule(rules, name, false);
}

const char *rule_word_nearest(const struct rule_set *rules, const char *text)
{
	return nearest_rule(rules, text, true);
}

static const char *find_category(const struct rule_set *rules, const char *name)
{
	for (size_t i = 0; i < rules->n; i++)
		if (strcmp(rules->items[i]->category, name) == 0)
			return rules->items[i]->category;
	return NULL;
}

const struct rejection *rule_rejection(const struct rule *rule, const char *id)
{
	const struct rejection *one =
		rule->rejections ? rule->rejections->items : NULL;

	while (one && one->id && strcmp(one->id, id) != 0)
		one++;
	return one && one->id ? one : NULL;
}

/* Parses "RULE/CHECK". */
static bool parse_check(const struct rule_set *rules, const char *text,
			struct rule_word *out)
{
	const char *slash = strchr(text, '/');
	struct arena arena = ARENA_INIT;
	int found;

	if (!slash)
		return false;
	found = rule_set_find(
		rules, arena_printf(&arena, "%.*s", (int)(slash - text), text));
	arena_release(&arena);
	if (found < 0)
		return false;
	out->rule = rules->items[found];
	out->check = rule_rejection(out->rule, slash + 1);
	return out->check;
}

bool rule_word_parse(const struct rule_set *rules, const char *text,
		     struct rule_word *out)
{
	int found = rule_set_find(rules, text);

	*out = (struct rule_word){.scope = SCOPE_RULE};
	if (found >= 0) {
		out->rule = rules->items[found];
		return true;
	}
	if (parse_check(rules, text, out))
		return true;
	*out = (struct rule_word){.scope = SCOPE_CATEGORY};
	out->category = find_category(rules, text);
	if (out->category)
		return true;
	out->scope = SCOPE_ALL;
	return strcmp(text, "all") == 0;
}

bool rule_word_covers(const struct rule_word *word, const struct rule *rule)
{
	switch (word->scope) {
	case SCOPE_RULE:
		return word->rule == rule;
	case SCOPE_CATEGORY:
		return strcmp(word->category, rule->category) == 0;
	default:
		return true;
	}
}

static bool is_check_named(const struct rule *rule, const char *check,
			   const char *text)
{
	const char *slash = strchr(text, '/');

	return slash && *text_or_empty(check) &&
	       strcmp(slash + 1, check) == 0 &&
	       strlen(rule->name) == (size_t)(slash - text) &&
	       strncmp(rule->name, text, strlen(rule->name)) == 0;
}

bool rule_is_named(const struct rule *rule, const char *check, const char *text)
{
	return is_check_named(rule, check, text) || strcmp(text, "all") == 0 ||
	       strcmp(text, rule->name) == 0 ||
	       strcmp(text, rule->category) == 0 || has_alias(rule, text);
}

bool rule_is_fixed(const struct rule *rule)
{
	return strcmp(rule->name, "invalid-syntax") == 0;
}

/*
 * Parses and prints calendar days (Gregorian, YYYY-MM-DD).
 */

enum { DAY = 86400 };

/* strptime() alone would accept blanks, fewer digits, and days that do not
 * exist. */
bool date_parse(const char *text, size_t len, int64_t *days)
{
	char copy[sizeof("YYYY-MM-DD")] = "";
	struct tm tm = {0};
	const char *end;
	int day;

	if (len != sizeof(copy) - 1)
		return false;
	memcpy(copy, text, len);
	end = strptime(copy, "%Y-%m-%d", &tm);
	day = tm.tm_mday;
	if (end != copy + len || strspn(copy, "0123456789-") != len)
		return false;
	*days = (int64_t)timegm(&tm) / DAY;
	return tm.tm_mday == day;
}

const char *date_text(int64_t days, char out[DATE_TEXT])
{
	time_t seconds = (time_t)(days * DAY);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(out, DATE_TEXT, "%F", &tm))
		snprintf(out, DATE_TEXT, "day %lld", (long long)days);
	return out;
}

int64_t date_today(void)
{
	return (int64_t)(time(NULL) / DAY);
}
