/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KServe's InferenceService and LLMInferenceService: numbers and devices of
 * their pods, the runtimes on which they are based, fields that the controller
 * adds, and settings of vLLM. The controller creates the pods of a multi-node
 * component from its parallelism.
 *
 * Sources, read 2026-08: KServe predictor.go (computeRayNodeAndGPUs),
 * types_func.go, the serving runtimes that it ships.
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "base/text.h"
#include "kube/runtime.h"

/* -- counts --------------------------------------------------------------- */

COUNT_FORMULA(kserve)
{
	return amount_field(at, "minReplicas", 1);
}

/* Adds the surge of a rollout: Deployments in raw mode have maxSurge, and all
 * pods of multi-node components run twice, unless the component's
 * deploymentStrategy is Recreate (KServe 0.20 deployment_reconciler.go,
 * createRawDefaultDeployment, createRawWorkerDeployment). */
static struct amount kserve_surge(const struct count_place *place,
				  const struct node *component, struct amount n)
{
	const struct node *mode = object_annotation(
		place->object, "serving.kserve.io/deploymentMode");
	const struct node *strategy = node_get(component, "deploymentStrategy");
	const struct node *surge =
		node_path(strategy, "rollingUpdate.maxSurge");

	if (node_eq(node_get(strategy, "type"), "Recreate"))
		return n;
	if (field_is_set(component, "workerSpec"))
		return amount_mul(n, amount_of(2));
	if (!node_eq(mode, "RawDeployment") && !node_eq(mode, "Standard"))
		return n;
	return amount_add(n, amount_share(surge, n, 25));
}

COUNT_FORMULA(kserve_max)
{
	struct amount least = amount_field(at, "minReplicas", 1);

	/* maxReplicas 0 (the default) means no limit in Knative mode, and
	 * minReplicas otherwise: use the written values. */
	least = amount_max(least, amount_field(at, "maxReplicas", least.n));
	/* Scaling to zero is temporary, so at least one pod counts. */
	least = amount_max(least, amount_of(1));
	return kserve_surge(place, at, least);
}

/* Number of nodes of a multi-node component, and GPUs per node. */
struct kserve_nodes {
	struct amount nodes, head_gpus, worker_gpus;
};

/* Returns the GPUs that a container requests, of the types that KServe
 * knows. */
static struct amount kserve_gpus(const struct node *container)
{
	const struct node *resources = node_get(container, "resources");
	const struct node *map = node_get(resources, "limits");
	struct amount sum = {0};

	if (!node_count(map))
		map = node_get(resources, "requests");
	FOR_EACH_CHILD(map, value) {
		struct quantity q;

		if (!text_ends(value->key, "/gpu") &&
		    !text_starts(value->key, "nvidia.com/mig") &&
		    !text_ends(value->key, "/gaudi"))
			continue;
		if (node_quantity(value, &q) == QUANTITY_OK && q.nano >= 0)
			sum = amount_add(sum, amount_of(quantity_value(q)));
		else
			sum.unknown = true;
	}
	return sum;
}

/*
 * Returns the devices of the head pod. Its model server is a separate field, or
 * in the list of containers.
 */
static struct amount kserve_head_gpus(const struct node *component)
{
	struct amount sum =
		kserve_gpus(node_at(node_get(component, "containers"), 0));

	FOR_EACH_CHILD(component, block)
		if (node_is_map(block) &&
		    !field_is_set(component, "containers"))
			sum = amount_add(sum, kserve_gpus(block));
	return sum;
}

/*
 * Computes the nodes of a multi-node component from tensor x pipeline
 * parallelism, as computeRayNodeAndGPUs() in predictor.go does: it is divided
 * by the GPUs of a worker (1 if it requests none), and the head gets the
 * remainder. The runtime, which may change this, is not read here.
 */
