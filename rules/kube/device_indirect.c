/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that stand neither in a container's resources nor in a field made
 * for them: patches in strings (Argo), properties of the program that makes
 * the pods (Spark), resources of containers that an operator adds (KubeRay's
 * autoscaler and collector, Seldon's orchestrator).
 *
 * Sources: Argo workflowpod.go (podSpecPatch: the workflow's, then the
 * template's, a strategic merge each); Spark KubernetesUtils.scala
 * (buildResourcesQuantities: VENDOR/NAME); KubeRay common/pod.go
 * (BuildAutoscalerContainer, only with enableInTreeAutoscaling, in the head;
 * BuildCollectorContainer, in all pods); Seldon seldondeployment_engine.go.
 */
#include "kinds.h"

#include <string.h>

#include "base/text.h"

/* Does the string name an accelerator resource (`nvidia.com/gpu`)? */
static bool names_accelerator(const struct kube_config *config,
			      const char *text)
{
	char name[128];

	for (; text && *text;) {
		size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789-_./");

		if (n > 2 && n < sizeof(name)) {
			memcpy(name, text, n);
			name[n] = 0;
			if (strchr(name, '/') &&
			    accelerator_find(&config->accelerators, name))
				return true;
		}
		text += n ? n : 1;
	}
	return false;
}

/* The devices that a map of resources asks for: limits, else requests. */
static struct amount asked_in(const struct kube_config *config,
			      const struct node *resources, const char **name)
{
	const struct node *limits = node_get(resources, "limits");
	struct amount sum = {0};

	if (!node_count(limits))
		limits = node_get(resources, "requests");
	FOR_EACH_CHILD(limits, value) {
		struct quantity q;

		if (!accelerator_counts(accelerator_find(&config->accelerators,
							 value->key)))
			continue;
		*name = value->key;
		if (node_quantity(value, &q) != QUANTITY_OK)
			sum.unknown = true;
		else if (q.nano > 0)
			sum = amount_add(sum, amount_of(quantity_value(q)));
	}
	return sum;
}

/* -- Argo ---------------------------------------------------------------- */

/* Nobody patches more containers; and all templates share one patch. */
enum { PATCHED_MAX = 64 };

struct patched {
	const char *container, *resource;
	struct amount n;
};

/* What a patch in a string says of devices. */
struct device_patch {
	struct patched items[PATCHED_MAX];
	size_t n;
	bool names; /* a device, at a place that was not read */
	bool open;  /* filled in later */
};

static const struct node *read_patch(struct arena *arena,
				     const struct node *patch)
{
	struct source *source = ARENA_NEW(arena, struct source);
	struct doc *doc = ARENA_NEW(arena, struct doc);
	struct loader loader;

	if (!patch->str || node_is_unknown(patch))
		return NULL;
	source_init(source, arena, "podSpecPatch",
		    text_without_markup(arena, patch->str, patch->len),
		    patch->len);
	loader_init(&loader, source, &load_limits_default, arena);
	return loader_next(&loader, doc) == 1 ? doc->root : NULL;
}

/* False: there are too many. */
static bool patch_list(const struct kube_config *config,
		       struct device_patch *patch, const struct node *list)
{
	FOR_EACH_CHILD(list, item) {
		struct patched one = {.container =
					      node_str(node_get(item, "name"))};

		one.n = asked_in(config, node_get(item, "resources"),
				 &one.resource);
		if (!one.resource)
			continue;
		if (patch->n == PATCHED_MAX)
			return false;
		patch->items[patch->n++] = one;
	}
	return true;
}

static struct device_patch *patch_read(struct pod_builder *builder,
				       const struct node *node)
{
	struct device_patch *patch =
		ARENA_NEW(builder->arena, struct device_patch);
	const struct node *tree = read_patch(builder->arena, node);

	if (node_is_map(tree) &&
	    patch_list(builder->config, patch, node_get(tree, "containers")) &&
	    patch_list(builder->config, patch,
		       node_get(tree, "initContainers")))
		return patch;
	patch->names =
		node->str && names_accelerator(builder->config, node->str);
	patch->open =
		node_is_unknown(node) || (node->str && strstr(node->str, "{{"));
	return patch;
}

static struct container *named(struct pod *pod, const char *name)
{
	for (size_t i = 0; name && i < pod->ncontainers; i++)
		if (text_eq(pod->containers[i].name, name))
			return &pod->containers[i];
	return NULL;
}

/* What the patch gives a container takes the place of what it had. */
static void patch_container(struct pod_builder *builder, struct pod *pod,
			    const struct patched *item)
{
	struct container *c = named(pod, item->container);
	bool any = item->n.n || item->n.unknown;

	if (any)
		pod->gpu_by |= GPU_BY_OPERATOR;
	if (!c) {
		pod->gpus = amount_add(pod->gpus, item->n);
		return;
	}
	c->gpus = item->n;
	if (any && !c->accelerator) {
		c->resource = item->resource;
		c->accelerator = accelerator_find(
			&builder->config->accelerators, item->resource);
	}
}

static void apply_patch(struct pod_builder *builder, struct pod *pod,
			const struct device_patch *patch)
{
	for (size_t i = 0; i < patch->n; i++)
		patch_container(builder, pod, &patch->items[i]);
	if (patch->names) {
		pod->gpu_by |= GPU_BY_OPERATOR;
		pod->gpus.unknown = true;
	} else if (patch->open) {
		pod->gpu_unknown = true;
	}
}

void gpus_by_argo(struct pod_builder *builder, struct pod *pod)
{
	const struct node *all = node_get(pod->defaults, "podSpecPatch");
	const struct node *own = node_get(pod->spec, "podSpecPatch");

	/* Once for all templates. */
	if (!node_is_unset(all) && !builder->patch)
		builder->patch = patch_read(builder, all);
	if (builder->patch)
		apply_patch(builder, pod, builder->patch);
	if (!node_is_unset(own))
		apply_patch(builder, pod, patch_read(builder, own));
}

/* -- Spark --------------------------------------------------------------- */

/* NAME of spark.ROLE.resource.NAME.amount, or NULL. */
static const char *spark_name(struct arena *arena, const char *start,
			      const char *key)
{
	static const char end[] = ".amount";

	if (!text_starts(key, start) || !text_ends(key, end) ||
	    strlen(key) < strlen(start) + sizeof(end))
		return NULL;
	key += strlen(start);
	return arena_strndup(arena, key, strlen(key) - sizeof(end) + 1);
}

static void spark_amount(struct pod_builder *builder, struct pod *pod,
			 const char *start, const struct node *value)
{
	struct arena *arena = builder->arena;
	const char *name = spark_name(arena, start, value->key), *vendor;
	struct quantity q = {0};
	const char *resource;
	bool known;

	if (!name)
		return;
	vendor = node_str(
		node_get(value->parent,
			 arena_printf(arena, "%s%s.vendor", start, name)));
	resource = arena_printf(arena, "%s/%s", vendor ? vendor : "", name);
	if (!accelerator_counts(
		    accelerator_find(&builder->config->accelerators, resource)))
		return;
	known = node_quantity(value, &q) == QUANTITY_OK;
	pod_give(builder, pod, resource,
		 (struct amount){.n = known && q.nano > 0 ? quantity_value(q)
							  : 0,
				 .unknown = !known});
}

/* The field of the operator, where there is one, overrides the property. */
void gpus_by_spark_conf(struct pod_builder *builder, struct pod *pod)
{
	const struct node *spec = pod->spec->parent;
	const char *role =
		strcmp(pod->role, "executor") ? "driver" : "executor";
	const char *start =
		arena_printf(builder->arena, "spark.%s.resource.", role);

	if (pod->gpu_by)
		return;
	FOR_EACH_CHILD(node_get(spec, "sparkConf"), value)
		spark_amount(builder, pod, start, value);
}

/* -- containers that operators add ---------------------------------------- */

static void add_container(struct pod_builder *builder, struct pod *pod,
			  const struct node *resources)
{
	const char *name = NULL;
	struct amount n = asked_in(builder->config, resources, &name);

	if (!name || (!n.n && !n.unknown))
		return;
	pod->gpu_by |= GPU_BY_OPERATOR;
	pod->gpus = amount_add(pod->gpus, n);
}

void gpus_by_ray(struct pod_builder *builder, struct pod *pod)
{
	const struct node *group = builder->group;
	bool head = group->key;
	const struct node *spec = head ? group->parent : group->parent->parent;

	if (head && node_is_true(node_get(spec, "enableInTreeAutoscaling")))
		add_container(builder, pod,
			      node_path(spec, "autoscalerOptions.resources"));
	add_container(builder, pod,
		      node_path(spec, "historyServerOptions.collectorOptions."
				      "resources"));
}

void gpus_by_seldon(struct pod_builder *builder, struct pod *pod)
{
	const struct node *list = builder->group->parent;

	if (list && !builder->group->index)
		add_container(builder, pod,
			      node_path(list->parent, "svcOrchSpec.resources"));
}
