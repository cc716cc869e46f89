/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job controller sets the variable and the annotation of Indexed Jobs
 * only.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static const char variable[] = "JOB_COMPLETION_INDEX";
static const char annotation[] = "batch.kubernetes.io/job-completion-index";

static const struct node *reads_index(const struct container *c)
{
	static const char *const lists[] = {"command", "args", NULL};

	for (const char *const *list = lists; *list; list++)
		FOR_EACH_CHILD(node_get(c->node, *list), item)
			if (node_str(item) &&
			    strstr(node_str(item), variable) &&
			    !container_env(c, variable))
				return item;
	for (size_t i = 0; i < c->nenv; i++) {
		const struct node *path;

		if (c->env[i].value)
			continue;
		path = node_get(node_get(c->env[i].node, "valueFrom"),
				"fieldRef");
		path = node_get(path, "fieldPath");
		if (node_str(path) && path->len >= sizeof(annotation) - 1 &&
		    strstr(node_str(path), annotation))
			return path;
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *spec = pod_job_spec(pod);
	const struct node *mode = node_get(spec, "completionMode");

	/* JobSet's jobs are Indexed by default. */
	if (!object_is_job(pod->object) || pod_uses_gpu(pod) != TRI_YES ||
	    (!node_is_unset(mode) && !node_eq(mode, "NonIndexed")))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *at = reads_index(c);

		if (at)
			report_container(run, c, at,
					 "container `%s` reads its completion "
					 "index, but the Job is not Indexed",
					 container_title(c));
	}
}

const struct rule rule_indexed_completion_missing = {
	.name = "indexed-completion-missing",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_GPU | FACT_JOB,
	.since = "1.0",
	.summary = "a Job that reads its completion index but is not Indexed",
	.why = "JOB_COMPLETION_INDEX is set only in Indexed Jobs: all pods act as the same rank.",
	.remedy = "Set completionMode: Indexed, with completions.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode",
	.check_pod = check,
};
