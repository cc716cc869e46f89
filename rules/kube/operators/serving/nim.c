/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's NIM Operator: devices and claims of its services. The operator adds
 * the devices of a profile, as resources or as claims (draResources).
 *
 * Source: NVIDIA/k8s-nim-operator v3.1.2 and f63f74d, reconcileNIMService(),
 * getNIMCacheProfile() and addGPUResources() of internal/controller/platform/
 * standalone/nimservice.go; v1.0.0 does the same.
 */
#include "rules/kube/operator.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/runtime.h"

/* Adds the claim that NIM creates, from the class and count of its devices. */
static void made_claim(struct pod *pod, const struct node *spec)
{
	FOR_EACH_CHILD(node_get(spec, "devices"), device) {
		const char *class =
			node_str(node_get(device, "deviceClassName"));
		/* An unset class is gpu.nvidia.com. */
		bool domain = text_contains_ci(class, "compute");

		pod_add_claim(pod, domain ? TRI_NO : TRI_YES,
			      amount_int(node_get(device, "count"), 1));
	}
}

static bool claim(struct pod *pod, const struct node *entry)
{
	const struct node *made = node_get(entry, "claimCreationSpec");

	if (node_is_unset(made))
		return false;
	made_claim(pod, made);
	return true;
}

/* -- devices of the profile ------------------------------------------------ */

static const struct node *profile_named(const struct node *cache,
					const char *name)
{
	FOR_EACH_CHILD(node_path(cache, "status.profiles"), profile)
		if (node_eq(node_get(profile, "name"), name))
			return profile;
	return NULL;
}

/* Returns the profile's tensor parallelism, 1 if it is not set, unknown if it
 * is not a number. The operator rejects a text that is not a quantity
 * (addGPUResources()). */
static struct amount of_profile(const struct node *profile)
{
	const struct node *tags = node_get(profile, "config");
	const struct node *tensor = node_get(tags, "tensorParallelism");
	const char *text;
	char *end;
	long n;

	if (node_is_unset(tensor))
		tensor = node_get(tags, "tp");
	text = node_str(tensor);
	if (!text || !*text)
		return amount_of(1);
	n = strtol(text, &end, 10);
	return *end || n < 0 ? (struct amount){.n = 1, .unknown = true}
			     : amount_of(n);
}

/* True for a NIM from NGC that is not a model endpoint. Others have no
 * profiles. */
static bool is_optimized(const struct node *cache)
{
	const struct node *ngc = node_path(cache, "spec.source.ngc");

	return !node_is_unset(ngc) &&
	       node_is_unset(node_get(ngc, "modelEndpoint"));
}

/*
 * Returns the number of devices that the operator adds for a profile of the
 * cache. Profiles are in the status of the cache, which files lack.
 */
static struct amount of_cache(struct pod_builder *builder,
			      const struct pod *pod, const struct node *ref)
{
	const struct node *parallelism =
		node_path(pod->source, "multiNode.parallelism");
	const struct node *name = node_get(ref, "profile");
	const struct runtime *cache =
		runtime_find(builder, "NIMCache", node_get(ref, "name"));
	const struct node *profile =
		cache && node_str(name)
			? profile_named(cache->root, node_str(name))
			: NULL;

	if (cache && !is_optimized(cache->root))
		return amount_of(0);
	if (cache && node_is_unset(node_path(cache->root, "status.profiles")))
		cache = NULL;
	if (cache && node_str(name) && !profile)
		return amount_of(0);
	if (!node_is_unset(node_get(parallelism, "tensor")))
		return amount_int(node_get(parallelism, "tensor"), 1);
	if (profile && node_is_unset(node_get(pod->source, "multiNode")))
		return of_profile(profile);
	return (struct amount){.n = 1, .unknown = true};
}

static bool sets_gpus(const struct container *c)
{
	static const char *const lists[] = {"limits", "requests"};
	const struct node *resources = node_get(c->node, "resources");

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (node_get(node_get(resources, lists[i]), "nvidia.com/gpu"))
			return true;
	return false;
}

/* Adds the devices that the operator adds if the service names a profile of its
 * cache and requests none itself. */
static void gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *ref = node_path(pod->source, "storage.nimCache");
	struct container *c = pod_main_container(pod);

	if (pod->gpu_by || (c && (c->gpus.unknown || sets_gpus(c))) ||
	    !node_is_unset(node_get(pod->source, "draResources")) ||
	    node_is_unset(node_get(ref, "profile")))
		return;
	pod_add_devices(builder, pod, "nvidia.com/gpu",
			of_cache(builder, pod, ref));
}

/* With inferencePlatform `kserve`, KServe (v1beta1) sets cpu and memory of the
 * containers that it adds. */
static unsigned injects(const struct pod_builder *builder,
			const struct pod *pod)
{
	return node_eq(node_get(pod->spec, "inferencePlatform"), "kserve")
		       ? INJECT_MEMORY
		       : 0;
}

static struct gang gang(const struct object *object)
{
	const struct node *pipeline =
		node_path(object->root, "spec.multiNode.parallelism.pipeline");

	if (strcmp(object->kind, "NIMService"))
		return gang_none(object);
	return (struct gang){.n = amount_int(pipeline, 1), .needed = true};
}

const struct workload_operator operator_nim = {
	.gpus = gpus,
	.injects = injects,
	.claims = "draResources",
	.claim = claim,
	.gang = gang,
};
