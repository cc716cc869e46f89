/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports model servers that use fewer GPUs than their container has. The
 * default is one device; TGI uses all of them. KServe's presets and runtimes
 * add more flags (config-llm-template.yaml: spec.parallelism). A model is
 * divided among 2, 4 or 8 devices; another number, such as 6, is probably the
 * part of a time-sliced GPU that the server needs, so the finding is an info.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/lifecycle/lifecycle.h"

/* True for a flag and its value in one word, such as `--port 80`, which no
 * server accepts. */
static bool is_unsplit_flag(const char *text)
{
	size_t len = text && *text == '-' ? strcspn(text, " =") : 0;

	return len && text[len] == ' ';
}

/* True if the script limits a program to some of the devices, because it then
 * probably starts other programs or copies that use the others. Also true for a
 * command that no server accepts. */
static bool uses_others(const struct container *c, int64_t devices)
{
	static const char *const names[] = {
		"CUDA_VISIBLE_DEVICES=", "HIP_VISIBLE_DEVICES=",
		"ROCR_VISIBLE_DEVICES=", NULL};
	struct argv argv = container_argv(c);

	for (size_t i = 0; i < argv.n; i++)
		if (is_unsplit_flag(argv.items[i].text))
			return true;
	for (const char *const *name = names; *name; name++)
		for (size_t i = 0; i < argv.n; i++) {
			const struct arg *arg = &argv.items[i];

			if (text_starts(arg->text, *name) &&
			    (arg->unknown ||
			     device_list_size(arg->text) < devices))
				return true;
		}
	return false;
}

/* True if the devices may be parts of GPUs that the nodes share under the name
 * of whole ones. */
static bool may_be_shares(const struct container *c, int64_t devices)
{
	return text_eq(c->resource, "nvidia.com/gpu") &&
	       (devices & (devices - 1)) != 0;
}

static void check_server(struct rule_run *run, const struct container *c,
			 const struct parallel *server)
{
	const struct degree *by;
	int64_t n = parallel_devices(server, &by);
	int64_t has = container_devices(c);
	bool shares = may_be_shares(c, has);
	struct finding *f;

	/* Other Triton servers may use the other devices. */
	if (server->type != PARALLEL_SERVER || server->unknown || !n ||
	    n >= has || !strcmp(server->program, "Triton") ||
	    uses_others(c, has))
		return;
	f = report_container(run, c, by ? by->node : server->node,
			     "%s uses %s of the %s of container `%s`%s",
			     server->program, rule_number(run, n),
			     rule_count(run, has, pod_device(c->pod)),
			     container_title(c),
			     shares ? ", unless its nodes share GPUs" : "");
	if (shares)
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->object->pods_inferred || pod->object->class == KIND_RAY)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (container_devices(c) < 2 || container_is_merged(c))
			continue;
		list = container_parallel(c);
		if (list.n == 1)
			check_server(run, c, &list.items[0]);
	}
}

const struct rule rule_tensor_parallel_below_gpus = {
	.name = "tensor-parallel-below-gpus",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.summary = "a model server uses fewer GPUs than its container has",
	.why = "The other GPUs are allocated but idle as long as the pod runs.",
	.remedy =
		"Raise the tensor or data parallel size to the number of GPUs of the container, or request fewer GPUs.",
	.evidence =
		"https://docs.vllm.ai/en/latest/serving/parallelism_scaling/; https://docs.sglang.ai/advanced_features/server_arguments.html",
	.check_pod = check,
};