static struct kserve_nodes kserve_nodes(const struct node *component)
{
	const struct node *worker = node_get(component, "workerSpec");
	struct amount total =
		amount_mul(amount_field(worker, "tensorParallelSize", 1),
			   amount_field(worker, "pipelineParallelSize", 1));
	struct amount head = kserve_head_gpus(component);
	struct kserve_nodes out = {
		.worker_gpus =
			kserve_gpus(node_at(node_get(worker, "containers"), 0)),
	};
	bool asked = out.worker_gpus.n > 0;
	int64_t each = asked ? out.worker_gpus.n : 1;
	int64_t rest = total.n - (asked ? 0 : head.n);

	out.nodes = total;
	out.nodes.unknown |= head.unknown || out.worker_gpus.unknown;
	out.nodes.n = rest > 0 ? (rest - 1) / each + 1 : 0;
	if (!asked && head.n > 0)
		out.nodes.n++;
	/* The head alone has enough GPUs. */
	if (out.nodes.n < 1 || (asked && head.n >= total.n))
		out.nodes.n = 1;
	out.worker_gpus.n = each;
	out.head_gpus = head;
	if (head.n <= 0)
		out.head_gpus.n = total.n - each * (out.nodes.n - 1);
	return out;
}

/* Counts the workers. The head is the predictor's own pod. */
COUNT_FORMULA(kserve_workers)
{
	struct amount n = kserve_nodes(at).nodes;

	if (n.n > 0)
		n.n--;
	return n;
}

/* Returns the number of pods in one group; 1 without a `worker`. */
static struct amount llm_group_size(const struct node *workload)
{
	const struct node *parallelism = node_get(workload, "parallelism");
	struct amount data, local;

	if (!field_is_set(workload, "worker"))
		return amount_of(1);
	if (!field_is_set(parallelism, "data"))
		return amount_field(parallelism, "pipeline", 1);
	data = amount_field(parallelism, "data", 1);
	local = amount_field(parallelism, "dataLocal", 1);
	if (local.n < 1)
		local.n = 1;
	return (struct amount){.n = data.n / local.n,
			       .unknown = data.unknown || local.unknown};
}

COUNT_FORMULA(llm_workers)
{
	struct amount n = llm_group_size(at);

	if (n.n > 0)
		n.n--;
	return n;
}

/* -- the runtime ----------------------------------------------------------- */

static bool is_worker(const struct node *component)
{
	return text_eq(component->key, "workerSpec");
}

static const struct node *predictor_of(const struct node *component)
{
	return is_worker(component) ? component->parent : component;
}

static const struct node *runtime_spec(struct pod_builder *builder,
				       const struct node *model)
{
	static const char *const kinds[] = {"ServingRuntime",
					    "ClusterServingRuntime", NULL};
	const struct node *name = node_get(model, "runtime");
	const struct runtime *runtime = NULL;

	for (const char *const *kind = kinds; *kind && !runtime; kind++)
		runtime = runtime_find(builder, *kind, name);
	return runtime ? node_get(runtime->root, "spec") : NULL;
}

/* True if the component can be merged with its runtime here. A version of the
 * runtime changes the tag of its image, and the args of a worker follow those
 * of the runtime; neither is done here. */
static bool is_followed(const struct node *component, const struct node *model)
{
	const struct node *name = node_get(model, "name");
	const struct node *own = node_at(node_get(component, "containers"), 0);

	if (field_is_set(model, "runtimeVersion"))
		return false;
	return is_worker(component)
		       ? !field_is_set(own, "args")
		       : !name || node_eq(name, "kserve-container");
}

/*
 * Returns the PodSpec of the component's runtime, without the fields that
 * KServe 0.17 does not merge (MergePodSpec() of
 * inferenceservice/utils/utils.go, buildPodSpec and multiNodeProcess() of
 * predictor.go). Returns NULL if the runtime is not known, is disabled, serves
 * several models, or lacks the container, and for components that cannot be
 * merged here (is_followed()).
 */
