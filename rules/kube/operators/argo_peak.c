/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the pods of a Workflow that run at the same time: those of one group
 * of steps, or of independent tasks of a DAG. Finds the moment with the most
 * devices. The result is a lower bound, because conditions, computed lists and
 * locks with several holders may add pods.
 *
 * Source: argo-workflows workflow_types.go; workflow/controller/steps.go (the
 * groups follow each other), dag.go, operator.go (parallelism).
 */
#include "rules/kube/operators/argo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Limits on comparisons of names and on nested templates. If the budget is
 * spent, the steady number is used instead of a peak; templates that are nested
 * deeper are not counted. */
enum { PEAK_BUDGET = 200000, DEPTH_MAX = 50 };

struct peak {
	struct object *object;
	const struct node *templates;
	/* weight of each template, plus one, or 0 if it is not computed yet */
	int64_t *weights;
	int64_t *counts; /* number of each pod at the heaviest moment */
	int64_t room;	 /* number of pods that parallelism still allows */
	uint32_t budget;
	unsigned depth;
};

/* Steps or tasks that run together. */
struct moment {
	const struct node *list;
	/* level of each task, or NULL to include all items of the list */
	const unsigned *levels;
	unsigned level;
	int64_t most; /* largest number of children that run at once */
};

static bool spend_more(struct peak *peak, size_t n)
{
	peak->budget -= n < peak->budget ? (uint32_t)n : peak->budget;
	return peak->budget > 0;
}

static bool spend(struct peak *peak)
{
	return spend_more(peak, 1);
}

static const struct node *template_of(struct peak *peak,
				      const struct node *step)
{
	const struct node *own = node_get(step, "inline");
	const char *name = node_str(node_get(step, "template"));

	if (!node_is_unset(own))
		return own;
	FOR_EACH_CHILD(peak->templates, template)
		if (!spend(peak))
			return NULL;
		else if (name && node_eq(node_get(template, "name"), name))
			return template;
	return NULL;
}

static struct pod *pod_of(struct peak *peak, const struct node *template)
{
	for (size_t i = 0; i < peak->object->npods && spend(peak); i++)
		if (peak->object->pods[i].group == template)
			return &peak->object->pods[i];
	return NULL;
}

/* -- repetitions of a step ------------------------------------------------- */

/* Reads the number of a sequence, which may be a string; returns 1 if it is not
 * set, invalid or computed at run time. */
static int64_t sequence(const struct node *count)
{
	const char *text = node_str(count);
	struct amount n = amount_int(count, 1);
	char *end;
	long number;

	if (!text)
		return n.unknown || n.n < 0 ? 1 : n.n;
	number = strtol(text, &end, 10);
	return *text && !*end && number >= 0 ? number : 1;
}

static int64_t repeats(const struct node *step, const struct node *template)
{
	const struct node *items = node_get(step, "withItems");

	if (field_is_set(template, "synchronization"))
		return 1;
	return node_is_seq(items)
		       ? (int64_t)node_count(items)
		       : sequence(node_path(step, "withSequence.count"));
}

static int64_t parallelism(const struct node *map)
{
	struct amount n = amount_field(map, "parallelism", 0);

	return n.n > 0 && !n.unknown ? n.n : INT32_MAX;
}

/* -- levels of a DAG ------------------------------------------------------- */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* True if the expression (`a && (b.Succeeded || c)`) names the task. */
static bool depends_on(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; at && *at;) {
		size_t n = 0;

		while (is_name(at[n]))
			n++;
		if (n == len && !strncmp(at, name, n) &&
		    (at == text || at[-1] != '.'))
			return true;
		at += n ? n : 1;
	}
	return false;
}

/* Returns the cost of waits_for(), where one name counts 1. */
static size_t cost_of_waiting(const struct node *task)
{
	const struct node *depends = node_get(task, "depends");

	return 1 + node_count(node_get(task, "dependencies")) / 8 +
	       (node_str(depends) ? depends->len / 64 : 0);
}

