/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of a pod. Besides resources of containers there are DRA claims,
 * annotations of schedulers that share devices, and fields that operators
 * turn into resources (Spark, NIM, KAITO, ...). A claim's count stands in
 * another object: at least one, when its names speak of a GPU. Shares of a
 * device (KAI fractions, HAMi memory) count no device.
 *
 * Sources: CRDs of the projects; annotations gpu-fraction and gpu-memory:
 * KAI-Scheduler's pod admission.
 */
#include "kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kube/claim.h"

/* -- claims and annotations ---------------------------------------------- */

static void claim_add(struct pod *pod, enum tri use, struct amount n)
{
	if (use == TRI_NO)
		return;
	pod->gpus = amount_add(pod->gpus, n);
	if (use == TRI_YES)
		pod->gpu_by |= GPU_BY_CLAIM;
	else
		pod->gpu_unknown = true;
}

/* NIM makes the claim itself: devices with class and count. */
static void nim_claim(struct pod *pod, const struct node *spec)
{
	FOR_EACH_CHILD(node_get(spec, "devices"), device) {
		const char *class =
			node_str(node_get(device, "deviceClassName"));
		/* gpu.nvidia.com by default */
		bool domain = text_contains_ci(class, "compute");

		claim_add(pod, domain ? TRI_NO : TRI_YES,
			  amount_int(node_get(device, "count"), 1));
	}
}

static void claims(struct pod *pod)
{
	const struct node *list = pod_field(pod, "resourceClaims");

	if (node_is_unset(list))
		list = node_get(pod->spec, "draResources"); /* NIM */
	if (node_is_unknown(list))
		pod->gpu_unknown = true;
	if (!node_is_seq(list))
		return;
	FOR_EACH_CHILD(list, claim) {
		const struct node *made = node_get(claim, "claimCreationSpec");
		enum tri use;
		struct amount n;

		if (!node_is_unset(made)) {
			nim_claim(pod, made);
			continue;
		}
		use = claim_use(pod, claim, &n);
		claim_add(pod, use, n);
	}
}

static void annotations(struct pod *pod)
{
	static const char *const keys[] = {"gpu-fraction", "gpu-memory"};

	for (size_t i = 0; i < 2; i++)
		if (pod_annotation(pod, keys[i]))
			pod->gpu_by |= GPU_BY_ANNOTATION;
}

/* -- fields of operators ------------------------------------------------- */

static struct container *main_container(struct pod *pod)
{
	for (size_t i = 0; i < pod->ncontainers; i++)
		if (pod->containers[i].role == CONTAINER_MAIN)
			return &pod->containers[i];
	return NULL;
}

void pod_give(struct pod_builder *builder, struct pod *pod,
	      const char *resource, struct amount n)
{
	struct container *c = main_container(pod);

	if (!n.n && !n.unknown)
		return;
	pod->gpu_by |= GPU_BY_OPERATOR;
	if (!c) {
		pod->gpus = amount_add(pod->gpus, n);
		return;
	}
	c->gpus = amount_add(c->gpus, n);
	if (!c->accelerator) {
		c->resource = resource;
		c->accelerator = accelerator_find(
			&builder->config->accelerators, resource);
	}
}

/* A quantity written as a number or a string. */
static struct amount quantity_amount(const struct node *node)
{
	struct quantity q;

	switch (node_quantity(node, &q)) {
	case QUANTITY_ABSENT:
		return amount_of(0);
	case QUANTITY_OK:
		return amount_of(q.nano > 0 ? quantity_value(q) : 0);
	default:
		return (struct amount){.unknown = true};
	}
}

static void named_quantity(struct pod_builder *builder, struct pod *pod,
			   const struct node *name, const struct node *n)
{
	const char *resource = node_str(name);

	pod_give(builder, pod, resource ? resource : "nvidia.com/gpu",
		 quantity_amount(n));
}

/* NIM: the profile's tensor parallelism, one without a profile. */
static void nim(struct pod_builder *builder, struct pod *pod)
{
	const struct node *parallelism =
		node_path(pod->spec, "multiNode.parallelism");
	struct container *c = main_container(pod);
	struct amount n = {.n = 1, .unknown = true};

	if (pod->gpu_by || (c && c->gpus.unknown))
		return;
	if (!node_is_unset(node_get(pod->spec, "draResources")))
		return;
	if (!node_is_unset(node_get(parallelism, "tensor")))
		n = amount_int(node_get(parallelism, "tensor"), 1);
	pod_give(builder, pod, "nvidia.com/gpu", n);
}

/*
 * The component (the predictor) of a multi-node InferenceService. A runtime
 * of the user's own may ask for GPUs where the service does not.
 */
static void kserve(struct pod_builder *builder, struct pod *pod)
{
	const struct node *component = pod->spec;
	const struct node *runtime = node_path(component, "model.runtime");
	const char *name = node_str(runtime);
	struct kserve_nodes nodes;

	if (!pod->gpu_by && !node_is_unset(runtime) &&
	    (!name || kserve_runtime(name) == INJECT_SHM_UNKNOWN))
		pod->gpu_unknown = true;

	if (node_is_unset(node_get(component, "workerSpec")))
		component = component->parent;
	if (node_is_unset(node_get(component, "workerSpec")) || pod->gpu_by)
		return;
	nodes = kserve_nodes(component);
	pod_give(builder, pod, "nvidia.com/gpu",
		 component == pod->spec ? nodes.head_gpus : nodes.worker_gpus);
}

