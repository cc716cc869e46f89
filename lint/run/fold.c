/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the infos of rules with RULE_SITE and keeps the first one of each. */
#include "lint.h"

#include <string.h>

#include "lint/report/report.h"

/* True for an info that may be folded. An info with a fix that reports offer is
 * not, so that the fix is shown at each of its places. */
static bool is_foldable(const struct fold *fold, const struct finding *finding)
{
	return finding->rule->flags & RULE_SITE &&
	       finding->severity == SEVERITY_INFO && !finding->suppressed &&
	       (!finding->repair || finding->repair->kept) &&
	       !finding->selected && !finding_fails(finding, fold->fail_on);
}

/* Returns the row of the rule; NULL if FOLD_RULES other rules have rows, so
 * that its findings are not folded. */
static struct folded *folded_of(struct fold *fold, const struct rule *rule)
{
	for (size_t i = 0; i < fold->n; i++)
		if (fold->rules[i].rule == rule)
			return &fold->rules[i];
	if (fold->n == FOLD_RULES)
		return NULL;
	fold->rules[fold->n].rule = rule;
	return &fold->rules[fold->n++];
}

static bool same_place(const struct place *a, const struct place *b)
{
	return a->file == b->file && a->start == b->start && a->end == b->end;
}

void fold_count(struct fold *fold, const struct finding *findings, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct place *place = &findings[i].place;
		struct folded *folded =
			is_foldable(fold, &findings[i])
				? folded_of(fold, findings[i].rule)
				: NULL;

		/* An anchored template is checked for each of its aliases. */
		if (!folded || (folded->n && same_place(&folded->last, place)))
			continue;
		if (folded->n < FOLD_PLACES)
			folded->places[folded->n] = *place;
		folded->last = *place;
		folded->n++;
	}
}

/* Adds the number and the first places of the others to the finding. */
static void stand_for(const struct folded *folded, struct arena *arena,
		      struct finding *finding)
{
	unsigned n = finding->nrelated;
	struct related *related;

	finding->more = folded->n - 1;
	if (!finding->more)
		return;
	related = ARENA_ARRAY(arena, struct related, n + FOLD_PLACES);
	finding->message = arena_printf(arena, "%s (%u more: --show-all)",
					finding->message, finding->more);
	if (n)
		memcpy(related, finding->related, n * sizeof(*related));
	for (uint32_t i = 0; i < folded->n && i < FOLD_PLACES; i++)
		if (!same_place(&folded->places[i], &finding->place))
			related[n++] =
				(struct related){folded->places[i], "here too"};
	finding->related = related;
	finding->nrelated = n;
}

const struct finding *fold_findings(struct fold *fold, struct arena *arena,
				    const struct finding *findings, size_t *n)
{
	struct finding *kept = NULL;
	size_t nkept = 0;

	for (size_t i = 0; i < *n; i++) {
		struct folded *folded =
			is_foldable(fold, &findings[i])
				? folded_of(fold, findings[i].rule)
				: NULL;

		if (!kept && !folded)
			continue;
		if (!kept) {
			kept = ARENA_ARRAY(arena, struct finding, *n);
			nkept = i;
			memcpy(kept, findings, i * sizeof(*kept));
		}
		if (folded && folded->shown)
			continue;
		kept[nkept] = findings[i];
		if (folded)
			stand_for(folded, arena, &kept[nkept]);
		if (folded)
			folded->shown = true;
		nkept++;
	}
	if (!kept)
		return findings;
	*n = nkept;
	return kept;
}
