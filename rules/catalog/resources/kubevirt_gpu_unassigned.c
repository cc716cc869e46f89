/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports virtual machines of KubeVirt whose pod requests devices that no entry
 * of `devices` assigns to the guest. KubeVirt copies `domain.resources` to the
 * pod, and takes the devices of the guest from `devices.gpus` and
 * `devices.hostDevices` alone. An instance type or a hook may add such entries.
 * Source: kubevirt d923fdb8 pkg/virt-controller/services/renderresources.go
 * (NewResourceRenderer), template.go (WithGPUsDevicePlugins),
 * pkg/instancetype/apply/gpu.go.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"

/* Returns the spec of the virtual machine instances, or NULL. */
static const struct node *instance_spec(const struct object *object)
{
	static const struct {
		const char *kind, *path;
	} kinds[] = {
		{"VirtualMachineInstance", "spec"},
		{"VirtualMachine", "spec.template.spec"},
		{"VirtualMachineInstanceReplicaSet", "spec.template.spec"},
		{"VirtualMachinePool",
		 "spec.virtualMachineTemplate.spec.template.spec"},
	};

	if (!text_ends(object->group, "kubevirt.io"))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (text_eq(object->kind, kinds[i].kind))
			return node_path(object->root, kinds[i].path);
	return NULL;
}

/* True if a program changes the definition of the guest (kubevirt d923fdb8
 * pkg/hooks/hooks.go, HookSidecarListAnnotationName). */
static bool has_hook(const struct node *spec)
{
	return node_get(node_path(spec->parent, "metadata.annotations"),
			"hooks.kubevirt.io/hookSidecars");
}

static bool has_instance_type(const struct object *object)
{
	return !node_is_unset(node_path(object->root, "spec.instancetype")) ||
	       node_path(object->root,
			 "spec.virtualMachineTemplate.spec.instancetype");
}

/* Returns a device with a number above 0, or NULL. */
static const struct node *find_device(struct rule_run *run,
				      const struct node *amounts)
{
	FOR_EACH_CHILD(amounts, value)
		if (value->key && !node_is_unknown(value) &&
		    !node_eq(value, "0") &&
		    accelerator_find(rule_accelerators(run), value->key))
			return value;
	return NULL;
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = instance_spec(object), *devices, *at;
	const struct node *domain = node_get(spec, "domain");

	if (!domain || has_instance_type(object) || has_hook(spec))
		return;
	at = find_device(run, node_path(domain, "resources.limits"));
	if (!at)
		at = find_device(run, node_path(domain, "resources.requests"));
	devices = node_get(domain, "devices");
	if (!at || node_is_unknown(devices) ||
	    !node_is_unset(node_get(devices, "gpus")) ||
	    !node_is_unset(node_get(devices, "hostDevices")))
		return;
	finding_at_key(
		run,
		report_object(
			run, object, at,
			"the pod of the virtual machine requests `%s`, but `devices.gpus` is not set: the guest has no device",
			at->key),
		at);
}

const struct rule rule_kubevirt_gpu_unassigned = {
	.name = "kubevirt-gpu-unassigned",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.summary =
		"a virtual machine requests a GPU for its pod but not for the guest",
	.why = "The pod holds the GPU, and the guest does not see it.",
	.remedy =
		"List the device in `domain.devices.gpus` instead; KubeVirt then requests it for the pod.",
	.evidence =
		"https://kubevirt.io/user-guide/compute/host-devices/#starting-a-virtual-machine",
	.check_object = check,
};