/* By instance type; presets need a GPU, retrieval may do without. */
static void kaito(struct pod_builder *builder, struct pod *pod, bool always)
{
	const struct node *resource = node_get(pod->spec, "resource");
	const struct instance_type *type = NULL;
	struct amount n = {.n = 1, .unknown = true};
	const char *name;

	if (pod->gpu_by)
		return;
	if (node_is_unset(resource))
		resource = node_get(pod->spec, "compute");
	name = node_str(node_get(resource, "instanceType"));
	if (name)
		type = instance_type_find(name);
	if (type)
		n = amount_of(type->accelerators);
	if (type || always)
		pod_give(builder, pod, "nvidia.com/gpu", n);
	else if (!node_is_unset(node_get(resource, "instanceType")))
		pod->gpu_unknown = true;
}

/* resourceProfile: NAME:COUNT; a profile's name tells of its device. */
static void kubeai(struct pod_builder *builder, struct pod *pod)
{
	const struct node *node = node_get(pod->spec, "resourceProfile");
	const char *profile = node_str(node);
	const char *colon = profile ? strchr(profile, ':') : NULL;
	char *end;
	/* Beyond 64 bits it is the largest number. */
	long n = colon ? strtol(colon + 1, &end, 10) : 1;

	if (node_is_unknown(node))
		pod->gpu_unknown = true;
	if (!profile || !strncmp(profile, "cpu", 3) || n <= 0)
		return;
	pod_give(builder, pod,
		 text_contains_ci(profile, "tpu")   ? "google.com/tpu"
		 : text_contains_ci(profile, "amd") ? "amd.com/gpu"
						    : "nvidia.com/gpu",
		 amount_of(n));
}

/* Kaiwo: gpusPerReplica, else gpus spread over the replicas. */
static void kaiwo(struct pod_builder *builder, struct pod *pod)
{
	const struct node *spec = node_get(builder->object->root, "spec");
	const struct node *each = node_get(spec, "gpusPerReplica");

	if (pod->gpu_by)
		return;
	if (node_is_unset(each))
		each = node_get(spec, "gpus");
	pod_give(builder, pod, "amd.com/gpu", amount_int(each, 0));
}

static void operator_gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *spec = pod->spec;

	switch (builder->row ? builder->row->gpus : GPUS_BY_RESOURCES) {
	case GPUS_BY_RESOURCES:
		break;
	case GPUS_BY_SPARK:
		named_quantity(builder, pod, node_path(spec, "gpu.name"),
			       node_path(spec, "gpu.quantity"));
		gpus_by_spark_conf(builder, pod);
		break;
	case GPUS_BY_VLLM:
		named_quantity(builder, pod,
			       node_path(spec, "resources.gpuType"),
			       node_path(spec, "resources.gpu"));
		break;
	case GPUS_BY_DYNAMO:
		named_quantity(builder, pod, NULL,
			       node_path(spec, "resources.limits.gpu"));
		break;
	case GPUS_BY_NIM:
		nim(builder, pod);
		break;
	case GPUS_BY_KSERVE:
		kserve(builder, pod);
		break;
	case GPUS_BY_KAITO:
		kaito(builder, pod, true);
		break;
	case GPUS_BY_RAGENGINE:
		kaito(builder, pod, false);
		break;
	case GPUS_BY_KUBEAI:
		kubeai(builder, pod);
		break;
	case GPUS_BY_KAIWO:
		kaiwo(builder, pod);
		break;
	case GPUS_BY_ARGO:
		gpus_by_argo(builder, pod);
		break;
	case GPUS_BY_RAY:
		gpus_by_ray(builder, pod);
		break;
	case GPUS_BY_SELDON:
		gpus_by_seldon(builder, pod);
		break;
	case GPUS_BY_RUNTIME:
		/* Unset resources are those of a runtime we do not see. */
		if (node_is_unset(node_path(spec, "trainer.resourcesPerNode")))
			pod->gpu_unknown = true;
		break;
	}
}

/* -- the sum ------------------------------------------------------------- */

/*
 * As pod_request(), over devices instead of one resource: max of what runs
 * together and of each init container with the sidecars before it. Init
 * containers of another resource than the main ones would add; adding the
 * two maxima of one pod with two resources is left out, as no such pod can
 * be told from a mistake.
 */
static struct amount effective(const struct pod *pod)
{
	struct amount sum = {0}, started = {0}, floor = {0};

	FOR_EACH_CONTAINER(pod, c) {
		if (c->role == CONTAINER_INIT) {
			floor = amount_max(floor, amount_add(c->gpus, started));
			continue;
		}
		if (c->role == CONTAINER_SIDECAR)
			started = amount_add(started, c->gpus);
		sum = amount_add(sum, c->gpus);
	}
	return amount_max(sum, floor);
}

void pod_gpus(struct pod_builder *builder, struct pod *pod)
{
	operator_gpus(builder, pod);
	claims(pod);
	annotations(pod);
	pod->gpus = amount_add(pod->gpus, effective(pod));
	if (pod->gpu_unknown)
		pod->gpus.unknown = true;
}
