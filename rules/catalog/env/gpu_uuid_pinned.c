/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports visibility variables that name a device by UUID, which is one
 * physical card (or MIG instance) of one host. NVIDIA_VISIBLE_DEVICES makes the
 * nvidia runtime fail on other hosts, and expose the card on that host even if
 * another device is allocated to the pod. The other variables hide all devices
 * unless that card is allocated.
 *
 * Source: NVIDIA/k8s-device-plugin#960.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/purpose/purpose.h"

/* Returns an entry such as GPU-8932f937-d72c-4106-c12f-20bd9faed9f6 or MIG-...,
 * or NULL. */
static const char *uuid_in(const char *text)
{
	for (; text; text = strchr(text, ',')) {
		text += strspn(text, ", ");
		if (text_starts(text, "GPU-") || text_starts(text, "MIG-"))
			return text;
	}
	return NULL;
}

/* True for NVIDIA_VISIBLE_DEVICES in a container without a device: without the
 * variable, the image's default would expose all devices. */
static bool must_be_void(const struct container *c, const char *name)
{
	return text_eq(name, "NVIDIA_VISIBLE_DEVICES") &&
	       container_uses_gpu(c) == TRI_NO;
}

static void help(struct rule_run *run, struct finding *f,
		 const struct container *c, const char *name)
{
	if (must_be_void(c, name))
		finding_help(
			run, f,
			"Set `%s` to `void`, or request GPUs in `resources.limits`.%s",
			name, pod_infrastructure_hint(c->pod));
	else
		finding_help(
			run, f,
			"Remove `%s`, and choose a GPU model with a node label or a device with DRA.%s",
			name, pod_infrastructure_hint(c->pod));
}

/* Removes the variable, or sets it to `void`. */
static void repair(struct rule_run *run, struct finding *f,
		   const struct container *c, const char *name)
{
	const struct node *entry = container_env(c, name);
	bool hide = must_be_void(c, name);

	/* The API server rejects a value next to valueFrom. */
	if (c->pod->flat || (hide && node_get(entry, "valueFrom")))
		return;
	if (hide)
		fix_set(finding_fix(run, f, false,
				    "set `NVIDIA_VISIBLE_DEVICES: void`"),
			entry, "value", edit_string(rule_arena(run), "void"));
	else if (container_env_is_free(c, entry))
		fix_remove(finding_fix(run, f, false, "remove `%s`", name),
			   entry);
}

static struct finding *report(struct rule_run *run, const struct container *c,
			      const char *name, const struct node *at,
			      const char *text)
{
	const char *uuid = uuid_in(text);
	struct finding *f;

	if (!uuid || pod_is_trusted(c->pod))
		return NULL;
	f = report_container(
		run, c, at,
		"`%s` names the device `%.*s`, which exists on one host only",
		name, (int)strcspn(uuid, ","), uuid);
	finding_cause(run, f, name);
	help(run, f, c, name);
	return f;
}

/* Checks the variables that the command sets, except NVIDIA_VISIBLE_DEVICES,
 * because the nvidia runtime does not read those of a command. */
static void check_command(struct rule_run *run, const struct container *c)
{
	static const char *const names[] = {"CUDA_VISIBLE_DEVICES",
					    "HIP_VISIBLE_DEVICES",
					    "ROCR_VISIBLE_DEVICES", NULL};
	const struct argv argv = container_argv(c);

	for (const char *const *name = names; *name; name++)
		for (const struct arg *arg = NULL;
		     (arg = argv_assigns(&argv, *name, arg));)
			report(run, c, *name, arg->node,
			       arg->text + strlen(*name) + 1);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	static const char *const names[] = {
		"NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
		"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", NULL};

	FOR_EACH_CONTAINER_OF_ALL(pod, c) {
		check_command(run, c);
		for (const char *const *name = names; *name; name++) {
			struct env_value value = container_env_value(c, *name);
			enum visible visible = env_shows(&value);
			struct finding *f = NULL;

			if (visible == VISIBLE_SOME || visible == VISIBLE_ALL)
				f = report(run, c, *name, value.at, value.text);
			if (f)
				repair(run, f, c, *name);
		}
	}
}

const struct rule rule_gpu_uuid_pinned = {
	.name = "gpu-uuid-pinned",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.flags = RULE_TAKES | RULE_OPT_IN_PATCH | RULE_INFRASTRUCTURE,
	.summary = "a device is chosen by its UUID",
	.why = "The device exists on one host only. With NVIDIA_VISIBLE_DEVICES, the nvidia runtime cannot start the container on other hosts, and on that host it exposes the device without counting it. The other variables hide all GPUs unless that device happens to be allocated.",
	.remedy =
		"Remove the variable and request GPUs in resources.limits; the device plugin chooses the devices.",
	.evidence = "https://github.com/NVIDIA/k8s-device-plugin/issues/960",
	.check_pod = check,
};
