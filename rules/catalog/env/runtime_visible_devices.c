/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports variables by which container runtimes of vendors other than NVIDIA
 * give devices to a container without the device plugin and the scheduler. If
 * there are several entries with the name, some of these runtimes use the
 * first, others the last, so all are checked. Skips containers that request
 * devices: the value of the plugin, or of an annotation that a scheduler
 * writes, applies to them.
 *
 * Sources: ROCm/container-toolkit internal/oci/oci.go (getAMDEnv: indices,
 * all); Ascend/ascend-docker-runtime hook/main.go (parseDevices: indices and
 * ranges); AWS Neuron documentation, tutorial-oci-hook (containerd's default
 * runtime), and EKS AMI nodeadm (applyNeuron);
 * HabanaAI/habana-container-runtime main.go, specs.go (filterDevicesByENV:
 * indices, all); Deep-Spark/ix-container-toolkit README; torch_musa
 * documentation, FAQ (mt-container-toolkit).
 */
#include <ctype.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/purpose/purpose.h"

struct visible_variable {
	const char *name, *runtime;
};

static const struct visible_variable variables[] = {
	{"AMD_VISIBLE_DEVICES", "amd-container-runtime"},
	{"ASCEND_VISIBLE_DEVICES", "ascend-docker-runtime"},
	{"AWS_NEURON_VISIBLE_DEVICES", "oci-neuron-hook"},
	{"HABANA_VISIBLE_DEVICES", "habana-container-runtime"},
	{"IX_VISIBLE_DEVICES", "ix-container-toolkit"},
	{"MTHREADS_VISIBLE_DEVICES", "mt-container-toolkit"},
};

/* True for `all`, or a text with a number: all of these runtimes identify
 * devices by numbers. */
static bool shows_devices(const char *text)
{
	if (!strcasecmp(text, "all"))
		return true;
	while (*text && !isdigit((unsigned char)*text))
		text++;
	return *text != '\0';
}

static void report_value(struct rule_run *run, const struct container *c,
			 const struct visible_variable *variable,
			 const struct env_value *value)
{
	struct finding *f = report_container(
		run, c, value->at,
		"`%s: %s` shows container `%s` unrequested devices if the node's container runtime uses %s",
		variable->name, value->text, container_title(c),
		variable->runtime);

	finding_cause(run, f, variable->name);
	if (!value->written)
		finding_reads(run, f, node_get(c->node, "env"));
}

static void report_source(struct rule_run *run, const struct container *c,
			  const struct visible_variable *variable,
			  const struct node *at)
{
	struct finding *f = report_container(
		run, c, at,
		"the manifest does not show the value of `%s` in container `%s`: if it names devices, a node that uses %s shows the container unrequested devices",
		variable->name, container_title(c), variable->runtime);

	finding_cause(run, f, variable->name);
	finding_unseen(f);
}

static void check_entry(struct rule_run *run, const struct container *c,
			const struct visible_variable *variable,
			const struct node *entry)
{
	struct env_value value = env_entry_value(c, entry);
	enum visible visible = env_shows(&value);

	if (visible == VISIBLE_ALL ||
	    (visible == VISIBLE_SOME && shows_devices(value.text)))
		report_value(run, c, variable, &value);
	else if (visible == VISIBLE_UNKNOWN && value.state == ENV_UNKNOWN &&
		 !node_is_unknown(value.at))
		report_source(run, c, variable, value.at);
}

/* True if all variables of the container are in the list `env`, which
 * container_env() searches. */
static bool env_is_list(const struct container *c)
{
	return node_is_seq(node_get(c->node, "env")) &&
	       !node_get(c->node, "envs") && !node_get(c->node, "envVars") &&
	       !node_get(c->pod->injected, "env");
}

static void check_container(struct rule_run *run, const struct container *c)
{
	bool is_list = env_is_list(c);

	if (container_uses_gpu(c) != TRI_NO)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *name = variables[i].name;

		/* Nearly all containers lack the variable. */
		if (is_list && !container_env(c, name))
			continue;
		for (const struct node *entry = NULL;
		     (entry = container_env_after(c, name, entry));)
			check_entry(run, c, &variables[i], entry);
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat || pod_is_trusted(pod))
		return;
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		check_container(run, c);
}

const struct rule rule_runtime_visible_devices = {
	.name = "runtime-visible-devices",
	.category = "env",
	.severity = SEVERITY_WARNING,
	.flags = RULE_TAKES | RULE_INFRASTRUCTURE,
	.summary =
		"an environment variable makes a container runtime show devices that are not requested",
	.why = "The container runtimes of AMD, Ascend, Gaudi, Iluvatar, Moore Threads and Neuron obey an environment variable of the container. On nodes that use such a runtime by default, as AWS's images for Neuron do, the container sees devices that are not counted and may be allocated to other pods.",
	.remedy =
		"Remove the variable and request the devices in resources.limits.",
	.evidence =
		"https://github.com/ROCm/container-toolkit/blob/main/internal/oci/oci.go; https://github.com/HabanaAI/habana-container-runtime/blob/main/cmd/habana-container-runtime/main.go; https://github.com/Ascend/ascend-docker-runtime: hook/main.go; https://github.com/Deep-Spark/ix-container-toolkit; AWS Neuron documentation: tutorial-oci-hook",
	.check_pod = check,
};
