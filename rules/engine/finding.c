/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts and identifies findings, names their severities, and hides general
 * ones if a more specific one is reported. The fingerprint contains the rule,
 * the object and the path with names of list items, never a line, so that it
 * survives edits above the finding and is the same in a file and at admission.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "engine/finding.h"
#include "kube/object.h"
#include "rules/engine/run/run_internal.h"

/*
 * Words for severities and actions, in the order of their enums. Users write
 * these words, so they must not change.
 */

static const char *const severities[] = {"info", "warning", "error"};
static const char *const actions[] = {"off", "audit", "warn", "patch", "deny"};

static int word_index(const char *const *words, size_t n, const char *text)
{
	for (size_t i = 0; text && i < n; i++)
		if (strcmp(words[i], text) == 0)
			return (int)i;
	return -1;
}

const char *severity_name(enum severity severity)
{
	if ((size_t)severity >= ARRAY_SIZE(severities))
		BUG("severity %d", (int)severity);
	return severities[severity];
}

const char *action_name(enum action action)
{
	if ((size_t)action >= ARRAY_SIZE(actions))
		BUG("action %d", (int)action);
	return actions[action];
}

enum action rule_action(const struct rule *rule, enum severity severity)
{
	if (severity == SEVERITY_INFO || rule->flags & RULE_PREVIEW)
		return ACTION_AUDIT;
	if (rule->flags & RULE_SAFE_PATCH &&
	    !(rule->flags & (RULE_TAKES | RULE_OPT_IN_PATCH)))
		return ACTION_PATCH;
	return severity == SEVERITY_ERROR ? ACTION_DENY : ACTION_WARN;
}

bool severity_parse(const char *text, enum severity *out)
{
	int i = word_index(severities, ARRAY_SIZE(severities), text);

	if (i >= 0)
		*out = (enum severity)i;
	return i >= 0;
}

bool action_parse(const char *text, enum action *out)
{
	int i = word_index(actions, ARRAY_SIZE(actions), text);

	if (i >= 0)
		*out = (enum action)i;
	return i >= 0;
}

static int cmp_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

struct object_id finding_id(struct arena *arena, const struct object *o)
{
	struct object_id id = object_id_of(o);

	if (!o->name)
		id.name = text_or_empty(o->generate_name);
	return object_id_copy(arena, id);
}

/* --- copies ------------------------------------------------------------- */

static const char *copy_text(struct finding_memory *memory, const char *text)
{
	size_t slots = ARRAY_SIZE(memory->texts);
	const char **kept;
	size_t len;

	if (!text || !*text)
		return "";
	len = strlen(text);
	kept = &memory->texts[text_hash(text, len, 0) % slots];
	if (!*kept || strcmp(*kept, text) != 0)
		*kept = arena_strndup(&memory->arena, text, len);
	return *kept;
}

static struct fix_result *copy_repair(struct finding_memory *memory,
				      const struct fix_result *from)
{
	struct fix_result *to = arena_alloc(&memory->arena, sizeof(*to));
	size_t size = from->nedits * sizeof(*from->edits);
	struct fix_edit *edits = arena_alloc(&memory->arena, size);

	*to = *from;
	to->title = copy_text(memory, from->title);
	to->patch = copy_text(memory, from->patch);
	to->refused = copy_text(memory, from->refused);
	for (unsigned i = 0; i < from->nedits; i++) {
		edits[i] = from->edits[i];
		edits[i].text = copy_text(memory, from->edits[i].text);
	}
	to->edits = edits;
	return to;
}

static void copy_related(struct finding_memory *memory, struct finding *finding)
{
	size_t size = finding->nrelated * sizeof(*finding->related);
	const struct related *from = finding->related;
	struct related *to = arena_alloc(&memory->arena, size);

	for (unsigned i = 0; i < finding->nrelated; i++) {
		to[i] = from[i];
		to[i].place.pointer = copy_text(memory, from[i].place.pointer);
		to[i].message = copy_text(memory, from[i].message);
	}
	finding->related = to;
}

void finding_copy(struct finding *to, const struct finding *from,
		  struct finding_memory *memory)
{
	const char **texts[] = {&to->place.pointer, &to->id.api_version,
				&to->id.kind,	    &to->id.namespace,
				&to->id.name,	    &to->pod,
				&to->container,	    &to->message,
				&to->help,	    &to->cause,
				&to->policy,	    &to->binding,
				&to->wants,	    &to->suppression_reason};

	*to = *from;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = copy_text(memory, *texts[i]);
	if (to->nrelated)
		copy_related(memory, to);
	if (to->repair)
		to->repair = copy_repair(memory, to->repair);
	to->fix = NULL;
	to->fix_title = NULL;
	to->ignore_refused = NULL;
}

/* --- order --------------------------------------------------------------- */

