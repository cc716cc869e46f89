/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports probes of model servers with a timeout of one second, which is the
 * default. A server under load, or a Python process that holds its global lock,
 * answers later, so that it gets no requests or is restarted when it is most
 * busy. TCP probes are skipped, because the kernel answers them. Source:
 * pkg/apis/core/v1/defaults.go SetDefaults_Probe (timeoutSeconds 1).
 */
#include "engine/rule.h"
#include "kube/command/server.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"

/* Shortest startup probe, in seconds, whose timeout does not matter: the
 * server is not under load yet, and many attempts are left. */
enum { PATIENT = 300 };

static void check_container(struct rule_run *run, const struct container *c)
{
	static const char *const names[] = {"livenessProbe", "readinessProbe",
					    "startupProbe", NULL};

	for (const char *const *name = names; *name; name++) {
		const struct node *timeout;
		struct container_probe probe;

		if (!container_probe(c, *name, &probe) || probe.unknown ||
		    probe.tcp || probe.timeout > 1 ||
		    (!strcmp(*name, "startupProbe") &&
		     probe_budget(&probe) >= PATIENT))
			continue;
		timeout = node_get(probe.node, "timeoutSeconds");
		if (node_is_unset(timeout) && c->pod->object->fragment)
			continue;
		report_container(
			run, c, node_is_unset(timeout) ? probe.node : timeout,
			"the %s of `%s` times out after 1 s%s: a busy server may answer later",
			*name, container_title(c),
			node_is_unset(timeout) ? ", the default" : "");
		return;
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!pod_is_serving(pod))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role != CONTAINER_INIT &&
		    container_uses_gpu(c) == TRI_YES && !container_is_merged(c))
			check_container(run, c);
}

const struct rule rule_probe_timeout_default = {
	.name = "probe-timeout-default",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.scope = PODSPEC,
	.summary = "a probe of a model server times out after one second",
	.why = "A busy server answers later, so it is taken out of service or restarted under load.",
	.remedy = "Set timeoutSeconds to 5 or more.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/v1/defaults.go SetDefaults_Probe: timeoutSeconds 1",
	.check_pod = check,
};
