/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that come in through the file system: hostPath volumes of device
 * nodes and of the driver's sockets, /dev/null below
 * /var/run/nvidia-container-devices (the runtime's second way to ask), and a
 * CDI annotation by hand. The scheduler and every quota are passed by.
 *
 * Source: nvidia-container-toolkit internal/config/image/cuda_image.go
 * (VisibleDevicesFromMounts); CDI: cdi.k8s.io annotations are the device
 * plugin's.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

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
	{"/run/nvidia/mps", SEVERITY_ERROR},
	{"/tmp/nvidia-mps", SEVERITY_ERROR},
	{"/dev/nvidia-caps-imex-channels", SEVERITY_ERROR},
	/* RDMA needs more than the files: a fabric, not a GPU. */
	{"/dev/infiniband", SEVERITY_WARNING},
};

static const struct device_path *device_path(const char *path)
{
	const size_t n = sizeof(device_paths) / sizeof(*device_paths);

	for (size_t i = 0; path && i < n; i++) {
		const char *known = device_paths[i].path;
		size_t len = strcspn(known, "*");

		if (strncmp(path, known, len))
			continue;
		if (known[len] == '*' || !path[len] || path[len] == '/')
			return &device_paths[i];
	}
	return NULL;
}

/* The container that mounts the volume. */
static const struct container *mounter(const struct pod *pod, const char *name,
				       const struct node **mount)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), m)
			if (node_eq(node_get(m, "name"), name)) {
				*mount = m;
				return c;
			}
	return NULL;
}

static void check_volume(struct rule_run *run, const struct pod *pod,
			 const struct node *volume)
{
	const struct node *at = node_path(volume, "hostPath.path");
	const char *name = node_str(node_get(volume, "name"));
	const struct device_path *device = device_path(node_str(at));
	const struct node *mount = NULL;
	const struct container *c = name ? mounter(pod, name, &mount) : NULL;
	struct finding *f;

	if (!c)
		return;
	if (node_eq(at, "/dev/null") &&
	    text_starts(node_str(node_get(mount, "mountPath")),
			"/var/run/nvidia-container-devices/"))
		device = &device_paths[0];
	/* A shared GPU's MPS pipe is the way that KAI documents. */
	if (!device || (pod->gpu_by & GPU_BY_ANNOTATION &&
			text_contains(device->path, "mps")))
		return;
	f = report_container(run, c, at,
			     "volume `%s` hands `%s` of the host to container "
			     "`%s`, past the device plugin",
			     name, node_str(at), c->name ? c->name : "");
	finding_label(run, f, mount, "mounted here");
	finding_severity(f, device->severity);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "volumes"), volume)
		check_volume(run, pod, volume);
	FOR_EACH_CHILD(node_get(pod->metadata, "annotations"), value)
		if (text_starts(value->key, "cdi.k8s.io/"))
			report_pod(run, pod, value,
				   "annotation `%s` asks the runtime for a "
				   "device, past the device plugin",
				   value->key);
}

const struct rule rule_nvidia_device_mount_bypass = {
	.name = "nvidia-device-mount-bypass",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.since = "1.0",
	.summary = "devices of the host mounted into a pod",
	.why = "The pod uses accelerators that the scheduler and the quotas do not count, and that others were given.",
	.remedy = "Ask for the devices in resources.limits, or by a DRA claim.",
	.evidence = "nvidia-container-toolkit cuda_image.go",
	.check_pod = check,
};