int finding_cmp(const struct finding *a, const struct finding *b)
{
	int c = cmp_u32(a->place.file, b->place.file);

	if (!c)
		c = cmp_u32(a->place.line, b->place.line);
	if (!c)
		c = cmp_u32(a->place.column, b->place.column);
	if (!c)
		c = strcmp(a->rule->name, b->rule->name);
	if (!c)
		c = cmp_u32(a->place.document, b->place.document);
	if (!c)
		c = strcmp(a->place.pointer, b->place.pointer);
	return c ? c : strcmp(a->message, b->message);
}

/* Like finding_cmp(), but also compares the related place. */
static int order(const struct finding *a, const struct finding *b)
{
	int c = finding_cmp(a, b);

	if (c || !a->nrelated || !b->nrelated)
		return c ? c : cmp_u32(a->nrelated, b->nrelated);
	c = cmp_u32(a->related->place.file, b->related->place.file);
	return c ? c : cmp_u32(a->related->place.line, b->related->place.line);
}

static int compare(const void *a, const void *b)
{
	return order(a, b);
}

void findings_sort(struct finding *findings, size_t n)
{
	qsort(findings, n, sizeof(*findings), compare);
}

static int compare_pointers(const void *a, const void *b)
{
	return order(*(struct finding *const *)a, *(struct finding *const *)b);
}

void findings_sort_pointers(struct finding **findings, size_t n)
{
	if (n)
		qsort(findings, n, sizeof(*findings), compare_pointers);
}

const char *finding_remedy(const struct finding *finding)
{
	if (*finding->help)
		return finding->help;
	return finding->rule->remedy ? finding->rule->remedy : "";
}

static uint64_t hash_part(uint64_t hash, const char *text)
{
	return text_hash(text, strlen(text) + 1, hash);
}

uint64_t finding_fingerprint(const struct finding *f)
{
	uint64_t hash = hash_part(0, f->rule->name);
	const char *slash = strchr(f->id.api_version, '/');

	/* Hash the group without the version, because all served versions are
	 * the same object. */
	hash = slash ? text_hash(f->id.api_version,
				 (size_t)(slash - f->id.api_version), hash)
		     : hash_part(hash, "");
	hash = hash_part(hash, f->id.kind);
	hash = hash_part(hash, f->id.namespace);
	hash = hash_part(hash, f->id.name);
	hash = text_hash(&f->place.named_path, sizeof(f->place.named_path),
			 hash);
	return hash_part(hash, f->cause);
}

uint64_t finding_former_fingerprint(const struct finding *f)
{
	struct finding former = *f;

	if (f->former_path)
		former.place.named_path = f->former_path;
	return finding_fingerprint(&former);
}

void finding_finish_value(struct finding *f)
{
	const char *const parts[] = {f->pod, f->container, f->message};
	struct buf text;

	buf_init(&text);
	buf_add(&text, &f->value, sizeof(f->value));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		buf_add(&text, parts[i], strlen(parts[i]) + 1);
	f->value = text_keyed_hash(text.data, text.len);
	buf_release(&text);
}

/* --- secret values ------------------------------------------------------- */

static bool has_secret(const struct secrets *secrets, const char *text)
{
	return secrets_in(secrets, text, strlen(text));
}

static bool writes_secret(const struct fix_result *repair,
			  const struct secrets *secrets)
{
	bool masked = has_secret(secrets, repair->patch);

	for (unsigned i = 0; i < repair->nedits && !masked; i++)
		masked = has_secret(secrets, repair->edits[i].text);
	return masked;
}

static const char *mask_text(const struct secrets *secrets, struct arena *arena,
			     const char *text)
{
	return secrets_mask_in_place(secrets, arena, text, strlen(text));
}

/* Masks the secret values in the texts of a fix. If the fix writes one, its
 * patch and edits are masked too, and it is marked so that they are not
 * applied. */
static struct fix_result *mask_repair(const struct fix_result *repair,
				      const struct secrets *secrets,
				      struct arena *arena)
{
	struct fix_result *out = ARENA_NEW(arena, struct fix_result);
	struct fix_edit *edits =
		ARENA_ARRAY(arena, struct fix_edit, repair->nedits + 1);

	*out = *repair;
	out->title = secrets_mask(secrets, arena, repair->title);
	out->refused = secrets_mask(secrets, arena, repair->refused);
	out->masked = writes_secret(repair, secrets);
	if (!out->masked)
		return out;
	out->patch = mask_text(secrets, arena, repair->patch);
	for (unsigned i = 0; i < repair->nedits; i++) {
		edits[i] = repair->edits[i];
		edits[i].text = mask_text(secrets, arena, edits[i].text);
	}
	out->edits = edits;
	return out;
}

static void mask_related(struct finding *f, const struct secrets *secrets,
			 struct arena *arena)
{
	struct related *related =
		ARENA_ARRAY(arena, struct related, f->nrelated + 1);

