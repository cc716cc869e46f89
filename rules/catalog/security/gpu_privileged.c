/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports privileged containers on GPU nodes. A privileged container gets every
 * device node of its host, and the NVIDIA runtime honors its
 * NVIDIA_VISIBLE_DEVICES even if it is configured to ignore the variable in
 * other containers. A pod that requests one GPU, or none on a GPU node, sees
 * all GPUs, including those of other pods.
 *
 * Pods with TPUs are skipped, because a TPU host runs only one pod and its
 * runtime once required privileges.
 *
 * The finding is only an info for a container with devices in a pod with eight
 * or more of them, or all devices of the selected instance type, which has its
 * node to itself. It is a warning for other containers of such pods, in a pod
 * with four or more on an unknown instance type, because GB300 nodes have no
 * more, for an unknown number of devices, for an init container that requests
 * no device, because it ends before the work begins, and if a runtime class may
 * keep the devices away.
 *
 * GKE's daemon for GPUDirect-TCPX(O) in a pod that has its node to itself is
 * skipped, because its documentation requires a privileged container.
 *
 * Sources: kubernetes/kubernetes#81256; NVIDIA/k8s-device-plugin#336;
 * nvidia-container-toolkit cuda_image.go (privileged containers are honored).
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/node_devices.h"

enum { WHOLE_NODE = 8, SMALL_NODE = 4 };

/* True if a runtime class other than NVIDIA's is set, which may set
 * containerd's privileged_without_host_devices. */
static bool may_lack_devices(const struct pod *pod)
{
	const struct node *class = pod_field(pod, "runtimeClassName");

	return !node_is_unset(class) && !text_starts(node_str(class), "nvidia");
}

/* Returns whether the pod requests all devices of its node; unknown if nothing
 * shows their number. */
static enum tri has_whole_node(const struct pod *pod)
{
	int64_t most = pod_node_devices(pod).most, n = pod->gpus.n;

	if (pod->gpus.unknown || pod->gpu_unknown)
		return TRI_UNKNOWN;
	if (n <= 0)
		return TRI_NO;
	if (n >= (most ? most : WHOLE_NODE))
		return TRI_YES;
	return !most && n >= SMALL_NODE ? TRI_UNKNOWN : TRI_NO;
}

/* True if the container requests a device, or may request one. */
static bool may_request(const struct container *c)
{
	return c->gpus.n || c->pod->gpus.unknown || c->pod->gpu_unknown ||
	       !node_is_unset(node_get(c->resources, "claims"));
}

/* Returns the clause of the message about devices of other pods. */
static const char *other_gpus_clause(const struct container *c)
{
	static const char *const texts[] = {
		[TRI_NO] = ", not only those that it requests",
		[TRI_UNKNOWN] =
			", including GPUs of other pods if the node has more",
		[TRI_YES] = "",
	};

	return may_request(c) ? texts[has_whole_node(c->pod)]
			      : ", although it requests none";
}

/* True for GKE's receive daemon beside the container with all devices. Only
 * Google writes to this registry. */
static bool is_receiver(const struct container *c)
{
	return !c->gpus.n && has_whole_node(c->pod) == TRI_YES &&
	       text_starts(c->image,
			   "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx");
}

static enum severity severity_of(const struct container *c)
{
	enum tri whole = has_whole_node(c->pod);

	if (whole == TRI_YES && c->gpus.n > 0)
		return SEVERITY_INFO;
	return whole != TRI_NO || may_lack_devices(c->pod) ||
			       (c->role == CONTAINER_INIT && !c->gpus.n)
		       ? SEVERITY_WARNING
		       : SEVERITY_ERROR;
}

/* True if the pod runs on a GPU node, which may also have devices of other
 * pods. */
static bool shares_node(const struct pod *pod)
{
	const struct node_label *label = NULL;

	FOR_EACH_CONTAINER(pod, c)
		if (c->accelerator)
			return !text_eq(c->accelerator->vendor, "google");
	if (pod_uses_gpu(pod) == TRI_YES)
		return true;
	return pod_gpu_selector(pod, &label) &&
	       !text_eq(label->vendor, "google");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!shares_node(pod))
		return;
	FOR_EACH_CONTAINER_OF_ALL(pod, c) {
		const struct node *at = node_get(
			node_get(c->node, "securityContext"), "privileged");
		enum severity severity;
		struct finding *f;

		if (!node_is_true(at) || is_receiver(c))
			continue;
		f = report_container(
			run, c, at,
			"container `%s` is privileged: it sees every GPU of "
			"its node%s",
			container_title(c), other_gpus_clause(c));
		finding_help(
			run, f,
			"Remove `privileged`, and add only the capabilities that are needed (IPC_LOCK for RDMA).%s",
			pod_infrastructure_hint(pod));
		severity = severity_of(c);
		if (severity == SEVERITY_ERROR)
			continue;
		finding_severity(f, severity);
		finding_guess(run, f);
	}
}

const struct rule rule_gpu_privileged = {
	.name = "gpu-privileged",
	.category = "security",
	.severity = SEVERITY_ERROR,
	.flags = RULE_TAKES,
	.scope = PODSPEC,
	.summary = "a privileged container on a GPU node",
	.why = "The container sees every device of the node, including GPUs of other pods. Devices that it does not request are not counted.",
	.remedy =
		"Remove privileged, and add only the capabilities that are needed.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/issues/81256; https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/config/image/cuda_image.go",
	.check_pod = check,
};
