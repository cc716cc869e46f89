/* SPDX-License-Identifier: Apache-2.0 */
/*
 * concurrencyPolicy Allow, the default, starts the next run whether or not the
 * last one has ended: when GPUs are short, runs pile up and ask for a multiple
 * of the GPUs. A deadline shorter than the time between two runs keeps them
 * apart. The same field with the same default is in Argo's CronWorkflow,
 * Spark's and Volcano's schedules. Source: batch/v1 types.go ConcurrencyPolicy;
 * the CRDs of the others.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

enum { HOUR = 3600, DAY = 23 * HOUR /* when clocks go forward */ };

/* One number, no list, range or step. */
static bool is_number(const char *field)
{
	size_t n = strspn(field, "0123456789");

	return n && (!field[n] || field[n] == ' ');
}

/* Seconds between two runs at least, 0: not known. */
static int64_t interval(const char *schedule)
{
	const char *hour = schedule ? strchr(schedule, ' ') : NULL;
	long minutes;

	if (text_eq(schedule, "@hourly"))
		return HOUR;
	if (text_starts(schedule, "@"))
		return text_starts(schedule, "@every") ? 0 : DAY;
	if (!hour)
		return 0;
	hour += strspn(hour, " ");
	if (is_number(schedule) && is_number(hour))
		return DAY;
	if (strncmp(hour, "* ", 2) != 0)
		return 0;
	if (is_number(schedule))
		return HOUR;
	minutes = text_starts(schedule, "*/") ? strtol(schedule + 2, NULL, 10)
					      : 0;
	return minutes > 0 && 60 % minutes == 0 ? minutes * 60 : 0;
}

/* Is each run ended before the next one starts? */
static bool ends_in_time(const struct object *object, const struct node *spec)
{
	const struct node *schedule = node_get(spec, "schedule");
	const struct node *deadline = pod_run_deadline(object_gpu_pod(object));
	struct amount n = amount_int(deadline, 0);

	return !node_is_unset(deadline) && !n.unknown && n.n > 0 &&
	       node_is_unset(node_get(spec, "schedules")) &&
	       n.n < interval(node_str(schedule));
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *policy = node_get(spec, "concurrencyPolicy");
	bool unset = node_is_unset(policy);
	struct finding *f;

	if (!object_is_scheduled(object) || !object_gpu_pod(object) ||
	    (unset ? object->fragment : !node_eq(policy, "Allow")) ||
	    ends_in_time(object, spec))
		return;
	f = report_object(run, object, unset ? NULL : policy,
			  "runs may overlap, each with its own GPUs: "
			  "concurrencyPolicy is `Allow`%s",
			  unset ? " by default" : "");
	fix_set(finding_fix(run, f, true, "forbid overlapping runs"), spec,
		"concurrencyPolicy", edit_string(rule_arena(run), "Forbid"));
}

const struct rule rule_cronjob_concurrency_gpu = {
	.name = "cronjob-concurrency-gpu",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_SAFE_PATCH,
	.wants = FACT_GPU | FACT_NOT_POD,
	.since = "1.0",
	.summary = "scheduled GPU work whose runs may overlap",
	.why = "When a run is late or waits for GPUs the next one starts beside it and multiplies the demand.",
	.remedy = "Set concurrencyPolicy: Forbid.",
	.evidence =
		"https://github.com/kubernetes/api/blob/master/batch/v1/types.go ConcurrencyPolicy (default Allow)",
	.check_object = check,
};
