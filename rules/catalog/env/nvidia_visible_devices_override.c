/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports values of NVIDIA_VISIBLE_DEVICES in manifests. The device plugin sets
 * this variable; the kubelet appends the container's own value, and the runtime
 * uses the last one. In a container with a GPU limit it overrides the
 * allocation; without a limit, the container uses GPUs that are not counted.
 * Only values that hide all GPUs, such as void and none, are harmless. If there
 * are two entries, the runtime decides which one applies, so both are checked.
 *
 * Without this variable, CUDA_VERSION without NVIDIA_REQUIRE_CUDA makes an
 * image "legacy", to which the runtime shows all GPUs.
 *
 * Sources: kubelet GenerateRunContainerOptions; nvidia-container-toolkit
 * v1.20.2 internal/config/image/cuda_image.go (IsLegacy, devicesFromEnvvars),
 * devices.go (one item `all` is enough); k8s-device-plugin README, #61, #1605.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/purpose/purpose.h"

#define NAME "NVIDIA_VISIBLE_DEVICES"

/*
 * Removes the entry in a container with a device, because the plugin sets the
 * value. In other containers, sets "void", which exposes no device.
 */
static void repair(struct rule_run *run, struct finding *f,
		   const struct container *c, const struct node *entry)
{
	bool gpu = c->gpus.n > 0;
	struct fix *fix;

	if (c->pod->flat || !node_is_map(entry))
		return;
	if (gpu || container_uses_gpu(c) == TRI_YES) {
		if (!container_env_is_free(c, entry))
			return;
		fix = finding_fix(run, f, gpu, "remove `%s`", NAME);
		/* The old value takes devices that nothing counts. */
		fix_replaces(fix);
		fix_remove(fix, entry);
	} else if (container_uses_gpu(c) == TRI_NO &&
		   node_is_unset(node_get(entry, "valueFrom"))) {
		fix_set(finding_fix(run, f, false,
				    "set `NVIDIA_VISIBLE_DEVICES: void`"),
			entry, "value", edit_string(rule_arena(run), "void"));
	}
}

/* Adds the variables of the container and the metadata of the pod to the
 * finding's value, because the value to which the entry refers may change
 * although the entry does not. */
static void reads_surroundings(struct rule_run *run, struct finding *f,
			       const struct container *c)
{
	finding_reads(run, f, node_get(c->node, "env"));
	finding_reads(run, f, node_get(c->node, "envFrom"));
	finding_reads(run, f, c->pod->annotations);
	finding_reads(run, f, c->pod->labels);
}

/* True if the pod uses a share of a device. KAI and HAMi use a ConfigMap to
 * pass the devices of a share. */
static bool is_shared(const struct pod *pod)
{
	return pod->gpu_by & (GPU_BY_ANNOTATION | GPU_BY_SHARE);
}

/* Reports a value set by another object, the node or a controller. */
static void report_source(struct rule_run *run, const struct container *c,
			  const struct node *at)
{
	enum tri obeyed = container_obeys_variable(c, rule_injection(run));
	struct finding *f;

	f = report_container(
		run, c, at,
		"the manifest does not show the value of `%s` in container `%s`: if it is `all`%s, the container sees every GPU of the node",
		NAME, container_title(c),
		obeyed == TRI_YES
			? ""
			: " and the nvidia container runtime starts the container");
	finding_cause(run, f, NAME);
	finding_severity(f,
			 obeyed == TRI_NO ? SEVERITY_INFO : SEVERITY_WARNING);
	finding_help(
		run, f,
		"Set the value in the manifest, or remove the variable: the device plugin sets it.");
	reads_surroundings(run, f, c);
}

/* True for NVIDIA's exporter beside a workload: it has to see the devices that
 * it measures. */
static bool is_monitor(const struct container *c)
{
	static const char image[] = "nvcr.io/nvidia/k8s/dcgm-exporter:";

	return c->pod->object->class != KIND_DAEMON &&
	       container_uses_gpu(c) == TRI_NO && text_starts(c->image, image);
}

static void report_value(struct rule_run *run, const struct container *c,
			 const struct node *entry,
			 const struct env_value *value)
{
	const char *of = container_title(c);
	bool gpu = c->gpus.n > 0 || container_uses_gpu(c) != TRI_NO;
	enum tri obeyed = container_obeys_variable(c, rule_injection(run));
	struct finding *f;

	f = report_container(
		run, c, value->at,
		gpu ? "`%s: %s` overrides the allocation of container `%s`%s"
		    : "`%s: %s` shows container `%s` unrequested GPUs%s",
		NAME, value->text, of,
		obeyed == TRI_YES
			? ""
			: " if the nvidia container runtime starts it");
	finding_cause(run, f, NAME);
	if (obeyed != TRI_YES)
		finding_severity(f, obeyed == TRI_NO || is_monitor(c)
					    ? SEVERITY_INFO
					    : SEVERITY_WARNING);
	finding_help(
		run, f, "%s%s",
		gpu ? "Remove the variable: the device plugin sets it."
		    : "Request GPUs in `resources.limits`, or set the variable to `void`.",
		pod_infrastructure_hint(c->pod));
	if (!value->written)
		reads_surroundings(run, f, c);
	repair(run, f, c, entry);
}

