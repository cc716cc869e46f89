/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports schedules with concurrencyPolicy Allow, the default, which starts the
 * next run even if the last one has not ended: if GPUs are scarce, runs
 * accumulate and request a multiple of the GPUs. A deadline shorter than the
 * time between two runs prevents that. Argo's CronWorkflow and the schedules of
 * Spark and Volcano have the same field with the same default. Source: batch/v1
 * types.go and the CRDs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

enum { HOUR = 3600, DAY = 24 * HOUR, WEEK = 7 * DAY, MONTH = 28 * DAY };

enum { MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS, FIELDS };

static bool is_one(const char *field, const char *of)
{
	size_t n = strspn(field, of);

	return n && (!field[n] || field[n] == ' ');
}

static bool is_number(const char *field)
{
	return is_one(field, "0123456789");
}

/* True for a field with a single day, not a list, range or step. */
static bool is_weekday(const char *field)
{
	return is_number(field) ||
	       is_one(field, "adefhimnorstuwADEFHIMNORSTUW");
}

static bool is_any(const char *field)
{
	return *field && strchr("*?", *field) && (!field[1] || field[1] == ' ');
}

/* Returns the N of a step that divides the whole, or 0. */
static int64_t step(const char *field, long whole)
{
	char *end = NULL;
	long n = text_starts(field, "*/") ? strtol(field + 2, &end, 10) : 0;

	return n > 0 && whole % n == 0 && *end == ' ' ? n : 0;
}

/* Returns the shortest time in seconds between two runs of a schedule with a
 * fixed time of day. It is an hour less when clocks go forward. */
static int64_t days(const char *const *fields)
{
	if (is_number(fields[DAYS]) && is_any(fields[WEEKDAYS]))
		return MONTH - HOUR;
	if (is_any(fields[DAYS]) && is_weekday(fields[WEEKDAYS]))
		return WEEK - HOUR;
	return DAY - HOUR;
}

static int64_t interval_of_macro(const char *schedule)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} macros[] = {
		{"@hourly", HOUR},	     {"@daily", DAY - HOUR},
		{"@midnight", DAY - HOUR},   {"@weekly", WEEK - HOUR},
		{"@monthly", MONTH - HOUR},  {"@yearly", MONTH - HOUR},
		{"@annually", MONTH - HOUR},
	};

	for (size_t i = 0; i < ARRAY_SIZE(macros); i++)
		if (text_eq(schedule, macros[i].name))
			return macros[i].seconds;
	return 0;
}

/* Returns the shortest time between two runs in seconds; 0 if unknown. */
static int64_t interval(const char *schedule)
{
	const char *fields[FIELDS];
	int64_t n;

	if (text_starts(schedule, "@"))
		return interval_of_macro(schedule);
	for (size_t i = 0; i < FIELDS; i++) {
		schedule += strspn(schedule, " ");
		fields[i] = schedule;
		schedule += strcspn(schedule, " ");
	}
	if (is_number(fields[MINUTES])) {
		if (is_number(fields[HOURS]))
			return days(fields);
		n = is_any(fields[HOURS]) ? 1 : step(fields[HOURS], 24);
		return n > 1 ? (n - 1) * HOUR : n * HOUR;
	}
	return is_any(fields[HOURS]) ? 60 * step(fields[MINUTES], 60) : 0;
}

/* True if each run ends before the next one starts. */
static bool ends_in_time(const struct object *object, const struct node *spec)
{
	const struct node *schedule = node_get(spec, "schedule");
	const struct node *deadline = pod_run_deadline(object_gpu_pod(object));
	struct amount n = amount_int(deadline, 0);

	return !node_is_unset(deadline) && !n.unknown && n.n > 0 &&
	       node_is_unset(node_get(spec, "schedules")) &&
	       node_str(schedule) && n.n < interval(node_str(schedule));
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec, *policy;
	struct finding *f;
	bool unset;

	if (!object_kind_has(object, KIND_SCHEDULED) || !object_gpu_pod(object))
		return;
	spec = node_get(object->root, "spec");
	policy = node_get(spec, "concurrencyPolicy");
	unset = node_is_unset(policy);
	if ((unset ? object->fragment : !node_eq(policy, "Allow")) ||
	    ends_in_time(object, spec))
		return;
	f = report_object(
		run, object, unset ? NULL : policy,
		"concurrencyPolicy is `Allow`%s: runs may overlap, each with its own GPUs",
		unset ? " by default" : "");
	fix_set(finding_fix(run, f, true, "set `concurrencyPolicy: Forbid`"),
		spec, "concurrencyPolicy",
		edit_string(rule_arena(run), "Forbid"));
}

const struct rule rule_cronjob_concurrency_gpu = {
	.name = "cronjob-concurrency-gpu",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_SAFE_PATCH | RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary = "scheduled GPU work whose runs may overlap",
	.why = "If a run is late or waits for GPUs, the next run starts alongside it and requests GPUs as well.",
	.remedy =
		"Set concurrencyPolicy: Forbid, and a deadline of each run (for a CronJob, activeDeadlineSeconds in jobTemplate.spec), so that a run that hangs does not block the later ones.",
	.evidence =
		"https://github.com/kubernetes/api/blob/master/batch/v1/types.go ConcurrencyPolicy (default Allow)",
	.check_object = check,
};
