/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports liveness probes with a long initial delay in place of a startup
 * probe. The delay applies after every start of the container. A preset that
 * KServe merges may have a startup probe.
 */
#include "engine/rule.h"
#include "kube/command/server.h"
#include "kube/lifecycle/lifecycle.h"

enum { LONG_DELAY = 300 };

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct container_probe live, start;

		if (c->gpus.n < 1 || container_is_merged(c) ||
		    !container_probe(c, "livenessProbe", &live) ||
		    container_probe(c, "startupProbe", &start) ||
		    live.unknown || live.delay < LONG_DELAY)
			continue;
		report_container(
			run, c, node_get(live.node, "initialDelaySeconds"),
			"the liveness probe of `%s` begins only %s s after each start: until then a server that hangs is not restarted",
			container_title(c), rule_number(run, live.delay));
	}
}

const struct rule rule_liveness_delay_as_startup = {
	.name = "liveness-delay-as-startup",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a long initial delay of the liveness probe instead of a startup probe",
	.why = "A server that hangs goes unnoticed for the whole delay after each restart, and a server that loads for longer is killed anyway.",
	.remedy =
		"Use a startupProbe that allows as much time, and remove the delay.",
	.evidence =
		"https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/",
	.check_pod = check,
};
