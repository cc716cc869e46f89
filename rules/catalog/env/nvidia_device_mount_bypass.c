/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports devices that a container gets through the file system or an
 * annotation: hostPath volumes of device nodes, of the driver's sockets and of
 * the folders in which device plugins define devices (CDI, the kubelet's),
 * /dev/null below /var/run/nvidia-container-devices (another way to request
 * devices from the runtime), and annotations that only plugins set (CDI, CRI-O,
 * NRI). They bypass the scheduler and every quota. The rule checks the path
 * that a mount exposes: path and subPath, normalized. DaemonSets with the image
 * of a vendor's device plugin or monitor are skipped in any namespace, because
 * tenants cannot push to these registries, unless they replace the program. A
 * container that is not privileged cannot open mounted device nodes, because
 * its device cgroup denies all devices that neither a device plugin nor the
 * runtime adds (containerd pkg/oci/spec.go, populateDefaultUnixSpec).
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/resources/volume.h"

/* True for the key of an annotation by which a pod requests devices or mounts
 * from the runtime: CDI, CRI-O, NRI. */
static bool annotation_asks_runtime(const char *key)
{
	static const char *const names[] = {
		"cdi.k8s.io",
		"nvidia.cdi.k8s.io",
		"io.kubernetes.cri-o.Devices",
		"devices.crio.io", /* since CRI-O 1.35 */
		"devices.nri.io",
		"cdi-devices.nri.io",
		"mounts.nri.io",
		"mounts.noderesource.dev",
		"devices.noderesource.dev",
		"cdi-devices.noderesource.dev",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_starts(key, names[i]) &&
		    (!key[strlen(names[i])] || key[strlen(names[i])] == '/'))
			return true;
	return false;
}

/* Returns the severity of a finding about a mount. A pod that mounts /dev or /
 * may need something other than accelerators, and a fabric works only with more
 * than its device files. */
static enum severity severity_of(enum host_shows shows)
{
	if (shows == HOST_SHOWS_EVERYTHING)
		return SEVERITY_INFO;
	return shows == HOST_SHOWS_FABRIC || shows == HOST_SHOWS_ALL_DEVICES
		       ? SEVERITY_WARNING
		       : SEVERITY_ERROR;
}

static void help(struct rule_run *run, struct finding *f, const struct pod *pod,
		 const char *hint)
{
	finding_help(
		run, f,
		"Request the devices in `resources.limits` or with a DRA claim.%s%s",
		hint, pod_infrastructure_hint(pod));
}

static const struct node *privileged_of(const struct container *c)
{
	return node_get(node_get(c->node, "securityContext"), "privileged");
}

/* True if the mounted device nodes cannot be opened without a device plugin. */
static bool is_denied(const struct container *c, const struct host_path *shown)
{
	const struct node *privileged = privileged_of(c);

	return text_starts(shown->path, "/dev/") &&
	       !text_eq(shown->path, "/dev/null") &&
	       (node_is_unset(privileged) || node_is_false(privileged));
}

/* True if a mount of a fabric's device files is not reported. A container that
 * also requests a fabric can open only the devices that the device plugin gave
 * it. A privileged container can open all of them, but in a GPU pod
 * gpu-privileged reports it. */
static bool may_mount_fabric(const struct container *c)
{
	const struct node *privileged = privileged_of(c);

	if (!node_is_unset(privileged) && !node_is_false(privileged))
		return node_is_true(privileged) &&
		       pod_uses_gpu(c->pod) == TRI_YES;
	FOR_EACH_LIMIT(c, entry)
		if (fabric_resource(entry->node->key))
			return true;
	return false;
}

/* Returns the end of the message. */
static const char *consequence(struct rule_run *run,
			       const struct host_path *shown,
			       enum host_shows shows)
{
	if (shows == HOST_SHOWS_DEFINITIONS)
		return ": as device plugins do, the container may define devices";
	if (shows == HOST_SHOWS_ALL_DEVICES || shows == HOST_SHOWS_EVERYTHING)
		return ": if the node has accelerators, this bypasses the device plugin";
	/* mounted below /var/run/nvidia-container-devices
	 * (host_path_shows()) */
	if (text_eq(shown->path, "/dev/null"))
		return arena_printf(
			rule_arena(run),
			" as `%s`: the nvidia runtime takes this as a request for a device, bypassing the device plugin",
			shown->at);
	return ": a mount does not allocate the devices";
}

/* True if the container has an allocation: a limit, a claim or, in its pod, an
 * annotation for a share of a device. */
static bool has_devices(const struct container *c)
{
	return c->gpus.n > 0 || c->pod->gpu_by & GPU_BY_ANNOTATION ||
	       (pod_uses_gpu(c->pod) != TRI_NO &&
		node_first(node_get(c->resources, "claims")));
}

static void check_mount(struct rule_run *run, const struct container *c,
			const struct node *mount)
{
	struct host_path shown = mount_host_path(rule_arena(run), c, mount);
	enum host_shows shows = host_path_shows(&shown);
	struct finding *f;

	/* A container with devices may share them through the MPS daemon of
	 * the host: KAI documents this mount, and MPS with DRA claims needs it.
	 * gpu-hostpath reports a GPU pod that mounts the whole host. */
	if (shows == HOST_SHOWS_NOTHING ||
	    (shows == HOST_SHOWS_FABRIC && may_mount_fabric(c)) ||
	    (shows == HOST_SHOWS_SHARE && has_devices(c)) ||
	    (shows == HOST_SHOWS_EVERYTHING && pod_uses_gpu(c->pod) == TRI_YES))
		return;
	f = report_container(
		run, c, shown.node,
		"volume `%s` mounts `%s` of the host into container `%s`%s",
		shown.volume, shown.path, container_title(c),
		consequence(run, &shown, shows));
	help(run, f, c->pod,
	     is_denied(c, &shown)
		     ? " A container that is not privileged cannot open mounted devices."
		     : "");
	finding_label(run, f, mount, "mounted here");
	finding_severity(f, severity_of(shows));
	if (shows == HOST_SHOWS_ALL_DEVICES || shows == HOST_SHOWS_EVERYTHING)
		finding_guess(run, f);
}

/* True if a variable makes the dynamic linker load other code. */
static bool loads_code(const struct container *c)
{
	if (!node_is_unset(node_get(c->node, "envFrom")))
		return true;
	FOR_EACH_CHILD(node_get(c->node, "env"), entry)
		if (text_starts(
			    text_or_empty(node_str(node_get(entry, "name"))),
			    "LD_"))
			return true;
	return false;
}

/* True for a program of the image that the container's command names. */
static bool names_own_program(const struct node *command)
{
	const char *program = node_str(node_first(command));
	const char *slash = program ? strrchr(program, '/') : NULL;

	program = slash ? slash + 1 : program;
	return program && (text_eq(program, "config-manager") ||
			   text_starts(program, "dcgm-exporter") ||
			   text_contains(program, "device-plugin"));
}

static bool is_vendor_daemon(const struct container *c)
{
	static const char *const images[] = {
		"nvcr.io/nvidia/k8s-device-plugin",
		"nvcr.io/nvidia/k8s/dcgm-exporter",
		"nvcr.io/nvidia/gpu-feature-discovery",
		"mcr.microsoft.com/oss/nvidia/k8s-device-plugin",
		"mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin",
		"gcr.io/gke-release/nvidia-gpu-device-plugin",
		"gke.gcr.io/nvidia-gpu-device-plugin",
		"public.ecr.aws/neuron/neuron-device-plugin",
		"docker.io/rocm/k8s-device-plugin",
		"rocm/k8s-device-plugin",
		"intel/intel-gpu-plugin",
		"ghcr.io/mellanox/k8s-rdma-shared-dev-plugin",
	};
	const struct node *command = node_get(c->node, "command");

	if (c->pod->object->class != KIND_DAEMON || !c->image ||
	    !node_is_unset(node_get(c->node, "lifecycle")) || loads_code(c) ||
	    (!node_is_unset(command) && !names_own_program(command)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(images); i++)
		if (text_starts(c->image, images[i]) &&
		    strchr(":@", c->image[strlen(images[i])]))
			return true;
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod_is_trusted(pod))
		return;
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		if (!is_vendor_daemon(c))
			FOR_EACH_CHILD(container_host_mounts(c), mount)
				check_mount(run, c, mount);
	FOR_EACH_CHILD(pod->annotations, value)
		if (annotation_asks_runtime(value->key))
			help(run,
			     report_pod(
				     run, pod, value,
				     "annotation `%s` asks the container runtime for devices or mounts, bypassing the device plugin",
				     value->key),
			     pod, "");
}

const struct rule rule_nvidia_device_mount_bypass = {
	.name = "nvidia-device-mount-bypass",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.flags = RULE_TAKES | RULE_INFRASTRUCTURE,
	.summary =
		"a pod gets devices of the host through a volume or an annotation",
	.why = "The pod can use devices that the scheduler and the quotas do not count and that may be allocated to other pods.",
	.remedy =
		"Request the devices in resources.limits or with a DRA claim.",
	.evidence =
		"https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/config/image/cuda_image.go",
	.check_pod = check,
};
