/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports probes of another port than the one on which the server listens. Only
 * pods with one container that runs one program are checked, in which nothing
 * else answers. Source: kubernetes pkg/kubelet/prober (the pod's address and
 * the probe's port).
 */
#include <stdlib.h>
#include <string.h>

#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/server.h"

/* Returns the number of a probe's port, which may be a name; 0 if unknown. */
static int64_t probe_number(const struct container *c, const struct node *port)
{
	int64_t n = 0;

	if (!node_str(port))
		return node_int(port, &n) ? n : 0;
	FOR_EACH_CHILD(node_get(c->node, "ports"), one)
		if (node_eq(node_get(one, "name"), port->str) &&
		    node_int(node_get(one, "containerPort"), &n))
			return n;
	return port->str[strspn(port->str, "0123456789")]
		       ? 0
		       : strtol(port->str, NULL, 10);
}

/* True if the container runs one program, so that no other one listens. */
static bool runs_one_program(const struct container *c)
{
	struct argv argv = container_argv(c);
	size_t commands = 0;

	for (size_t i = 0; i < argv.n; i++)
		commands += argv.items[i].first;
	return commands <= 1;
}

static void check_port(struct rule_run *run, const struct container *c,
		       const struct node *port, const char *name)
{
	int64_t asks = probe_number(c, port);
	struct listen_port server;
	struct finding *f;

	if (!asks)
		return;
	server = container_listens_on(c);
	if (!server.number || server.number == asks)
		return;
	f = report_container(
		run, c, port,
		"container `%s` listens on port %s%s, but the %s checks port %s: it always fails",
		container_title(c), rule_number(run, server.number),
		server.by_default ? " (the default)" : "", name,
		rule_number(run, asks));
	finding_label(run, f, server.at,
		      server.by_default ? "the server" : "the server's port");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	static const char *const probes[] = {"startupProbe", "readinessProbe",
					     "livenessProbe"};
	const struct container *c = pod_only_container(pod);

	if (!c || !object_kind_has(pod->object, KIND_NATIVE) ||
	    !runs_one_program(c))
		return;
	for (size_t i = 0; i < 3; i++) {
		const struct node *probe = node_get(c->node, probes[i]);

		check_port(run, c, node_path(probe, "httpGet.port"), probes[i]);
		check_port(run, c, node_path(probe, "tcpSocket.port"),
			   probes[i]);
	}
}

const struct rule rule_probe_port_mismatch = {
	.name = "probe-port-mismatch",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a probe checks a port on which the server does not listen",
	.why = "The probe always fails: the pod holds its GPUs and gets no request, or restarts without end.",
	.remedy =
		"Use the same port in the server's command line, in the container's ports and in the probes.",
	.evidence =
		"https://github.com/llm-d/llm-d-benchmark/issues/1435; https://github.com/otwld/ollama-helm/issues/171",
	.check_pod = check,
};
