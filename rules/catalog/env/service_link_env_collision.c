/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Service usually has the name of what it leads to.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/parallel.h"

static bool runs_vllm(struct rule_run *run, const struct container *c)
{
	struct parallel_list list = container_parallel(c);

	for (size_t i = 0; i < list.n; i++)
		if (!strcmp(list.items[i].program, "vLLM"))
			return !container_env(c, "VLLM_PORT");
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *links = pod_field(pod, "enableServiceLinks");
	const struct object *object = pod->object;
	struct finding *f;

	/* LeaderWorkerSet makes that Service, without an address. */
	if (pod->flat || object->parent || !text_eq(object->name, "vllm") ||
	    object_is(object, "leaderworkerset.x-k8s.io", "LeaderWorkerSet") ||
	    (!node_is_unset(links) && !node_is_true(links)))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN || !runs_vllm(run, c))
			continue;
		f = report_pod(run, pod, links ? links : pod->spec,
			       "if a Service is named `vllm` too, it sets "
			       "VLLM_PORT to a URL, and vLLM ends");
		finding_severity(f, SEVERITY_INFO);
		fix_set(finding_fix(run, f, true, "set no such variables"),
			pod->spec, "enableServiceLinks",
			edit_bool(rule_arena(run), false));
		return;
	}
}

const struct rule rule_service_link_env_collision = {
	.name = "service-link-env-collision",
	.category = "env",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW | RULE_SAFE_PATCH,
	.since = "1.0",
	.summary = "a server whose Service sets a variable that it reads",
	.why = "Kubernetes sets VLLM_PORT=tcp://... in all pods of the namespace for a Service `vllm`: the server takes it for its port and ends.",
	.remedy =
		"Set enableServiceLinks: false, or name the Service otherwise.",
	.evidence =
		"https://github.com/vllm-project/vllm/issues/18209; https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables",
	.check_pod = check,
};
