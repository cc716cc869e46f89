/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports multi-node services that KServe rejects because of their containers,
 * variables, parallel sizes, model storage or autoscaler class, or does not
 * start because they request too few GPUs, and an LLMInferenceService whose
 * sizes need workers that it does not have. Sources:
 * validateMultiNodeVariables; computeRayNodeAndGPUs (predictor.go), which a
 * runtime with the backend `mp` does not use.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"

static const char class_key[] = "serving.kserve.io/autoscalerClass";

static void check_env(struct rule_run *run, const struct object *object,
		      const struct node *model)
{
	FOR_EACH_CHILD(node_get(model, "env"), entry) {
		const struct node *name = node_get(entry, "name");

		if (node_eq(name, "TENSOR_PARALLEL_SIZE") ||
		    node_eq(name, "PIPELINE_PARALLEL_SIZE"))
			report_object(
				run, object, name,
				"KServe rejects `%s` together with workerSpec, which has a field for it",
				node_str(name));
	}
}

static void check_model(struct rule_run *run, const struct object *object,
			const struct node *model)
{
	const struct node *uri = node_get(model, "storageUri");
	const char *text = node_str(uri);
	const struct node *class = object_annotation(object, class_key);

	if (node_is_unset(uri) && node_is_unset(node_get(model, "storage")) &&
	    node_is_unset(node_get(model->parent, "storageUris")))
		report_object(
			run, object, model,
			"KServe rejects a multi-node service whose model has no storage (`storageUri`)");
	if (text && !text_starts(text, "pvc://") &&
	    !text_starts(text, "oci://"))
		report_object(
			run, object, uri,
			"KServe loads multi-node models only from pvc:// and oci://, not from `%s`",
			text);
	if (!node_eq(class, "none") && !node_is_unknown(class))
		report_object(
			run, object, class ? class : model,
			"KServe rejects a multi-node service without the annotation `%s: none`",
			class_key);
}

static void check_sizes(struct rule_run *run, const struct object *object,
			const struct node *worker)
{
	static const char *const sizes[] = {"pipelineParallelSize",
					    "tensorParallelSize", NULL};
	int64_t n;

	for (const char *const *size = sizes; *size; size++)
		if (node_int(node_get(worker, *size), &n) && n < 1)
			report_object(
				run, object, node_get(worker, *size),
				"KServe rejects `%s: %s`: it must be at least 1",
				*size, rule_number(run, n));
}

/* Returns the number of GPUs that the container requests itself; 0 if it
 * requests none, so that the runtime's number counts. */
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
		finding_severity(
			report_object(
				run, object, node_get(model, "resources"),
				"tensor x pipeline parallelism is %s, but the head requests %s and the workers %s: unless the runtime uses the backend `mp`, KServe creates no pods",
				rule_number(run, size.n),
				rule_number(run, head),
				rule_count(run, others, "GPU")),
			SEVERITY_WARNING);
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
	if (node_is_unset(worker))
		return;
	if (node_count(node_get(worker, "containers")) > 1)
		report_object(
			run, object, node_get(worker, "containers"),
			"KServe rejects more than one container in workerSpec");
	check_sizes(run, object, worker);
	if (node_is_unset(model))
		return;
	check_env(run, object, model);
	check_model(run, object, model);
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
 * `worker`: KServe then uses the preset for one pod, which passes neither of
 * them to vLLM (v1alpha2/llmisvc/config_merge.go; config/llmisvcconfig, 0.16 to
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
			finding_severity(
				report_pod(
					run, pod, at,
					"`%s: %s` has no effect without `worker`: KServe runs each copy of the model in one pod",
					*size, rule_number(run, n)),
				SEVERITY_WARNING);
		}
}

const struct rule rule_kserve_multinode_gpu_mismatch = {
	.name = "kserve-multinode-gpu-mismatch",
	.category = "parallelism",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary =
		"a multi-node service that KServe rejects, does not start, or starts in one pod",
	.why = "KServe's webhook rejects the object, its controller creates no pods for it, or the model gets the GPUs of one pod.",
	.remedy =
		"Set the parallel sizes in workerSpec, which has one container, and request as many GPUs as their product. Load the model from pvc:// or oci://, and add the annotation serving.kserve.io/autoscalerClass: none. In an LLMInferenceService, add `worker`, or use `tensor` for the GPUs of one pod.",
	.evidence =
		"https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/inference_service_validation.go",
	.check_object = check,
	.check_pod = check_llm,
};
