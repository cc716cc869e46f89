/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports PyTorchJobs that start a script once in a pod with several GPUs,
 * whatever nprocPerNode is. In the operator's getNprocPerNodeInt(), `auto` and
 * an unset value count as one.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/parallel.h"

static bool is_script(const char *text)
{
	return text && text_ends(text, ".py");
}

/* Returns the script if the command is just `python train.py`, or NULL. */
static const struct node *script(const struct container *c)
{
	struct argv argv = container_argv(c);

	if (!argv.n || !argv.items[0].base ||
	    strncmp(argv.items[0].base, "python", 6))
		return NULL;
	for (size_t i = 1; i < argv.n; i++) {
		if (is_script(argv.items[i].text))
			return argv.items[i].node;
		if (!argv.items[i].text || strcmp(argv.items[i].text, "-u"))
			return NULL;
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!object_is(pod->object, "kubeflow.org", "PyTorchJob"))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		int64_t devices = container_devices(c);
		const struct node *at = script(c);

		if (devices < 2 || !at || !c->name ||
		    strcmp(c->name, "pytorch"))
			continue;
		report_container(
			run, c, at,
			"`%s` is started once for %s: unless it starts more processes or uses several GPUs itself, the other GPUs are idle",
			node_str(at),
			rule_count(run, devices, pod_device(pod)));
	}
}

const struct rule rule_pytorchjob_nproc_auto_world_size = {
	.name = "pytorchjob-nproc-auto-world-size",
	.category = "parallelism",
	.severity = SEVERITY_INFO,
	.summary =
		"a PyTorchJob starts its script once in a pod with several GPUs",
	.why = "Unless nprocPerNode is a number, the operator sets WORLD_SIZE to the number of pods: a script that uses one GPU per process uses one GPU of each pod.",
	.remedy =
		"Start the script with torchrun, which starts one process per GPU (nprocPerNode).",
	.evidence =
		"https://github.com/kubeflow/training-operator/blob/v1.9.0/pkg/controller.v1/pytorch/envvar.go",
	.check_pod = check,
};
