/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InferenceServices and LLMInferenceServices that KServe rejects: v0.20.0
 * pkg/apis/serving/v1beta1/{inference_service_validation,component,predictor,
 * predictor_custom}.go, v1alpha{1,2}/llm_inference_service_validation.go,
 * compared with v0.13 to v0.19. Checks that depend on the default deployment
 * mode or the GPU types of the cluster's configuration are left out.
 */
#include "engine/rule.h"

#define SERVICE	  "serving.kserve.io/InferenceService:spec"
#define PREDICTOR "serving.kserve.io/InferenceService:spec.predictor"
#define COMPONENTS                                                             \
	PREDICTOR " serving.kserve.io/InferenceService:spec.transformer"       \
		  " serving.kserve.io/InferenceService:spec.explainer"
#define FRAMEWORKS                                                             \
	"['xgboost', 'pytorch', 'triton', 'sklearn', 'tensorflow', 'onnx',"    \
	" 'pmml', 'lightgbm', 'paddle', 'huggingface', 'model']"
#define SET(key)    "self[?" key "].orValue(null) != null"
#define NOTE(key)   "object.metadata.?annotations[?'serving.kserve.io/" key "']"
#define CLASS	    NOTE("autoscalerClass")
#define MODEL_ENV   "self.model.?env.orValue([])"
#define WORKERS	    "self.?workerSpec.orValue(null) == null || "
#define NO_MODEL    WORKERS "self.?model.orValue(null) == null || "
#define LLM_SERVICE "serving.kserve.io/LLMInferenceService:spec"
#define LLM	    LLM_SERVICE " " LLM_SERVICE ".prefill"
#define PIPELINE    "self.?parallelism.pipeline.orValue(0) > 0"
#define DATA                                                                   \
	"self.?parallelism.data.orValue(0) > 0 ||"                             \
	" self.?parallelism.dataLocal.orValue(0) > 0"
#define VARIABLE "matches('[$<{]')"
#define NO_KNATIVE                                                             \
	"!(" NOTE("deploymentMode") ".orValue('') in"                          \
				    " ['Standard', 'RawDeployment']) || "
#define HPA NO_KNATIVE CLASS ".orValue('') != 'hpa' || "