static bool waits_for(const struct node *task, const char *name)
{
	if (!name)
		return false;
	FOR_EACH_CHILD(node_get(task, "dependencies"), one)
		if (node_eq(one, name))
			return true;
	return depends_on(node_str(node_get(task, "depends")), name);
}

/*
 * Raises the levels of tasks, so that tasks on one level are independent: the
 * level of a task is one above the highest level of its dependencies. Tasks may
 * be in any order, so levels are raised until none changes. Returns true if
 * this pass raised a level; false also if the budget is spent.
 */
static bool raise_levels(struct peak *peak, const struct node *tasks,
			 unsigned *levels)
{
	bool raised = false;
	unsigned i = 0;

	FOR_EACH_CHILD(tasks, task) {
		size_t cost = cost_of_waiting(task);
		unsigned k = 0;

		FOR_EACH_CHILD(tasks, other) {
			const char *name = node_str(node_get(other, "name"));

			if (!spend_more(peak, cost))
				return false;
			if (levels[k++] < levels[i] || k - 1 == i ||
			    !waits_for(task, name))
				continue;
			levels[i] = levels[k - 1] + 1;
			raised = true;
		}
		i++;
	}
	return raised;
}

static unsigned *levels_of(struct peak *peak, struct arena *arena,
			   const struct node *tasks)
{
	size_t n = node_count(tasks);
	unsigned *levels = ARENA_ARRAY(arena, unsigned, n + 1);

	memset(levels, 0, (n + 1) * sizeof(*levels));
	for (size_t i = 0; i <= n; i++)
		if (!raise_levels(peak, tasks, levels))
			break;
	return levels;
}

/* -- the moment with the most devices -------------------------------------- */

