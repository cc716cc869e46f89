/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports workloads that exceed the free part of a quota. With a snapshot, a
 * gang that needs more than hard - used in the steady state, apart from its own
 * usage, is an error, because only a part of it would start. For another
 * workload, which retries, it is a warning. It is also a warning if only the
 * peak needs more (surge or elastic maximum; replacement pods wait), or if all
 * workloads of a namespace together exceed hard. quota-never-fits reports a
 * single workload above hard. Source: quota evaluator; training-operator
 * controller.v1/common/pod.go.
 */
#include "engine/rule.h"
#include "kube/quota/quota.h"

/* Amount of one accelerator that all workloads of a namespace need together,
 * for a quota that limits it. */
struct quota_sum {
	const struct quota *quota;
	const struct resource_amount *hard;
	const char *resource;
	struct quantity steady;
	size_t workloads; /* number of workloads and claims that need some */
	bool claims;	  /* a ResourceClaim is among them */
	const struct workload *largest; /* the one that needs most, or NULL */
	struct quantity largest_demand;
};

/*
 * State while each workload is added to the quotas of its namespace. Embedded
 * objects are counted with their owner, and of equal objects only the first
 * counts. A workload that is suspended, or waits in a queue of Kueue, is not
 * added, because it has no pods.
 */
struct sums {
	const struct object_index *index;
	struct class_finder classes;
	struct quota_sum *items;
	size_t n;
	/* index of each quota's first item, and the number of items at the
	 * end */
	size_t *first;
};

static void list_sums(struct sums *sums, const struct accelerator_extra *extra,
		      struct arena *arena)
{
	const struct object_index *index = sums->index;
	size_t most = 0;

	for (size_t q = 0; q < index->nquotas; q++)
		most += index->quotas[q].nhard;
	sums->items = ARENA_ARRAY(arena, struct quota_sum, most);
	sums->first = ARENA_ARRAY(arena, size_t, index->nquotas + 1);
	for (size_t q = 0; q < index->nquotas; q++) {
		const struct quota *quota = &index->quotas[q];

		for (size_t i = 0; i < quota->nhard; i++) {
			const struct resource_amount *hard = &quota->hard[i];
			const char *resource = quota_counted(extra, hard);

			if (resource && !hard->unknown)
				sums->items[sums->n++] = (struct quota_sum){
					.quota = quota,
					.hard = hard,
					.resource = resource,
					.largest_demand = quantity_from(0),
				};
		}
		sums->first[q + 1] = sums->n;
	}
}

static void add_workload(const struct sums *sums, struct quota_sum *sum,
			 const struct workload *w)
{
	struct quota_case c = {.index = sums->index,
			       .workload = w,
			       .classes = sums->classes,
			       .quota = sum->quota,
			       .resource = sum->resource};
	struct demand demand;

	quota_case_sum(&c);
	demand = c.demand;
	if (demand.peak.nano == 0)
		return;
	sum->steady = quantity_add(sum->steady, demand.steady);
	sum->workloads++;
	if (quantity_cmp(demand.steady, sum->largest_demand) > 0) {
		sum->largest = w;
		sum->largest_demand = demand.steady;
	}
}

static void add_to_all(struct sums *sums, const struct workload *w)
{
	size_t n, at;
	const struct quota *quotas = index_own_quotas(sums->index, w, &n);

	if (!n || w->child || w->duplicate_of || w->suspended || w->kueue)
		return;
	at = (size_t)(quotas - sums->index->quotas);
	for (size_t i = sums->first[at]; i < sums->first[at + n]; i++)
		add_workload(sums, &sums->items[i], w);
}

/* Adds claims of the files once, however many pods share them. */
static void add_claims(struct sums *sums)
{
	struct claim_case c = {
		.index = sums->index, .own = true, .classes = sums->classes};

	while (claim_case_next(&c))
		for (size_t i = 0; i < sums->n; i++) {
			struct quota_sum *sum = &sums->items[i];

			if (sum->hard != c.hard)
				continue;
			sum->steady = quantity_add(
				sum->steady, quantity_from(c.claim->counted));
			sum->workloads++;
			sum->claims = true;
		}
}

/* Returns a sum for each entry of `hard` that limits an accelerator; sets *n to
 * their number. */
static struct quota_sum *quota_sums(struct rule_run *run, size_t *n)
{
	const struct object_index *index = rule_index(run);
	struct sums sums = {.index = index, .classes = rule_classes(run)};

	list_sums(&sums, rule_accelerators(run), rule_arena(run));
	if (sums.n)
		FOR_EACH_WORKLOAD(index, w)
			add_to_all(&sums, w);
	add_claims(&sums);
	*n = sums.n;
	return sums.items;
}

