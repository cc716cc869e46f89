/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports InferenceServices of KServe whose replicas each download the model.
 * KServe automatically uses a LocalModelCache whose URI is equal or a parent
 * folder (MatchStorageURI). The second pod of a rollout does not count as a
 * replica.
 */
#include "base/text.h"
#include "engine/rule.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *uri = NULL;
	struct amount most = amount_max(
		pod->steady, amount_int(node_get(pod->spec, "maxReplicas"), 0));

	if (!object_is(pod->object, "serving.kserve.io", "InferenceService") ||
	    most.unknown || most.n < 2)
		return;
	FOR_EACH_CHILD(pod->spec, block)
		if (node_is_map(block) && node_get(block, "storageUri"))
			uri = node_get(block, "storageUri");
	if (!node_str(uri) || (!text_starts(node_str(uri), "hf://") &&
			       !text_starts(node_str(uri), "s3://") &&
			       !text_starts(node_str(uri), "gs://") &&
			       !text_starts(node_str(uri), "https://")))
		return;
	if (rule_input_defines(run, DEFINED_MODEL, node_str(uri)))
		return;
	report_pod(
		run, pod, uri,
		"if no LocalModelCache has `%s`, up to %s download the model separately",
		node_str(uri), rule_count(run, most.n, "replica"));
}

const struct rule rule_storage_init_without_cache = {
	.name = "storage-init-without-cache",
	.category = "serving",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "each replica may download the model separately",
	.why = "Without a cache, every new replica downloads the model again while its GPUs wait.",
	.remedy =
		"Keep the model in a LocalModelCache or on a volume (pvc://).",
	.evidence =
		"https://kserve.github.io/website/docs/model-serving/generative-inference/modelcache/localmodel",
	.check_pod = check,
};