static int64_t minimum(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t weight(struct peak *peak, struct arena *arena,
		      const struct node *template);

/* Returns a weight that compares by devices first, then by pods. */
static int64_t pod_weight(const struct pod *pod)
{
	return pod ? minimum(pod->gpus.n, 1000000) * 4096 + 1 : 0;
}

static bool is_in(const struct moment *group, unsigned i)
{
	return !group->levels || group->levels[i] == group->level;
}

/* Returns the weight of a group. Because steps with conditions may not run,
 * only the heaviest one of them counts, and only if it is heavier than all
 * steps without conditions together. *alone is then set to it, else to NULL. */
static int64_t group_weight(struct peak *peak, struct arena *arena,
			    const struct moment *group,
			    const struct node **alone)
{
	int64_t sum = 0, single = 0, left = group->most;
	unsigned i = 0;

	*alone = NULL;
	FOR_EACH_CHILD(group->list, step) {
		const struct node *template;
		int64_t n, all;

		if (!is_in(group, i++))
			continue;
		template = template_of(peak, step);
		n = minimum(repeats(step, template), left);
		all = n * minimum(weight(peak, arena, template), INT32_MAX);
		if (!field_is_set(step, "when")) {
			sum = minimum(sum + all, INT64_MAX / 4);
			left -= n;
		} else if (all > single) {
			single = all;
			*alone = step;
		}
	}
	if (single <= sum)
		*alone = NULL;
	return single > sum ? single : sum;
}

static int64_t better(struct peak *peak, struct arena *arena,
		      struct moment group, int64_t most, struct moment *best)
{
	const struct node *alone;
	int64_t n = group_weight(peak, arena, &group, &alone);

	if (n <= most)
		return most;
	*best = group;
	return n;
}

/* Finds the heaviest group of a template and returns its weight; returns 0 and
 * sets best->list to NULL if there is none. */
static int64_t best_group(struct peak *peak, struct arena *arena,
			  const struct node *template, struct moment *best)
{
	const struct node *tasks = node_path(template, "dag.tasks");
	struct moment group = {.most = parallelism(template)};
	int64_t most = 0;

	*best = (struct moment){0};
	FOR_EACH_CHILD(node_get(template, "steps"), steps) {
		group.list = steps;
		most = better(peak, arena, group, most, best);
	}
	if (!node_count(tasks))
		return most;
	group.list = tasks;
	group.levels = levels_of(peak, arena, tasks);
	for (size_t i = 0; i < node_count(tasks); i++) {
		group.level = group.levels[i];
		/* Each level costs one pass over the tasks. */
		if (spend(peak))
			most = better(peak, arena, group, most, best);
	}
	return most;
}

static int64_t *memo(struct peak *peak, const struct node *template)
{
	return template->parent == peak->templates
		       ? &peak->weights[template->index]
		       : NULL;
}

static int64_t weight(struct peak *peak, struct arena *arena,
		      const struct node *template)
{
	struct moment best;
	int64_t *known, n;

	if (!template || !spend(peak) || peak->depth > DEPTH_MAX)
		return 0;
	known = memo(peak, template);
	if (known && *known)
		return *known - 1;
	if (known)
		/* 0 while it is computed, if the template contains itself */
		*known = 1;
	peak->depth++;
	n = best_group(peak, arena, template, &best);
	peak->depth--;
	n += pod_weight(pod_of(peak, template));
	if (known)
		*known = n + 1;
	return n;
}

/* Adds to the counts the template's own pod and the pods of its heaviest group,
 * with those of the templates inside it. */
static void count_template(struct peak *peak, struct arena *arena,
			   const struct node *template, int64_t times)
{
	struct pod *pod = template ? pod_of(peak, template) : NULL;
	const struct node *alone;
	struct moment best;
	unsigned i = 0;

	if (pod) {
		int64_t *n = &peak->counts[pod - peak->object->pods];

		times = minimum(times, peak->room);
		if (field_is_set(template, "synchronization"))
			times = minimum(times, *n ? 0 : 1);
		peak->room -= times;
		*n += times;
	}
	if (!template || !spend(peak) || peak->depth > DEPTH_MAX ||
	    !best_group(peak, arena, template, &best))
		return;
	group_weight(peak, arena, &best, &alone);
	peak->depth++;
	FOR_EACH_CHILD(best.list, step) {
		const struct node *inner;
		int64_t n;

		if (!is_in(&best, i++) ||
		    (alone ? step != alone : field_is_set(step, "when")))
			continue;
		inner = template_of(peak, step);
		n = minimum(repeats(step, inner), best.most);
		best.most -= alone ? 0 : n;
		count_template(peak, arena, inner,
			       minimum(n * times, INT32_MAX));
	}
	peak->depth--;
}

/* -- the object ------------------------------------------------------------ */

static const struct node *entry(struct peak *peak, const struct node *spec)
{
	const char *name = node_str(node_get(spec, "entrypoint"));

	FOR_EACH_CHILD(peak->templates, template)
		if (name && node_eq(node_get(template, "name"), name))
			return template;
	return NULL;
}

void argo_peaks(struct arena *arena, struct object *object)
{
	const struct node *spec = node_get(object->merged, "spec");
	struct peak peak = {.object = object, .budget = PEAK_BUDGET};
	bool any = false;

	if (field_is_set(spec, "workflowSpec"))
		spec = node_get(spec, "workflowSpec");
	peak.templates = node_get(spec, "templates");
	peak.room = parallelism(spec);
	peak.weights =
		ARENA_ARRAY(arena, int64_t, node_count(peak.templates) + 1);
	peak.counts = ARENA_ARRAY(arena, int64_t, object->npods + 1);
	count_template(&peak, arena, entry(&peak, spec), 1);
	for (size_t i = 0; i < object->npods; i++)
		any = any || peak.counts[i];
	for (size_t i = 0; i < object->npods; i++) {
		struct pod *pod = &object->pods[i];

		if (!pod->peak.n)
			continue;
		pod->peak.n =
			any && peak.budget ? peak.counts[i] : pod->steady.n;
		pod->peak.unknown |= !pod->peak.n;
	}
}
