/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that come in through the file system: hostPath volumes of device
 * nodes and of the driver's sockets, /dev/null below
 * /var/run/nvidia-container-devices (the runtime's second way to ask), and
 * annotations that only plugins write (CDI, CRI-O, NRI). The scheduler and
 * every quota are passed by. What counts is what a mount shows: path and
 * subPath, cleaned.
 */
#include "engine/rule.h"
#include "kube/purpose/class.h"
#include "kube/resources/host_path.h"

/* /dev and / hold more than accelerators: whoever mounts them may want
 * something else. RDMA needs more than the files. */
static enum severity severity_of(enum host_shows shows)
{
	if (shows == HOST_SHOWS_EVERYTHING)
		return SEVERITY_INFO;
	return shows == HOST_SHOWS_FABRIC || shows == HOST_SHOWS_ALL_DEVICES
		       ? SEVERITY_WARNING
		       : SEVERITY_ERROR;
}

static void help(struct rule_run *run, struct finding *f, const struct pod *pod)
{
	finding_help(run, f,
		     "ask for the devices in `resources.limits`, or by a DRA "
		     "claim%s",
		     pod_infrastructure_hint(pod));
}

/* It was given some by the device plugin, and more it cannot open. */
static bool has_fabric(const struct container *c)
{
	const struct node *security = node_get(c->node, "securityContext");

	if (!node_is_unset(node_get(security, "privileged")) &&
	    !node_eq(node_get(security, "privileged"), "false"))
		return false;
	FOR_EACH_LIMIT(c, entry)
		if (fabric_resource(entry->node->key))
			return true;
	return false;
}

static void check_mount(struct rule_run *run, const struct container *c,
			const struct node *mount)
{
	struct host_path shown = mount_host_path(rule_arena(run), c, mount);
	enum host_shows shows = host_path_shows(&shown);
	struct finding *f;

	/* A shared GPU's MPS pipe is the way that KAI documents. With all of
	 * the host a GPU pod has more than devices: gpu-hostpath. */
	if (shows == HOST_SHOWS_NOTHING ||
	    (shows == HOST_SHOWS_FABRIC && has_fabric(c)) ||
	    (shows == HOST_SHOWS_SHARE && c->pod->gpu_by & GPU_BY_ANNOTATION) ||
	    (shows == HOST_SHOWS_EVERYTHING && pod_uses_gpu(c->pod) == TRI_YES))
		return;
	f = report_container(run, c, shown.node,
			     "volume `%s` hands `%s` of the host to container "
			     "`%s`, past the device plugin",
			     shown.volume, shown.path, container_title(c));
	help(run, f, c->pod);
	finding_label(run, f, mount, "mounted here");
	finding_severity(f, severity_of(shows));
	if (shows == HOST_SHOWS_ALL_DEVICES || shows == HOST_SHOWS_EVERYTHING)
		finding_guess(run, f);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod_is_trusted(pod))
		return;
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		FOR_EACH_CHILD(container_host_mounts(c), mount)
			check_mount(run, c, mount);
	FOR_EACH_CHILD(pod->annotations, value)
		if (annotation_asks_runtime(value->key))
			help(run,
			     report_pod(run, pod, value,
					"annotation `%s` asks the runtime for "
					"a device, past the device plugin",
					value->key),
			     pod);
}

const struct rule rule_nvidia_device_mount_bypass = {
	.name = "nvidia-device-mount-bypass",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.flags = RULE_TAKES | RULE_INFRASTRUCTURE,
	.wants_any = FACT_HOST_VOLUME | FACT_ANNOTATED,
	.since = "1.0",
	.summary = "devices of the host mounted into a pod",
	.why = "The pod uses accelerators that the scheduler and the quotas do not count, and that others were given.",
	.remedy = "Ask for the devices in resources.limits, or by a DRA claim.",
	.evidence =
		"https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/config/image/cuda_image.go",
	.check_pod = check,
};