static void check_entry(struct rule_run *run, const struct container *c,
			const struct node *entry)
{
	struct env_value value = env_entry_value(c, entry);
	enum visible visible = env_shows(&value);

	if (visible == VISIBLE_ALL || visible == VISIBLE_SOME)
		report_value(run, c, entry, &value);
	else if (visible == VISIBLE_UNKNOWN && value.state == ENV_UNKNOWN &&
		 !node_is_unknown(value.at) && !is_shared(c->pod))
		report_source(run, c, value.at);
}

/* Reports CUDA_VERSION, which makes the runtime treat the image as an old CUDA
 * image, unless the image sets one of the other variables. */
static void report_version(struct rule_run *run, const struct container *c,
			   const struct env_value *value)
{
	enum tri obeyed = container_obeys_variable(c, rule_injection(run));
	struct finding *f;

	f = report_container(
		run, c, value->at,
		"`CUDA_VERSION` makes the nvidia container runtime show "
		"container `%s` every GPU of the node, unless the image sets "
		"`%s` or `NVIDIA_REQUIRE_CUDA`",
		container_title(c), NAME);
	finding_cause(run, f, "CUDA_VERSION");
	finding_severity(f,
			 obeyed == TRI_NO ? SEVERITY_INFO : SEVERITY_WARNING);
	finding_help(run, f,
		     "Remove the variable, or set `%s` to `void`. To use GPUs, "
		     "request them in `resources.limits`.",
		     NAME);
	if (!value->written)
		reads_surroundings(run, f, c);
}

static void check_version(struct rule_run *run, const struct container *c,
			  const struct node *entry)
{
	struct env_value value;

	if (!container_is_old_cuda(c))
		return;
	value = env_entry_value(c, entry);
	if (node_is_unknown(value.at) ||
	    (value.state == ENV_KNOWN && !*value.text))
		return;
	report_version(run, c, &value);
}

/* Calls check_one for each entry of that name. Returns false if it finds one in
 * an infrastructure pod, which may set the variable. */
static bool
check_name(struct rule_run *run, const struct container *c, const char *name,
	   void (*check_one)(struct rule_run *run, const struct container *c,
			     const struct node *entry))
{
	for (const struct node *entry = NULL;
	     (entry = container_env_after(c, name, entry));) {
		if (pod_is_trusted(c->pod))
			return false;
		check_one(run, c, entry);
	}
	return true;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		if (!check_name(run, c, NAME, check_entry) ||
		    !check_name(run, c, "CUDA_VERSION", check_version))
			return;
}

const struct rule rule_nvidia_visible_devices_override = {
	.name = "nvidia-visible-devices-override",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.flags = RULE_TAKES | RULE_SAFE_PATCH | RULE_INFRASTRUCTURE,
	.summary =
		"a manifest sets NVIDIA_VISIBLE_DEVICES to show GPUs, or CUDA_VERSION without that variable",
	.why = "If the nvidia runtime starts the container, it obeys the pod's value, which overrides the device plugin's allocation or exposes GPUs that are not counted. If devices are injected by CDI (GPU Operator 25.10 and later), only pods with `runtimeClassName: nvidia` have that runtime. A container without NVIDIA_VISIBLE_DEVICES, but with `CUDA_VERSION`, sees every GPU, unless `NVIDIA_REQUIRE_CUDA` is set as well. gpugate learns how devices are injected from `platform: {deviceInjection: ...}` in the policy, or from a snapshot that contains the operator's ClusterPolicy or the device plugin's DaemonSet. Without either, the finding is a warning, unless the pod sets `runtimeClassName: nvidia`.",
	.remedy = "Remove the variable and request GPUs in resources.limits.",
	.evidence =
		"kubelet GenerateRunContainerOptions; https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/config/image/cuda_image.go; https://github.com/NVIDIA/k8s-device-plugin/issues/61, https://github.com/NVIDIA/k8s-device-plugin/issues/1605",
	.yields_to = (const char *const[]){"gpu-uuid-pinned", NULL},
	.check_pod = check,
};
