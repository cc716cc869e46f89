/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports values of CUDA_VISIBLE_DEVICES, and on AMD GPUs also of
 * HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES, that hide devices of the
 * container. If the variable is not set, all devices are visible. Otherwise it
 * is a list of UUIDs, or of ordinals that start at 0 in every container, and
 * the devices after the first invalid entry are hidden: with two GPUs, `all`,
 * `2,3` and an empty value hide all of them. An invalid entry after all devices
 * of the container hides none and is an info. CUDA reads the digits that an
 * entry starts with (pytorch v2.9.0 torch/cuda/__init__.py,
 * _parse_visible_devices), so that `0-3` hides nothing if there is one device;
 * HIP reads no such entry (clr rocclr, parseRequestedDeviceList()). HIP also
 * reads CUDA_VISIBLE_DEVICES. Programs for devices of other vendors read none
 * of the variables (JAX on TPUs runs with CUDA_VISIBLE_DEVICES empty).
 *
 * Source: CUDA programming guide; ROCm, GPU isolation techniques.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/purpose/purpose.h"

/* Removes the variable if it is `all` or `any`: without it, all devices of the
 * container are visible, which is the meaning of these values. */
static void repair(struct rule_run *run, struct finding *f,
		   const struct container *c, const char *name)
{
	const struct node *entry = container_env(c, name);
	const struct node *value = node_get(entry, "value");

	if (!c->pod->flat && container_env_is_free(c, entry) &&
	    (node_eq(value, "all") || node_eq(value, "any"))) {
		struct fix *fix =
			finding_fix(run, f, true, "remove `%s`", name);

		fix_replaces(fix); /* the old value names no device */
		fix_remove(fix, entry);
	}
}

/* True if the entries that begin before end name all n devices. */
static bool covers_all(const char *text, const char *end, int64_t n)
{
	uint64_t seen = 0;

	for (; text < end; text += strcspn(text, ",") + 1) {
		long ordinal = strtol(text, NULL, 10);

		if (ordinal >= 0 && ordinal < n && ordinal < 64)
			seen |= UINT64_C(1) << ordinal;
	}
	return n > 0 && n < 64 && seen == (UINT64_C(1) << n) - 1;
}

static void report_surplus(struct rule_run *run, const struct container *c,
			   const char *name, const struct node *at,
			   const char *bad)
{
	struct finding *f = report_container(
		run, c, at,
		"`%s` lists `%.*s` after all %s of container `%s`: this entry and the rest are ignored",
		name, (int)strcspn(bad, ","), bad,
		rule_count(run, c->gpus.n, "device"), container_title(c));

	finding_severity(f, SEVERITY_INFO);
}

/* Reports a list with an invalid entry. Returns NULL if all entries are valid,
 * and also if the invalid one hides no device, which is an info without
 * help. */
static struct finding *report_list(struct rule_run *run,
				   const struct container *c, const char *name,
				   const struct node *at, const char *text)
{
	int64_t n = c->gpus.unknown ? 0 : c->gpus.n;
	const char *bad = device_list_fault(text, n);
	struct finding *f;

	if (!bad)
		return NULL;
	if (covers_all(text, bad, n)) {
		report_surplus(run, c, name, at, bad);
		return NULL;
	}
	if (isdigit((unsigned char)*bad) && strtol(bad, NULL, 10) >= n)
		return report_container(
			run, c, at,
			"`%s` names device %ld, but container `%s` has only %s (numbered from 0), so this entry and the rest are ignored",
			name, strtol(bad, NULL, 10), container_title(c),
			rule_count(run, n, "device"));
	if (isdigit((unsigned char)*bad)) {
		f = report_container(
			run, c, at,
			"`%s: %s` is not a list of device numbers: its entry `%.*s` names at most device %ld",
			name, text, (int)strcspn(bad, ","), bad,
			strtol(bad, NULL, 10));
		if (text_eq(c->accelerator->vendor, "nvidia") &&
		    covers_all(text, bad + 1, n))
			finding_severity(f, SEVERITY_INFO);
		return f;
	}
	return report_container(
		run, c, at,
		"`%s: %s` is not a list of device numbers, so %s visible", name,
		text,
		memchr(text, ',', (size_t)(bad - text))
			? "only the devices before the invalid entry are"
			: "no GPU is");
}

static void explain(struct rule_run *run, struct finding *f,
		    const struct container *c, const char *name)
{
	finding_help(
		run, f,
		"Remove `%s`: without it, the container sees the devices allocated to it.",
		name);
	if (!c->gpus.unknown && c->gpus.n)
		finding_label(run, f,
			      node_get(container_limits(c), c->resource),
			      "the requested devices");
}

/* Checks the values that the command sets. A value that does not begin with a
 * digit, such as an empty one, may be meant for one program, and a script with
 * conditions may choose between values. */
static void check_command(struct rule_run *run, const struct container *c,
			  const char *name)
{
	const struct argv argv = container_argv(c);

	for (const struct arg *arg = NULL;
	     (arg = argv_assigns(&argv, name, arg));) {
		const char *text = arg->text + strlen(name) + 1;
		struct finding *f =
			isdigit((unsigned char)*text) &&
					!container_may_choose(c)
				? report_list(run, c, name, arg->node, text)
				: NULL;

		if (f)
			explain(run, f, c, name);
	}
}

static void check_variable(struct rule_run *run, const struct container *c,
			   const char *name)
{
	struct env_value value;
	struct finding *f;

	check_command(run, c, name);
	switch (container_visible(c, name, &value)) {
	case VISIBLE_UNSET:
	case VISIBLE_UNKNOWN:
		return;
	case VISIBLE_NONE:
		f = report_container(
			run, c, value.at,
			"`%s` hides the devices that container `%s` requests",
			name, container_title(c));
		break;
	default:
		f = report_list(run, c, name, value.at, value.text);
		if (!f)
			return;
	}
	explain(run, f, c, name);
	repair(run, f, c, name);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		bool amd;

		if (c->gpus.n < 1 || !accelerator_counts(c->accelerator))
			continue;
		amd = text_eq(c->accelerator->vendor, "amd");
		if (amd || text_eq(c->accelerator->vendor, "nvidia"))
			check_variable(run, c, "CUDA_VISIBLE_DEVICES");
		if (amd) {
			check_variable(run, c, "HIP_VISIBLE_DEVICES");
			check_variable(run, c, "ROCR_VISIBLE_DEVICES");
		}
	}
}

const struct rule rule_cuda_visible_devices_invalid = {
	.name = "cuda-visible-devices-invalid",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.flags = RULE_SAFE_PATCH,
	.summary =
		"CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES hides requested devices, or has invalid entries",
	.why = "The list of visible devices ends at the first invalid entry, so the program sees fewer GPUs than are allocated to it, or none. If that entry comes after all of them, the finding is an info.",
	.remedy =
		"Remove the variable. Inside a container, devices are numbered from 0.",
	.evidence =
		"https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables; https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html",
	.check_pod = check,
};