/* Returns ", 4 reserved for others", or "". */
static const char *quota_reserved(const struct quota_room *room,
				  struct arena *arena)
{
	char text[QUANTITY_TEXT];

	if (!room->reserved.nano)
		return "";
	return arena_printf(arena, ", %s reserved for others",
			    quantity_text(room->reserved, text));
}

static void report(struct rule_run *run, const struct quota_case *c, bool peak)
{
	const struct workload *w = c->workload;
	char want[QUANTITY_TEXT], left[QUANTITY_TEXT];
	char hard[QUANTITY_TEXT], used[QUANTITY_TEXT];
	bool denies = !peak && w->gang_kind != GANG_NONE;
	const char *who = rule_title(run, w->id.kind, w->id.name);
	const char *quota = rule_title(run, "quota", c->quota->id.name);
	struct finding *f;

	quantity_text(peak ? c->demand.lasting : c->demand.steady, want);
	quantity_text(c->hard->quantity, hard);
	if (c->room.known)
		f = report_place(
			run, &w->id, &w->place,
			"%s %s %s %s, but %s has %s left for it: %s of %s are used%s",
			who, peak ? "peaks at" : "needs", want, c->resource,
			quota, quantity_text(c->room.left, left),
			quantity_text(c->room.used, used), hard,
			quota_reserved(&c->room, rule_arena(run)));
	else
		f = report_place(
			run, &w->id, &w->place,
			"%s peaks at %s %s (rollout, elastic maximum or parallel steps; else %s), but %s allows %s",
			who, want, c->resource,
			quantity_text(c->demand.steady, left), quota, hard);
	finding_label_place(run, f, &c->hard->place, "the quota");
	finding_cause(run, f, c->resource);
	finding_severity(f, denies ? SEVERITY_ERROR : SEVERITY_WARNING);
	if (!denies)
		finding_guess(run, f);
}

/* True if the need exceeds both the free part of the quota and the part that
 * the workload's running pods already use. */
static bool exceeds(const struct quota_room *room, struct quantity need)
{
	return quantity_cmp(need, room->left) > 0 &&
	       quantity_cmp(need, room->own) > 0;
}

static void check_one(struct rule_run *run, const struct workload *w)
{
	struct quota_case c = {.index = rule_index(run),
			       .workload = w,
			       .classes = rule_classes(run)};

	if (w->child || rule_cluster_lacks(run, CLUSTER_QUOTA))
		return;
	/* Queued work waits without pods. */
	if (w->suspended || w->kueue)
		return;
	rule_cluster_lost(run);
	while (quota_case_next(rule_accelerators(run), &c)) {
		if (quantity_cmp(c.demand.steady, c.hard->quantity) > 0 ||
		    c.demand.peak.nano == 0)
			continue;
		if (exceeds(&c.room, c.demand.steady))
			report(run, &c, false);
		else if (exceeds(&c.room, c.demand.lasting))
			report(run, &c, true);
	}
}

static void report_sum(struct rule_run *run, const struct quota_sum *sum)
{
	const struct workload *w = sum->largest;
	char need[QUANTITY_TEXT], hard[QUANTITY_TEXT];
	struct finding *f;

	if (sum->workloads < 2 ||
	    quantity_cmp(sum->steady, sum->hard->quantity) <= 0)
		return;
	f = report_place(
		run, &sum->quota->id, &sum->hard->place,
		"%zu %s in namespace `%s` need %s %s together, but the quota allows %s",
		sum->workloads,
		sum->claims ? "workloads and claims" : "workloads",
		sum->quota->id.namespace, quantity_text(sum->steady, need),
		sum->resource, quantity_text(sum->hard->quantity, hard));
	finding_cause(run, f, sum->resource);
	if (!w)
		return;
	finding_label_place(run, f, &w->place, "the largest of them, %s",
			    rule_title(run, w->id.kind, w->id.name));
}

static void check_set(struct rule_run *run)
{
	size_t n;
	const struct quota_sum *sums = quota_sums(run, &n);

	for (size_t i = 0; i < n; i++)
		report_sum(run, &sums[i]);
}

const struct rule rule_quota_would_exceed = {
	.name = "quota-would-exceed",
	.category = "quota",
	.severity = SEVERITY_WARNING,
	.flags = RULE_RAISES,
	.needs = NEEDS_SET,
	.summary =
		"a workload needs more GPUs than its quota has left, or all workloads of the namespace together do",
	.why = "A quota admits pods one by one: the last job starts part of its gang and holds those GPUs while it waits.",
	.remedy =
		"Run fewer workloads at once, lower the surge or the elastic maximum, or ask for a larger quota.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core; https://github.com/kubeflow/kubeflow/issues/5442",
	.check_workload = check_one,
	.check_set = check_set,
};