static const struct rejection items[] = {
	REJECTION("name", "serving.kserve.io/InferenceService", "metadata.name",
		  "self.metadata.name.matches('[$<{]|^[a-z]([-a-z0-9]*"
		  "[a-z0-9])?$')",
		  "'the name is not a DNS-1035 label'"),
	REJECTION("autoscaler-class", "serving.kserve.io/InferenceService",
		  "metadata.annotations[serving.kserve.io/autoscalerClass]",
		  CLASS ".orValue('hpa') in ['hpa', 'keda', 'external', 'none']"
			" || " CLASS ".orValue('')." VARIABLE,
		  "'the annotation autoscalerClass is not hpa, keda, external"
		  " or none'"),
	REJECTION("min-replicas", COMPONENTS, "minReplicas",
		  "self.minReplicas >= 0", "'`minReplicas` is negative'"),
	REJECTION("max-replicas", COMPONENTS, "maxReplicas",
		  "self.maxReplicas >= 0", "'`maxReplicas` is negative'"),
	REJECTION(
		"replicas", COMPONENTS, "minReplicas",
		"!has(self.minReplicas) || self.minReplicas <= self.maxReplicas ||"
		" self.maxReplicas <= 0",
		"'`minReplicas` is above `maxReplicas`'"),
	REJECTION("concurrency", COMPONENTS, "containerConcurrency",
		  "self.containerConcurrency >= 0",
		  "'`containerConcurrency` is negative'"),
	REJECTION("logger-mode", COMPONENTS, "logger.mode",
		  "self.logger.mode in ['all', 'request', 'response'] ||"
		  " self.logger.mode." VARIABLE,
		  "'`mode` of the logger is not all, request or response'"),
	REJECTION("frameworks", SERVICE, "predictor",
		  FRAMEWORKS ".filter(k, self.predictor[?k].orValue(null) !="
			     " null).size() + (self.predictor.?containers"
			     ".orValue([]).exists(c, c.name =="
			     " 'kserve-container') ? 1 : 0) <= 1",
		  "'the predictor has two frameworks, or one beside"
		  " `kserve-container`'"),
	REJECTION("no-framework", SERVICE, "predictor",
		  FRAMEWORKS ".exists(k, self.predictor[?k].orValue(null) !="
			     " null) ||"
			     " self.predictor.?containers.orValue([]).size()"
			     " > 0",
		  "'the predictor has neither a model nor a container'"),
	REJECTION("no-transformer", SERVICE, "transformer",
		  "!has(self.transformer) ||"
		  " self.transformer.?containers.orValue([]).size() > 0",
		  "'the transformer has no container'"),
	REJECTION("no-explainer", SERVICE, "explainer",
		  "!has(self.explainer) || has(self.explainer.art) ||"
		  " self.explainer.?containers.orValue([]).size() > 0",
		  "'the explainer has no container'"),
	/* KServe renames the first container. */
	REJECTION(
		"protocol", PREDICTOR, "containers",
		"!has(self.containers) || self.containers.size() == 0 || " FRAMEWORKS
		".exists(k, " SET(
			"k") ") || self.containers[0].?env"
			     ".orValue([]).filter(e, e.name == 'PROTOCOL').all(e,"
			     " e.?value.orValue('').matches('^v[12]$|[$<{]'))",
		"'the variable PROTOCOL of the predictor is neither v1 nor"
		" v2'"),
	REJECTION("model-name", PREDICTOR, NULL,
		  FRAMEWORKS ".all(k, self[?k].name.orValue('') == '')",
		  "'the model of the predictor has a `name`'", .since = "0.16"),
	/* The controller reports this and creates no pods
	 * (components/predictor.go, RuntimeSupportsModel). */
	REJECTION("runtime-format", PREDICTOR, "model.modelFormat",
		  "!self.?model.modelFormat.hasValue() ||"
		  " !self.?model.runtime.hasValue() ||"
		  " runtime.spec.supportedModelFormats.exists(f, f.name =="
		  " self.model.modelFormat.name &&"
		  " (!has(self.model.modelFormat.version) ||"
		  " f.?version.orValue('') =="
		  " self.model.modelFormat.version))",
		  "'the runtime does not support the model format `' +"
		  " self.model.modelFormat.name +"
		  " (has(self.model.modelFormat.version) ? ' ' +"
		  " self.model.modelFormat.version : '') + '`'"),
	REJECTION("storage-both", PREDICTOR, "storageUris",
		  "!has(self.storageUris) || "
		  "!" FRAMEWORKS ".exists(k, self[?k].storageUri.hasValue())",
		  "'`storageUris` and `storageUri` are both set'",
		  .since = "0.16"),
	REJECTION("storage-path", COMPONENTS, "mountPath",
		  "self.mountPath." VARIABLE " || (self.mountPath.startsWith("
		  "'/') && self.mountPath != '/' &&"
		  " !self.mountPath.contains('..'))",
		  "'`mountPath` is not an absolute path below the root'",
		  .each = "storageUris", .since = "0.16"),
	REJECTION("storage-uri", COMPONENTS, "uri", "self.uri != ''",
		  "'`uri` is empty'", .each = "storageUris", .since = "0.16"),
	REJECTION(
		"transformer-storage", PREDICTOR, "containers",
		"self.containers.filter(c, c.name == 'transformer-container')"
		".size() > 1 || !self.containers.exists(i, c, (i > 0 || " FRAMEWORKS
		".exists(k, " SET(
			"k") ")) && c.name =="
			     " 'transformer-container' && c.?env.orValue([]).exists(e,"
			     " e.name == 'STORAGE_URI'))",
		"'STORAGE_URI is set in the transformer beside the"
		" predictor'"),
	REJECTION(
		"python-path", COMPONENTS, NULL,
		"!(self.?containers.orValue([]) +"
		" self.?initContainers.orValue([]) +"
		" self.?workerSpec.containers.orValue([]) +"
		" self.?workerSpec.initContainers.orValue([]) + " FRAMEWORKS
		".filter(k, " SET(
			"k") ").map(k, self[k])).exists(c,"
			     " c.?env.orValue([]).exists(e, e.name == 'PYTHONPATH'))",
		"'PYTHONPATH is set'", .since = "0.18"),

	/* Several nodes. */
	REJECTION("worker-containers", PREDICTOR, "workerSpec.containers",
		  "self.workerSpec.containers.size() <= 1",
		  "'`workerSpec` has two containers'", .since = "0.15"),
	REJECTION("worker-sizes", PREDICTOR, "model.env",
		  "!self.?model.env.hasValue() || " NO_MODEL "!" MODEL_ENV
		  ".exists(e, e.name in"
		  " ['PIPELINE_PARALLEL_SIZE',"
		  " 'TENSOR_PARALLEL_SIZE'])",
		  "'`env` sets a parallel size, which `workerSpec` sets'",
		  .since = "0.15"),
	REJECTION("worker-storage", PREDICTOR, "model.storageUri",
		  "!self.?model.storageUri.hasValue() || " NO_MODEL
		  "self.model.storageUri.matches('[$<{]|^(pvc|oci)"
		  "(://.*)?$')",
		  "'`storageUri` of a model on several nodes names neither a"
		  " claim nor an image'",
		  .since = "0.15"),
	REJECTION("worker-storage-missing", PREDICTOR, "workerSpec",
		  NO_MODEL "self.model.?storageUri.hasValue()",
		  "'`workerSpec` is set and the model has no `storageUri`'",
		  .since = "0.15"),
	REJECTION("worker-scaler", PREDICTOR, "workerSpec",
		  NO_MODEL CLASS ".orValue('') in ['none', 'external'] ||"
				 " " CLASS ".orValue('')." VARIABLE,
		  "'`workerSpec` is set and the annotation autoscalerClass is"
		  " not none'",
		  .since = "0.15"),
	/* 0.15.0 required external, and 0.15.1 none. */
	REJECTION("worker-scaler-external", PREDICTOR, "workerSpec",
		  NO_MODEL CLASS ".orValue('') != 'external'",
		  "'`workerSpec` is set and the annotation autoscalerClass is"
		  " not none'",
		  .since = "0.16"),
	REJECTION("worker-pipeline", PREDICTOR,
		  "workerSpec.pipelineParallelSize",
		  "self.workerSpec.pipelineParallelSize >= 1",
		  "'`pipelineParallelSize` is not positive'", .since = "0.15"),
	REJECTION("worker-tensor", PREDICTOR, "workerSpec.tensorParallelSize",
		  "self.workerSpec.tensorParallelSize >= 1",
		  "'`tensorParallelSize` is not positive'", .since = "0.15"),

	/* Scaling without Knative. */
	REJECTION("hpa-metric", COMPONENTS, "scaleMetric",
		  "!has(self.scaleMetric) || " HPA
		  "self.scaleMetric in ['cpu', 'memory']",
		  "'`scaleMetric` is not cpu or memory'", .since = "0.16"),
	REJECTION("hpa-target", COMPONENTS, "scaleTarget",
		  "!has(self.scaleTarget) || " HPA
		  "(self.scaleTarget <= 100 && (self.scaleTarget >= 1 ||"
		  " !(self.?scaleMetric.orValue('cpu') in"
		  " ['cpu', 'memory'])))",
		  "'`scaleTarget` is not between 1 and 100'", .since = "0.16"),
	REJECTION("hpa-source", COMPONENTS, "type",
		  "!has(self.type) || " HPA "self.type == 'Resource'",
		  "'`type` of a metric is not Resource'",
		  .each = "autoScaling.metrics", .since = "0.16"),
	REJECTION("metric-resource", COMPONENTS, "type",
		  "!has(self.type) || " NO_KNATIVE "!(" CLASS
		  ".orValue('') in ['hpa', 'keda']) ||"
		  " self.type != 'Resource' || has(self.resource)",
		  "'a metric of type Resource has no `resource`'",
		  .each = "autoScaling.metrics", .since = "0.16"),
	REJECTION("keda-metric", COMPONENTS, "scaleMetric",
		  "!has(self.scaleMetric) || " NO_KNATIVE CLASS
		  ".orValue('') != 'keda'",
		  "'`scaleMetric` is set and autoscalerClass is keda'",
		  .since = "0.16"),

	REJECTION("confidential-uri", PREDICTOR, NULL,
		  FRAMEWORKS ".all(k, !self[?k].confidential.enabled"
			     ".orValue(false) ||"
			     " self[?k].storageUri.orValue('') != '')",
		  "'`confidential` is set without `storageUri`'",
		  .since = "0.20"),
	REJECTION("confidential-id", PREDICTOR, NULL,
		  FRAMEWORKS ".all(k, !self[?k].confidential.enabled"
			     ".orValue(false) || self[?k].confidential"
			     ".resourceId.orValue('')"
			     ".matches('^$|[$<{]|^kbs://"
			     "(/[a-zA-Z0-9_.-]+){3}$'))",
		  "'`resourceId` is not a name such as"
		  " `kbs:///repo/type/tag`'",
		  .since = "0.20"),

	/* Canaries. */
	REJECTION("canary-stable", SERVICE, "canary",
		  "!has(self.canary) || self.canary.size() == 0 ||"
		  " " FRAMEWORKS ".exists(k, self.?predictor[k].orValue(null)"
		  " != null) || self.predictor.?containers.orValue([])"
		  ".exists(c, c.?env.orValue([]).exists(e, e.name =="
		  " 'STORAGE_URI'))",
		  "'`canary` is set and the predictor has no model'",
		  .since = "0.20"),
	REJECTION("canary-name", SERVICE, "predictor",
		  "self.predictor.?name.orValue('') != ''",
		  "'the predictor of a canary has no `name`'", .each = "canary",
		  .since = "0.20"),
	REJECTION("canary-traffic", SERVICE, "trafficPercent",
		  "self.trafficPercent >= 0 && self.trafficPercent <= 100",
		  "'`trafficPercent` is not between 0 and 100'",
		  .each = "canary", .since = "0.20"),
	REJECTION("canary-scaling", SERVICE, "predictor",
		  "self.predictor.?maxReplicas.orValue(0) <= 0 &&"
		  " ['scaleTarget', 'scaleMetric', 'autoScaling',"
		  " 'workerSpec'].all(k, self.predictor[?k].orValue(null) =="
		  " null)",
		  "'a canary has several nodes or bounds of scaling'",
		  .each = "canary", .since = "0.20"),
	/* Without the annotation, the cluster's configuration decides. */
	REJECTION("canary-mode", SERVICE, "canary",
		  "!has(self.canary) || self.canary.size() == 0 || " NOTE(
			  "deploymentMode") ".orValue('Standard').matches('^("
					    "Standard|RawDeployment)$|[$<{]')",
		  "'`canary` is set and deploymentMode is not Standard'",
		  .since = "0.20"),
	REJECTION("canary-twice", SERVICE, "canary",
		  "!has(self.canary) || self.canary.all(i, a,"
		  " a.predictor.?name.orValue('') !="
		  " self.?predictor.name.orValue('-') && !self.canary.exists(k,"
		  " b, k < i && a.predictor.?name.orValue('') =="
		  " b.predictor.?name.orValue('')))",
		  "'two predictors have the same name'", .since = "0.20"),
	REJECTION("canary-sum", SERVICE, "canary",
		  "self.canary.map(c, int(c.?trafficPercent.orValue(0))).sum()"
		  " <= 100",
		  "'the canaries get more than 100 % of the traffic'",
		  .since = "0.20"),
	REJECTION("canary-replicas", SERVICE, "predictor.minReplicas",
		  "!self.?predictor.minReplicas.hasValue() ||"
		  " self.predictor.minReplicas <="
		  " owner.?predictor.minReplicas.orValue(1)",
		  "'a canary has more `minReplicas` than the predictor'",
		  .each = "canary", .since = "0.20"),

	/* LLMInferenceServices. */
	REJECTION("llm-worker", LLM, "worker",
		  "!has(self.worker) || " PIPELINE " || " DATA,
		  "'`worker` is set without pipeline or data parallelism'",
		  .since = "0.17"),
	REJECTION("llm-pipeline-and-data", LLM, "parallelism",
		  "!(" PIPELINE ") || !(" DATA ")",
		  "'`parallelism` is both pipeline and data parallelism'",
		  .since = "0.17"),
	REJECTION(
		"llm-data-local", LLM, "parallelism",
		"!has(self.parallelism) ||"
		" has(self.parallelism.data) == has(self.parallelism.dataLocal)",
		"'one of `data` and `dataLocal` is set without the other'",
		.since = "0.17"),
	REJECTION("llm-pipeline", LLM, "parallelism.pipeline",
		  "self.parallelism.pipeline > 0",
		  "'`pipeline` is not positive'", .since = "0.17"),
	REJECTION("llm-data", LLM, "parallelism.data",
		  "self.parallelism.data > 0", "'`data` is not positive'",
		  .since = "0.17"),
	REJECTION("llm-scheduler", LLM_SERVICE, "router.scheduler.replicas",
		  "self.router.scheduler.replicas > 0",
		  "'`replicas` of the scheduler is not positive'",
		  .since = "0.17"),
	REJECTION(
		"llm-scheduler-config", LLM_SERVICE, "router.scheduler.config",
		"!self.?router.scheduler.config.hasValue() ||"
		" has(self.router.scheduler.config.inline) !="
		" has(self.router.scheduler.config.ref)",
		"'`config` of the scheduler does not have exactly one of `inline` and"
		" `ref`'",
		.since = "0.17"),
	REJECTION("llm-scaling", LLM, "scaling",
		  "!has(self.scaling) || !has(self.replicas)",
		  "'`scaling` and `replicas` are both set'", .since = "0.17"),
	REJECTION("llm-scaling-bounds", LLM, "scaling.minReplicas",
		  "!self.?scaling.minReplicas.hasValue() ||"
		  " self.scaling.minReplicas <= self.scaling.maxReplicas",
		  "'`minReplicas` is above `maxReplicas`'", .since = "0.17"),
	REJECTION("llm-scaler", LLM, "scaling",
		  "!has(self.scaling) || (has(self.scaling.wva) &&"
		  " has(self.scaling.wva.hpa) != has(self.scaling.wva.keda))",
		  "'`scaling` does not have exactly one of `hpa` and `keda`'",
		  .since = "0.17"),
	REJECTION("llm-inline", LLM_SERVICE, "router.scheduler.config.inline",
		  "self.router.scheduler.config.inline.size() > 0",
		  "'`inline` of the scheduler is empty'", .since = "0.17"),
	REJECTION("llm-route", LLM_SERVICE, "router.route.http.refs",
		  "!self.?router.route.http.refs.hasValue() ||"
		  " self.router.route.http.refs.size() == 0 ||"
		  " !has(self.router.route.http.spec)",
		  "'`refs` and `spec` of the route are both set'",
		  .since = "0.17"),
	REJECTION("llm-gateway", LLM_SERVICE, "router.route.http.refs",
		  "!self.?router.route.http.refs.hasValue() ||"
		  " self.router.route.http.refs.size() == 0 ||"
		  " !has(self.router.gateway) || self.router.gateway.?refs"
		  ".orValue([]).size() > 0",
		  "'the route has `refs` and its gateway none'",
		  .since = "0.17"),
	{0},
};

const struct rejections kserve_rejections = {
	.by = "KServe",
	.group = "serving.kserve.io",
	.items = items,
	.versions = "0.13 to 0.20",
	.component = OPERATOR_KSERVE,
};
