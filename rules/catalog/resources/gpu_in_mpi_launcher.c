/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports NVIDIA GPUs in the launcher of an MPIJob. The operator appends an
 * empty NVIDIA_VISIBLE_DEVICES to the first container of the launcher, which
 * the nvidia runtime reads as no device, unless the launcher also runs as a
 * worker. Source: mpi-operator v0.4.0, v0.6.0 and v0.8.2 pkg/controller
 * mpi_job_controller.go, newLauncherPodTemplate() (nvidiaDisableEnvVars,
 * runLauncherAsWorker()).
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/operators.h"
#include "kube/purpose/purpose.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *spec = node_get(pod->object->root, "spec");

	if (!object_is_mpi_v2(pod->object) || !pod_is_launcher(pod) ||
	    node_is_unknown(node_get(spec, "runLauncherAsWorker")))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && c->index == 0 &&
		    c->gpus.n > 0 && c->accelerator &&
		    text_eq(c->accelerator->vendor, "nvidia"))
			report_container(
				run, c, c->resources,
				"the MPI Operator empties `NVIDIA_VISIBLE_DEVICES` in the launcher: if the nvidia runtime starts container `%s`, it holds %s that it cannot use",
				container_title(c),
				rule_count(run, c->gpus.n, pod_device(pod)));
}

const struct rule rule_gpu_in_mpi_launcher = {
	.name = "gpu-in-mpi-launcher",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary =
		"the launcher of an MPIJob requests a GPU that the MPI Operator hides from it",
	.why = "The operator empties NVIDIA_VISIBLE_DEVICES in the launcher. The nvidia runtime then gives it no GPU, although one is allocated.",
	.remedy =
		"Remove the GPU from the launcher, or set runLauncherAsWorker: true if the launcher also computes.",
	.evidence =
		"https://github.com/kubeflow/mpi-operator/blob/v0.8.2/pkg/controller/mpi_job_controller.go",
	.check_pod = check,
};
