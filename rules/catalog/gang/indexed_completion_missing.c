/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Jobs that read their completion index without being Indexed. The job
 * controller sets the variable and the annotation only for Indexed Jobs.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static const char variable[] = "JOB_COMPLETION_INDEX";
static const char annotation[] = "batch.kubernetes.io/job-completion-index";

static bool goes_on(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z');
}

/* True for a test such as `[ -n "$NAME" ]` or `-z ${NAME}`. */
static bool is_tested(const char *text, const char *at)
{
	while (at > text && strchr("\"'${( ", at[-1]))
		at--;
	return at - text > 1 && at[-2] == '-' && strchr("nz", at[-1]);
}

/*
 * True if the variable is used directly: $(NAME), $NAME, ${NAME}. Other uses (a
 * default, a test, an assignment, a comment) may expect that it is not set.
 */
static bool reads_plainly(const char *text)
{
	const size_t len = sizeof(variable) - 1;
	bool reads = false;

	for (const char *at = text; (at = strstr(at, variable)); at += len) {
		char before = at > text ? at[-1] : ' ';
		char first = at > text + 1 ? at[-2] : ' ';

		if (is_tested(text, at))
			return false;
		if ((before != '$' || goes_on(at[len])) &&
		    (first != '$' || !((before == '{' && at[len] == '}') ||
				       (before == '(' && at[len] == ')'))))
			return false;
		reads = true;
	}
	return reads;
}

static const struct node *reads_index(const struct container *c)
{
	static const char *const lists[] = {"command", "args", NULL};

	for (const char *const *list = lists; *list; list++)
		FOR_EACH_CHILD(node_get(c->node, *list), item)
			if (node_str(item) && reads_plainly(node_str(item)) &&
			    !container_env(c, variable) &&
			    node_is_unset(node_get(c->node, "envFrom")))
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
	if (!object_is_job(pod->object) ||
	    (!node_is_unset(mode) && !node_eq(mode, "NonIndexed")) ||
	    pod_annotation(pod, annotation))
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
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary = "a Job that reads its completion index but is not Indexed",
	.why = "The index is set only in the pods of Indexed Jobs, so the pods do not know their ranks.",
	.remedy = "Set completionMode: Indexed and completions.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode",
	.check_pod = check,
};
