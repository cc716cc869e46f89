/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports multi-node services that KServe does not start because they request
 * too few GPUs, and an LLMInferenceService whose sizes need workers that it
 * does not have. KServe's webhook accepts these objects; kserve-rejects reports
 * those that it rejects. Source: computeRayNodeAndGPUs (predictor.go), which a
 * runtime with the backend `mp` does not use.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"

/* Returns the number of GPUs that the container requests itself; 0 if the
 * runtime decides. */
static int64_t requested_gpus(const struct node *container)
{
	struct quantity q;

	FOR_EACH_CHILD(node_path(container, "resources.requests"), value)
		if (text_ends(value->key, "/gpu") &&
		    node_quantity(value, &q) == QUANTITY_OK)
			return quantity_value(q);
	return 0;
}

static void check_gpus(struct rule_run *run, const struct object *object,
		       const struct node *worker, const struct node *model)
{
	struct amount size = amount_mul(
		amount_int(node_get(worker, "tensorParallelSize"), 1),
		amount_int(node_get(worker, "pipelineParallelSize"), 1));
	int64_t head = requested_gpus(model), others;
	int64_t each =
		requested_gpus(node_at(node_get(worker, "containers"), 0));

	if (size.unknown || head < 1 || each < 1 || size.n < 1)
		return;
	others = each * ((size.n - 1) / each);
	if (size.n > head + others)
		report_object(
			run, object, node_get(model, "resources"),
			"tensor x pipeline parallelism is %s, but the head requests %s and the workers %s: unless its runtime uses the backend `mp`, KServe creates no pods",
			rule_number(run, size.n), rule_number(run, head),
			rule_count(run, others, "GPU"));
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *predictor, *worker, *model;

	if (!object_is(object, "serving.kserve.io", "InferenceService") ||
	    object->fragment)
		return;
	predictor = node_path(object->root, "spec.predictor");
	worker = node_get(predictor, "workerSpec");
	model = node_get(predictor, "model");
	if (!node_is_unset(worker) && !node_is_unset(model))
		check_gpus(run, object, worker, model);
}

/* True if the container runs the command of the presets, and its words set no
 * other parallelism. */
static bool runs_preset(const struct container *c)
{
	return text_eq(c->name, "main") &&
	       node_is_unset(node_get(c->node, "command")) &&
	       !container_says(c, "-parallel") &&
	       !container_env(c, "VLLM_ADDITIONAL_ARGS");
}

/*
 * Reports sizes over several pods of an LLMInferenceService without a
 * `worker`: KServe then uses the preset for one pod, which passes neither
 * size to vLLM (v1alpha2/llmisvc/config_merge.go; config/llmisvcconfig, 0.16 to
 * 0.20 and aaac4e29).
 */
static void check_llm(struct rule_run *run, const struct pod *pod)
{
	static const char *const sizes[] = {"pipeline", "data", NULL};
	const struct node *parallelism = node_get(pod->group, "parallelism");
	int64_t n;

	if (!object_is(pod->object, "serving.kserve.io",
		       "LLMInferenceService") ||
	    pod->object->fragment ||
	    !node_is_unset(node_path(pod->object->root, "spec.baseRefs")) ||
	    !node_is_unset(node_get(pod->group, "worker")))
		return;
	FOR_EACH_CONTAINER(pod, c)
		for (const char *const *size = sizes; *size; size++) {
			const struct node *at = node_get(parallelism, *size);

			if (!runs_preset(c) || !node_int(at, &n) || n < 2)
				continue;
			report_pod(
				run, pod, at,
				"`%s: %s` has no effect without `worker`: KServe runs each copy of the model in one pod",
				*size, rule_number(run, n));
		}
}

const struct rule rule_kserve_multinode_gpu_mismatch = {
	.name = "kserve-multinode-gpu-mismatch",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.summary =
		"a multi-node service that KServe does not start, or starts in one pod",
	.why = "KServe's controller creates no pods for the object, or the model gets the GPUs of one pod.",
	.remedy =
		"Request as many GPUs as the sizes in workerSpec need. In an LLMInferenceService, add `worker`, or use `tensor` for the GPUs of one pod.",
	.evidence =
		"https://github.com/kserve/kserve/blob/v0.20.0/pkg/controller/v1beta1/inferenceservice/components/predictor.go",
	.check_object = check,
	.check_pod = check_llm,
};
