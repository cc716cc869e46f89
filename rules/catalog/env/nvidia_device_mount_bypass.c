/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that come in through the file system: hostPath volumes of device
 * nodes and of the driver's sockets, /dev/null below
 * /var/run/nvidia-container-devices (the runtime's second way to ask), and a
 * annotation (CDI, CRI-O) by hand. The scheduler and every quota are passed
 * by. What counts is what a mount shows: path and subPath, cleaned.
 *
 * Source: nvidia-container-toolkit internal/config/image/cuda_image.go
 * (VisibleDevicesFromMounts); cdi.k8s.io annotations are the plugin's.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/host_path.h"

/* A path below one of these, or, for those ending in '*', with it as prefix. */
static const struct device_path {
	const char *path;
	enum severity severity;
} device_paths[] = {
	{"/dev/nvidia*", SEVERITY_ERROR},
	{"/dev/dri", SEVERITY_ERROR},
	{"/dev/kfd", SEVERITY_ERROR},
	{"/dev/neuron*", SEVERITY_ERROR},
	{"/dev/accel*", SEVERITY_ERROR},
	{"/dev/vfio", SEVERITY_ERROR},
	{"/dev/char", SEVERITY_ERROR},
	{"/run/nvidia/mps", SEVERITY_ERROR},
	{"/tmp/nvidia-mps", SEVERITY_ERROR},
	{"/run/cdi", SEVERITY_ERROR},
	{"/etc/cdi", SEVERITY_ERROR},
	{"/var/lib/kubelet/device-plugins", SEVERITY_ERROR},
	/* RDMA needs more than the files: a fabric, not a GPU. */
	{"/dev/infiniband", SEVERITY_WARNING},
	/* All devices, of which GPUs may be some. */
	{"/dev=", SEVERITY_WARNING},
	{"/=", SEVERITY_INFO},
};

static const struct device_path *device_path(const char *path)
{
	const size_t n = sizeof(device_paths) / sizeof(*device_paths);

	for (size_t i = 0; i < n; i++) {
		const char *known = device_paths[i].path;
		size_t len = strcspn(known, "*=");

		if (strncmp(path, known, len))
			continue;
		if (known[len] == '*' || !path[len] ||
		    (path[len] == '/' && known[len] != '='))
			return &device_paths[i];
	}
	return NULL;
}

static const struct device_path *asks(const struct host_path *shown)
{
	if (text_eq(shown->path, "/dev/null") &&
	    text_starts(shown->at, "/run/nvidia-container-devices/"))
		return &device_paths[0];
	return device_path(shown->path);
}

static void check_mount(struct rule_run *run, const struct container *c,
			const struct node *mount)
{
	struct host_path shown = mount_host_path(rule_arena(run), c, mount);
	const struct device_path *device = shown.path ? asks(&shown) : NULL;
	struct finding *f;

	/* A shared GPU's MPS pipe is the way that KAI documents. */
	if (!device || (c->pod->gpu_by & GPU_BY_ANNOTATION &&
			text_contains(device->path, "mps")))
		return;
	f = report_container(run, c, shown.node,
			     "volume `%s` hands `%s` of the host to container "
			     "`%s`, past the device plugin",
			     shown.volume, shown.path, c->name ? c->name : "");
	finding_label(run, f, mount, "mounted here");
	finding_severity(f, device->severity);
	if (strchr(device->path, '='))
		finding_guess(run, f);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod_is_trusted(rule_arena(run), pod, rule_param(run, "namespaces")))
		return;
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		FOR_EACH_CHILD(container_host_mounts(c), mount)
			check_mount(run, c, mount);
	FOR_EACH_CHILD(pod->annotations, value)
		if (text_starts(value->key, "cdi.k8s.io/") ||
		    text_eq(value->key, "io.kubernetes.cri-o.Devices"))
			report_pod(run, pod, value,
				   "annotation `%s` asks the runtime for a "
				   "device, past the device plugin",
				   value->key);
}

static const struct rule_param params[] = {
	{"namespaces", "list", "", TRUSTED_NAMESPACES}, {0}};

const struct rule rule_nvidia_device_mount_bypass = {
	.name = "nvidia-device-mount-bypass",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.flags = RULE_INFRASTRUCTURE,
	.since = "1.0",
	.summary = "devices of the host mounted into a pod",
	.why = "The pod uses accelerators that the scheduler and the quotas do not count, and that others were given.",
	.remedy = "Ask for the devices in resources.limits, or by a DRA claim.",
	.evidence = "nvidia-container-toolkit cuda_image.go",
	.params = params,
	.check_pod = check,
};