static const struct node *base(struct pod_builder *builder,
			       const struct node *component)
{
	static const char *const fields[] = {
		"containers",  "volumes",	   "nodeSelector",  "affinity",
		"tolerations", "imagePullSecrets", "schedulerName", NULL};
	const struct node *model = node_get(predictor_of(component), "model");
	const struct node *spec = runtime_spec(builder, model);
	struct node *out;

	if (node_is_true(node_get(spec, "multiModel")) ||
	    node_is_true(node_get(spec, "disabled")))
		return NULL;
	if (is_worker(component))
		spec = node_get(spec, "workerSpec");
	if (!has_container(spec, is_worker(component) ? "worker-container"
						      : "kserve-container") ||
	    !is_followed(component, model))
		return NULL;
	builder->base = spec;
	out = merge_hollow(builder->arena, spec);
	FOR_EACH_CHILD(spec, field)
		if (text_any(field->key, fields, text_eq))
			merge_add(builder->arena, &builder->merge_budget, out,
				  field);
	return out;
}

/* -- devices, shared memory ------------------------------------------------ */

/*
 * Returns the injection of /dev/shm by KServe's own runtime of this name;
 * unknown for the name of another runtime.
 */
static unsigned runtime_shm(const char *name)
{
	static const char *const without[] = {
		"triton",     "torchserve", "tensorflow-serving",
		"mlserver",   "sklearn",    "xgboost",
		"lightgbm",   "paddle",	    "pmml",
		"kserve-lgb", NULL};

	if (text_contains(name, "huggingface") || text_contains(name, "vllm"))
		return INJECT_SHM;
	return text_any(name, without, text_contains) ? 0 : INJECT_SHM_UNKNOWN;
}

/* Returns the injection for a model that names no runtime: KServe chooses a
 * runtime of the cluster that supports its format. */
static unsigned format_shm(const struct node *format)
{
	static const char *const without[] = {
		"sklearn",    "xgboost", "lightgbm", "paddle",
		"pmml",	      "mlflow",	 "triton",   "tensorrt",
		"tensorflow", "onnx",	 "pytorch",  NULL};

	if (node_eq(format, "huggingface") || node_eq(format, "vLLM"))
		return INJECT_SHM;
	return text_any(node_str(format), without, text_eq)
		       ? 0
		       : INJECT_SHM_UNKNOWN;
}

/* Returns the injections of the runtime of this name. Only KServe's own
 * runtimes (`kserve-...`) certainly set no placement. */
static unsigned runtime_injects(const char *name)
{
	return runtime_shm(name) |
	       (name && text_starts(name, "kserve-") ? 0 : INJECT_SELECTOR);
}

/*
 * True if the component has a runtime other than KServe's own (`kserve-...`),
 * or names none and has one node: KServe then selects one by the model's
 * format, which may be another one (predictor_model.go,
 * GetSupportingRuntimes()).
 */
static bool has_other_runtime(const struct node *component)
{
	const struct node *model = node_get(component, "model");
	const struct node *runtime = node_get(model, "runtime");
	const char *name = node_str(runtime);

	if (node_is_unset(runtime))
		return node_is_unset(node_get(component, "workerSpec")) &&
		       (field_is_set(model, "modelFormat") ||
			field_is_set(component, "huggingface"));
	return !name || !text_starts(name, "kserve-");
}

/* Adds the devices of a multi-node component, which KServe computes from its
 * parallelism. A runtime that is not merged here may request GPUs for a
 * component that requests none. */
static void gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *component = pod->source;
	struct kserve_nodes nodes;

	if (!pod->made && !pod->gpu_by && !builder->base &&
	    has_other_runtime(component))
		pod->gpu_unknown = true;

	if (node_is_unset(node_get(component, "workerSpec")))
		component = component->parent;
	if (node_is_unset(node_get(component, "workerSpec")) || pod->gpu_by)
		return;
	nodes = kserve_nodes(component);
	pod_add_devices(builder, pod, "nvidia.com/gpu",
			component == pod->source ? nodes.head_gpus
						 : nodes.worker_gpus);
}

