/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validateMultiNodeVariables.
 */
#include "base/text.h"
#include "engine/rule.h"

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
	if (node_is_unset(model))
		return;
	check_env(run, object, model);
	check_model(run, object, model);
}

const struct rule rule_kserve_multinode_gpu_mismatch = {
	.name = "kserve-multinode-gpu-mismatch",
	.category = "parallelism",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary = "a multi-node service that KServe rejects",
	.why = "KServe's webhook rejects the object.",
	.remedy =
		"Set the sizes in workerSpec, keep the model on a volume, and add the annotation serving.kserve.io/autoscalerClass: none.",
	.evidence =
		"https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/inference_service_validation.go",
	.check_object = check,
};