	for (unsigned i = 0; i < f->nrelated; i++) {
		related[i] = f->related[i];
		related[i].message =
			secrets_mask(secrets, arena, related[i].message);
	}
	f->related = related;
}

void finding_mask(struct finding *f, const struct secrets *secrets,
		  struct arena *arena)
{
	const char **shown[] = {
		&f->message,
		&f->help,
		&f->pod,
		&f->cause,
		&f->suppression_reason,
		&f->container,
		&f->id.name,
		&f->id.namespace,
		&f->place.pointer,
	};

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		*shown[i] = secrets_mask(secrets, arena, *shown[i]);
	if (f->fix_title)
		f->fix_title = secrets_mask(secrets, arena, f->fix_title);
	if (f->nrelated)
		mask_related(f, secrets, arena);
	if (f->repair)
		f->repair = mask_repair(f->repair, secrets, arena);
}

static bool yields_to(const struct rule *rule, const struct rule *other)
{
	return rule->yields_to &&
	       text_any(other->name, rule->yields_to, text_eq);
}

/* True if both are about the same pod and do not have different containers or
 * causes. A finding without a container or cause matches any. */
static bool same_subject(const struct finding *a, const struct finding *b)
{
	if (a->pod_key != b->pod_key)
		return false;
	if (a->container_key && b->container_key &&
	    a->container_key != b->container_key)
		return false;
	return !*a->cause || !*b->cause || !strcmp(a->cause, b->cause);
}

static bool yields_among(const struct finding *f, struct finding **all,
			 size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (all[i] != f && yields_to(f->rule, all[i]->rule) &&
		    same_subject(f, all[i]))
			return true;
	return false;
}

/* --- many findings -------------------------------------------------------- */

/*
 * A hostile object may have ten thousand findings, for which comparing all
 * pairs takes seconds. So findings of rules that hide others are sorted by pod
 * and container, and each finding is compared only with those of its group.
 */
enum { FEW = 32, YIELDING_MAX = 32 };

struct yielding {
	const struct rule *items[YIELDING_MAX];
	size_t n;
};

static void note_yielding(struct yielding *y, const struct rule *rule)
{
	for (size_t i = 0; i < y->n; i++)
		if (y->items[i] == rule)
			return;
	if (y->n < YIELDING_MAX)
		y->items[y->n++] = rule;
}

/*
 * True if findings of the rule may hide others: a rule of the list yields to
 * it, or the list is full.
 */
static bool is_yielded_to(const struct yielding *y, const struct rule *rule)
{
	for (size_t i = 0; i < y->n; i++)
		if (yields_to(y->items[i], rule))
			return true;
	return y->n == YIELDING_MAX;
}

static uint64_t subject_of(const struct finding *f)
{
	return (uint64_t)f->pod_key << 32 | f->container_key;
}

static int cmp_subject(const void *a, const void *b)
{
	uint64_t x = subject_of(*(struct finding *const *)a);
	uint64_t y = subject_of(*(struct finding *const *)b);

	return (x > y) - (x < y);
}

static size_t first_at(struct finding **sorted, size_t n, uint64_t subject)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (subject_of(sorted[middle]) < subject)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

static bool yields_sorted(const struct finding *f, struct finding **sorted,
			  size_t n)
{
	const uint64_t pod = (uint64_t)f->pod_key << 32, next = UINT64_C(1)
								<< 32;
	size_t from = first_at(sorted, n, pod);

	if (!f->container_key)
		return yields_among(f, sorted, from,
				    first_at(sorted, n, pod + next));
	return yields_among(f, sorted, from, first_at(sorted, n, pod + 1)) ||
	       yields_among(f, sorted, first_at(sorted, n, subject_of(f)),
			    first_at(sorted, n, subject_of(f) + 1));
}

static void yield_many(struct finding **findings, size_t from, size_t n)
{
	struct finding **sorted = malloc((n - from) * sizeof(*sorted));
	struct yielding yielding = {.n = 0};
	size_t nsorted = 0;

	if (!sorted)
		OUT_OF_MEMORY();
	for (size_t i = from; i < n; i++)
		if (findings[i]->rule->yields_to)
			note_yielding(&yielding, findings[i]->rule);
	for (size_t i = from; i < n; i++)
		if (is_yielded_to(&yielding, findings[i]->rule))
			sorted[nsorted++] = findings[i];
	qsort(sorted, nsorted, sizeof(*sorted), cmp_subject);
	for (size_t i = from; i < n; i++)
		if (findings[i]->rule->yields_to)
			findings[i]->hidden =
				yields_sorted(findings[i], sorted, nsorted);
	free(sorted);
}

void findings_yield(struct finding **findings, size_t from, size_t n)
{
	if (n - from > FEW) {
		yield_many(findings, from, n);
		return;
	}
	for (size_t i = from; i < n; i++)
		if (findings[i]->rule->yields_to)
			findings[i]->hidden =
				yields_among(findings[i], findings, from, n);
}