/* Returns the injections of presets, which may add selectors, tolerations and
 * limits. */
static unsigned preset_injects(const struct object *object)
{
	return node_count(node_path(object->root, "spec.baseRefs"))
		       ? INJECT_SELECTOR | INJECT_MEMORY
		       : 0;
}

static unsigned injects(const struct pod_builder *builder,
			const struct pod *pod)
{
	const struct node *predictor = predictor_of(pod->source);
	const struct node *model, *runtime;
	unsigned bits = 0;

	if (!node_is_unset(node_get(predictor, "workerSpec")))
		bits |= INJECT_GPU;
	if (text_starts(builder->object->kind, "LLM"))
		return preset_injects(builder->object);
	if (pod->made)
		return bits;
	model = node_get(predictor, "model");
	runtime = node_get(model, "runtime");
	if (!node_is_unset(node_get(predictor, "huggingface")))
		return bits | INJECT_SHM;
	if (node_is_unset(model))
		return bits;
	if (!node_is_unset(runtime))
		return bits | runtime_injects(node_str(runtime));
	return bits | format_shm(node_path(model, "modelFormat.name"));
}

/* -- the gang -------------------------------------------------------------- */

static struct gang of_predictor(const struct object *object)
{
	const struct node *predictor =
		node_path(object->root, "spec.predictor");
	struct gang gang = {.n = amount_of(1), .needed = true};

	if (!node_is_unset(node_get(predictor, "workerSpec")))
		gang.n = kserve_nodes(predictor).nodes;
	return gang;
}

static struct gang of_llm(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct gang gang = {.n = llm_group_size(spec), .needed = true};

	gang.n = amount_max(gang.n, llm_group_size(node_get(spec, "prefill")));
	return gang;
}

static struct gang gang(const struct object *object)
{
	if (!strcmp(object->kind, "InferenceService"))
		return of_predictor(object);
	if (!strcmp(object->kind, "LLMInferenceService"))
		return of_llm(object);
	return gang_none(object);
}

static bool merges(const struct container *c)
{
	const struct object *object = c->pod->object;

	return text_starts(object->kind, "LLMInferenceService") ||
	       (!c->pod->made && text_eq(c->node->key, "model"));
}

/*
 * Settings of an LLMInferenceService, from the presets that KServe ships
 * (config/llmisvcconfig, read at 0.16 to 0.20 and aaac4e29): container `main`
 * of a service without its own command and presets runs vLLM.
 * parallelism.tensor is passed to a single pod since 0.20, and to the pods of
 * data parallelism since 0.16, where dataLocal copies share a pod. No preset
 * for pipeline parallelism names a command.
 */
static struct vllm_settings vllm(const struct container *c)
{
	const struct object *object = c->pod->object;
	const struct node *group = c->pod->group, *sizes;
	struct vllm_settings out = {.program = "vLLM",
				    .more_args = "VLLM_ADDITIONAL_ARGS",
				    .one_pod = true};

	if (!text_eq(object->kind, "LLMInferenceService") ||
	    c->role != CONTAINER_MAIN || !text_eq(c->name, "main") ||
	    !node_is_unset(node_get(c->node, "command")) ||
	    !node_is_unset(node_path(object->root, "spec.baseRefs")))
		return (struct vllm_settings){0};
	sizes = node_get(group, "parallelism");
	if (!field_is_set(group, "worker")) {
		out.tensor = node_get(sizes, "tensor");
		out.program = "vLLM of KServe 0.20 and later";
		out.versions = true;
	} else if (field_is_set(sizes, "data")) {
		out.tensor = node_get(sizes, "tensor");
		out.local = node_get(sizes, "dataLocal");
	}
	return out;
}

const struct workload_operator operator_kserve = {
	.gpus = gpus,
	.base = base,
	.injects = injects,
	.gang = gang,
	.merges = merges,
	.vllm = vllm,
};
