/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppresses findings by exemptions of the policy and by the baseline, and
 * marks those that repeat others. Comments and annotations are handled in
 * suppress/.
 */
#include "run_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "engine/finding.h"

/*
 * Returns the state of the exemption that applies. If a local policy exempts a
 * finding that admission denies, the exemption is rejected, which the finding
 * mentions.
 */
static struct policy_exemption effective_exemption(struct run *run,
						   const struct policy *policy,
						   struct finding *f)
{
	const struct policy *floor = policy_floor(policy);
	int64_t today = run->options.today;
	struct policy_exemption found =
		policy_exemption(policy, f->rule, f->check, &f->id, today);

	if (!found.state || !found.local || !finding_is_denied_by(floor, f))
		return found;
	f->ignore_refused = arena_printf(
		&run->file_arena,
		"`%s` is not suppressed: %s exempts it, but admission denies it",
		f->rule->name, found.from);
	f->help =
		arena_printf(&run->file_arena, "%s%s%s", f->ignore_refused,
			     *finding_remedy(f) ? ". " : "", finding_remedy(f));
	return policy_exemption(floor, f->rule, f->check, &f->id, today);
}

bool run_apply_exemptions(struct run *run, const struct policy *policy,
			  struct finding *f)
{
	struct policy_exemption found = effective_exemption(run, policy, f);

	f->exempt_lately = found.state == EXEMPT_GRACE;
	if (f->exempt_lately && f->severity == SEVERITY_ERROR)
		f->severity = SEVERITY_WARNING;
	if (found.state < EXEMPT_ENDING)
		return false;
	f->suppressed = SUPPRESSED_POLICY;
	f->suppression_reason = arena_strdup(&run->file_arena,
					     found.reason ? found.reason : "");
	return true;
}

/* Suppresses a finding that is in the baseline. Must be called after its
 * identity is set and before its fix is applied. */
void run_apply_baseline(struct run *run, struct finding *f)
{
	if (!f->fingerprint)
		f->fingerprint = finding_fingerprint(f);
	if (f->suppressed || !run->options.baseline ||
	    !baseline_has(run->options.baseline, f))
		return;
	f->suppressed = SUPPRESSED_BASELINE;
	f->suppression_reason = "in the baseline";
}

/*
 * Marks findings that repeat one about a runtime, because a pod made from its
 * template has the same value, or lacks the same value.
 */

/* A finding about a pod that is not made from a runtime, by its place. */
struct told {
	const struct rule *rule;
	uint32_t file, start;
	bool whole; /* start of a PodSpec, not of a value */
	const struct finding *finding;
};

static int cmp_told(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->rule != y->rule)
		return strcmp(x->rule->name, y->rule->name);
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->whole - y->whole;
}

uint32_t finding_runtime_file(const struct finding *f)
{
	return f->about_whole ? f->spec.base_file : f->value_file;
}

bool finding_is_made(const struct finding *f)
{
	return f->has_spec && finding_runtime_file(f) != NO_FILE;
}

void finding_table_init(struct finding_table *list,
			struct finding *const *findings, size_t n)
{
	struct told *items = malloc((n + 1) * sizeof(*items));
	size_t found = 0;

	if (!items)
		OUT_OF_MEMORY();

	for (size_t i = 0; i < n; i++) {
		const struct finding *f = findings[i];

		if (!f->has_spec || f->hidden || finding_is_made(f))
			continue;
		items[found++] = (struct told){
			.rule = f->rule,
			.file = f->place.file,
			.start =
				f->about_whole ? f->spec.start : f->value_start,
			.whole = f->about_whole,
			.finding = f,
		};
	}
	qsort(items, found, sizeof(*items), cmp_told);
	*list = (struct finding_table){items, found};
}

void finding_table_release(struct finding_table *list)
{
	free(list->items);
	*list = (struct finding_table){0};
}

/* Returns the first entry of the sorted list that is not before the key. */
static const struct told *first_told(const struct finding_table *list,
				     const struct told *key)
{
	return list->items +
	       array_first(list->items, list->n, sizeof(*key), key, cmp_told);
}

/* True if the second finding adds nothing to the first at its place. */
static bool is_same_fact(const struct finding *a, const struct finding *b)
{
	return a->severity >= b->severity &&
	       !strcmp(a->container, b->container) &&
	       text_eq(text_or_empty(a->cause), text_or_empty(b->cause)) &&
	       text_eq(text_or_empty(a->check), text_or_empty(b->check));
}

bool finding_table_has(const struct finding_table *list,
		       const struct finding *f)
{
	struct told key = {
		.rule = f->rule,
		.file = finding_runtime_file(f),
		.start = f->about_whole ? f->spec.base : f->value_start,
		.whole = f->about_whole,
	};

	for (const struct told *one = first_told(list, &key);
	     one < list->items + list->n && !cmp_told(one, &key); one++)
		if (is_same_fact(one->finding, f))
			return true;
	return false;
}

size_t findings_repeat(struct finding *const *findings, size_t n)
{
	struct finding_table list;
	size_t found = 0, made = 0;

	for (size_t i = 0; i < n; i++)
		made += finding_is_made(findings[i]);
	if (!made)
		return 0;
	finding_table_init(&list, findings, n);
	for (size_t i = 0; i < n; i++) {
		struct finding *f = findings[i];

		if (!finding_is_made(f) || !finding_table_has(&list, f))
			continue;
		f->repeated = true;
		found++;
	}
	finding_table_release(&list);
	return found;
}
