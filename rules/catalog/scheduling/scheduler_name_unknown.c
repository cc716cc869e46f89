/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that name a scheduler that the site does not run. Without a list
 * of the site's schedulers, only names that are similar to a known scheduler's
 * are reported. Volcano gives the pods of a Job the scheduler of the
 * Job (pkg/controllers/job/job_controller_util.go).
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"

static const char *const known_names[] = {
	"default-scheduler", "volcano",
	"kai-scheduler",     "yunikorn",
	"hami-scheduler",    "koord-scheduler",
	"runai-scheduler",   "scheduler-plugins-scheduler"};
enum { NKNOWN = ARRAY_SIZE(known_names) };

static void check_spelling(struct rule_run *run, const struct pod *pod,
			   const struct node *at)
{
	const char *near = text_nearest(at->str, known_names, NKNOWN);
	struct finding *f;

	if (!near || !strcmp(near, at->str) ||
	    text_distance(near, at->str, 3) > 2)
		return;
	f = report_pod(
		run, pod, at,
		"if the cluster runs no scheduler `%s`, the pods stay Pending without an event",
		at->str);
	finding_guess(run, f);
	finding_help(run, f, "did you mean `%s`?", near);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *known = rule_param(run, "schedulers");
	const struct node *at = pod_field(pod, "schedulerName");

	if (!node_str(at) || !*node_str(at) || pod_uses_gpu(pod) != TRI_YES ||
	    !strcmp(node_str(at), "default-scheduler") ||
	    text_lists(known, node_str(at)))
		return;
	if (!*known)
		check_spelling(run, pod, at);
	else
		report_pod(
			run, pod, at,
			"the site runs no scheduler `%s`: the pods stay Pending without an event",
			node_str(at));
}

static const struct rule_param params[] = {
	{"schedulers", "string", "",
	 "names of the site's schedulers, NAME,..."},
	{0},
};

const struct rule rule_scheduler_name_unknown = {
	.name = "scheduler-name-unknown",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.summary =
		"a pod names a scheduler that the site does not run, or a misspelled one",
	.why = "If no scheduler of that name runs, the pod stays Pending without an event.",
	.remedy =
		"Name a scheduler that the cluster runs; if it runs this one, list it in the parameter `schedulers`.",
	.evidence =
		"https://kubernetes.io/docs/tasks/extend-kubernetes/configure-multiple-schedulers/",
	.params = params,
	.check_pod = check,
};
