/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the pods of an object from the rows of its kind. Every match of a
 * row's paths is a pod template. The number of pods, their restart policy and
 * their devices are computed here from the operator, the group and the
 * template, so that rules only read them.
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/claim.h"

/*
 * Computes the devices of a pod, from resources of containers, DRA claims,
 * annotations of schedulers that share devices, and fields that operators turn
 * into resources (operators/). The number of a claim's devices is in another
 * object; it is at least one if its name suggests a GPU. Shares of a device
 * (KAI fractions, HAMi memory) count as 0.
 *
 * Source of the annotations gpu-fraction and gpu-memory: KAI-Scheduler's pod
 * admission.
 */

/* -- claims and annotations ---------------------------------------------- */

static void claims(struct pod *pod, const struct workload_operator *by)
{
	const struct node *list = pod_field(pod, "resourceClaims");

	if (node_is_unset(list) && by->claims)
		list = node_get(pod->spec, by->claims);
	if (node_is_unknown(list))
		pod->gpu_unknown = true;
	if (!node_is_seq(list))
		return;
	FOR_EACH_CHILD(list, claim) {
		enum tri use;
		struct amount n;

		if (by->claim && by->claim(pod, claim))
			continue;
		use = claim_use(pod, claim, &n);
		pod_add_claim(pod, use, n);
	}
}

static void annotations(struct pod *pod)
{
	static const char *const keys[] = {"gpu-fraction", "gpu-memory"};

	for (size_t i = 0; i < 2; i++)
		if (pod_annotation(pod, keys[i]))
			pod->gpu_by |= GPU_BY_ANNOTATION;
}

/* -- the sum ------------------------------------------------------------- */

/*
 * Like pod_request(), for all devices instead of one resource: the larger one
 * of the sum of the containers that run together, and each init container with
 * the sidecars before it. If init containers request another resource than the
 * main ones, both would count; this is ignored, because such a pod is probably
 * a mistake.
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
	const struct workload_operator *by = builder_operator(builder);

	if (by->gpus && builder->row->asks_gpus)
		by->gpus(builder, pod);
	claims(pod, by);
	annotations(pod);
	pod->gpus = amount_add(pod->gpus, effective(pod));
	if (pod->gpu_unknown)
		pod->gpus.unknown = true;
}

/* Limit on the values that merges copy, for all templates of an object
 * together. Real objects have far fewer. */
enum { MERGE_BUDGET = 100000 };

static const char *role_of(const struct pod_row *row, const struct node *group)
{
	const char *text = row->role;

	if (row->role_from == ROLE_KEY)
		text = group->key;
	else if (row->role_from == ROLE_FIELD)
		text = node_str(node_get(group, row->role));
	return text ? text : "";
}

static bool lists_version(const char *list, const char *version)
{
	size_t len = strlen(version);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, version, len) &&
		    (!list[len] || list[len] == ','))
			return true;
	}
	return false;
}

static bool version_fits(const struct pod_row *row, const char *version)
{
	if (!row->version)
		return true;
	if (row->version[0] == '!')
		return !lists_version(row->version + 1, version);
	return !strcmp(row->version, version);
}

/* Inline for the same reason as node_get(). */
static inline __attribute__((always_inline)) const struct node *
field_of(const struct pod *pod, const char *name)
{
	const struct node *node = node_get(pod->spec, name);

	return node_is_unset(node) ? pod_field_default(pod, name) : node;
}

static const struct node *merge(struct pod_builder *builder,
				const struct node *below,
				const struct node *above)
{
	if (node_is_unset(below) || node_is_unset(above))
		return node_is_unset(above) ? below : above;
	return value_merge(builder->arena, &builder->merge_budget, below,
			   above);
}

/* Returns the annotations or labels of the pod's metadata with those that its
 * operator adds from the maps in the rows. A map with `over` replaces the pod's
 * values; any other only adds keys. */
static const struct node *copied_map(struct pod_builder *builder,
				     const struct node *own,
				     const struct note_row *row,
				     const struct node *element)
{
	const struct node *below = NULL, *above = NULL;

	for (; row && row->path; row++) {
		const struct node *from[] = {
			[BASE_GROUP] = builder->group,
			[BASE_ROOT] = builder->object->merged,
			[BASE_ELEMENT] = element,
		};
		const struct node *map = path_get(from[row->base], row->path);

		if (!node_is_map(map))
			continue;
		if (row->over)
			above = merge(builder, above, map);
		else
			below = merge(builder, below, map);
	}
	return merge(builder, merge(builder, below, own), above);
}

/* Sets the spec to the one that is made of the fields of the row's kind. */
static void pod_make(struct pod_builder *builder, struct pod *pod)
{
	const struct pod_row *row = builder->row;
	const struct node *made = pod_fields_make(builder, pod->spec);

	if (!made)
		return;
	pod->made = true;
	pod->based = row->based;
	pod->base = pod->based ? builder->base : NULL;
	pod->fields = row->fields;
	pod->partly = row->form != FORM_FLAT;
	pod->spec = made;
}

/* Sets the pod's spec, metadata and the other maps. Returns false if its spec
 * is neither a map nor unknown. */
static bool pod_place(struct pod_builder *builder, struct pod *pod,
		      const struct node *holder, const struct node *element)
{
	const struct pod_row *row = builder->row;

	pod->patch = row->form == FORM_PATCH ? holder : NULL;
	if (pod->patch)
		holder = builder_operator(builder)->template(builder, holder);
	pod->spec = holder;
	if (row->form == FORM_POD || row->form == FORM_PATCH) {
		pod->spec = node_get(holder, "spec");
		pod->template = holder;
		pod->metadata = node_get(holder, "metadata");
	} else if (row->metadata) {
		pod->metadata = path_get(builder->group, row->metadata);
	}
	pod->source = pod->spec;
	pod->fields = row->below ? NULL : row->fields;
	if (row->fields || row->based)
		pod_make(builder, pod);
	pod->flat = row->form == FORM_FLAT && !pod->made;
	pod->labels = copied_map(builder, node_get(pod->metadata, "labels"),
				 row->labels, element);
	pod->annotations =
		copied_map(builder, node_get(pod->metadata, "annotations"),
			   row->notes, element);
	if (row->inner && !row->fields)
		pod->inner = path_get(pod->spec, row->inner);
	if (row->defaults)
		pod->defaults =
			path_get(builder->object->merged, row->defaults);
	if (builder_operator(builder)->patch)
		builder_operator(builder)->patch(builder, pod);
	pod->volumes = field_of(pod, "volumes");
	pod->node_selector = field_of(pod, "nodeSelector");
	pod->tolerations = field_of(pod, "tolerations");
	if (node_is_unknown(pod->spec))
		pod->gpu_unknown = true;
	return node_is_map(pod->spec) || node_is_unknown(pod->spec);
}

/* True if an image, or every main container, is missing, as in a patch. An
 * empty list is not a patch: it would change nothing. */
static bool is_part(const struct pod *pod)
{
	const struct node *list = node_get(pod->spec, "containers");
	bool found = node_is_unknown(list) || node_is_unknown(pod->spec) ||
		     (node_is_seq(list) && !node_first(list));

	FOR_EACH_CONTAINER(pod, c) {
		if (node_is_unset(node_get(c->node, "image")))
			return true;
		found = found || c->role == CONTAINER_MAIN;
	}
	return !found;
}

/* -- changes by the operator ----------------------------------------------- */

static enum restart_policy policy_of(const struct node *node)
{
	static const struct {
		const char *text;
		enum restart_policy policy;
	} names[] = {
		{"Always", RESTART_ALWAYS},
		{"OnFailure", RESTART_ON_FAILURE},
		{"Never", RESTART_NEVER},
		{"ExitCode", RESTART_EXIT_CODE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (node_eq(node, names[i].text))
			return names[i].policy;
	return RESTART_UNKNOWN;
}

static void pod_restart(const struct pod_builder *builder, struct pod *pod)
{
	const struct pod_row *row = builder->row;
	const struct workload_operator *by = builder_operator(builder);
	const struct node *own =
		pod->flat ? NULL : node_get(pod->spec, "restartPolicy");
	const struct node *group = node_get(pod->group, "restartPolicy");

	pod->restart = row->restart;
	switch (row->restart_from) {
	case RESTART_FORCED:
		return;
	case RESTART_FROM_OPERATOR:
		if (by->forces_never(builder, pod)) {
			pod->restart = RESTART_NEVER;
			return;
		}
		break;
	case RESTART_FROM_GROUP:
		/* The operator overwrites the value of the template. */
		own = group;
		break;
	case RESTART_FROM_POD:
		break;
	}
	if (node_is_unset(own))
		return;
	pod->restart = policy_of(own);
	pod->restart_node = own;
}

static void pod_injects(const struct pod_builder *builder, struct pod *pod)
{
	const struct workload_operator *by = builder_operator(builder);

	pod->injects = builder->row->injects;
	if (pod->made && builder->row->based)
		pod->injects &=
			~(unsigned)(INJECT_SHM_UNKNOWN | INJECT_SELECTOR);
	/* When Kueue admits a workload, it adds the flavor's selector and
	 * tolerations. */
	if (builder->object->kueue)
		pod->injects |= INJECT_SELECTOR;
	if (builder->row->asks_injects)
		pod->injects |= by->injects(builder, pod);
}

/* -- building -------------------------------------------------------------- */

void pod_build(struct pod_builder *builder, const struct node *holder,
	       const struct node *element)
{
	struct object *object = builder->object;
	struct count_place place = {
		.arena = builder->arena,
		.object = object,
		.group = builder->group,
		.element = element ? element : builder->group,
	};
	struct pod pod = {
		.object = object,
		.group = builder->group,
		.role = role_of(builder->row, builder->group),
	};

	if (!pod_place(builder, &pod, holder, place.element))
		return;
	pod.memo = ARENA_NEW(builder->arena, struct pod_memo);
	pod.memo->arena = builder->arena;
	containers_read(builder, &pod);
	if (builder->row->some && !pod.ncontainers && !pod.gpu_unknown)
		return;
	if (!builder->row->no_image && !pod.flat && is_part(&pod))
		object->fragment = true;
	place.pod = &pod;
	pod.steady = count_eval(builder->row->count, &place);
	pod.peak = count_eval(builder->row->peak, &place);
	if (builder->row->counted && !pod.steady.n && !pod.steady.unknown)
		return;
	pod_gpus(builder, &pod);
	pod_restart(builder, &pod);
	pod_injects(builder, &pod);
	*VEC_PUSH(builder->arena, object->pods, object->npods, builder->size) =
		pod;
}

static void found_pod(struct path_walk *walk, const struct node *node,
		      const struct node *element)
{
	pod_build(walk->context, node, element);
}

static void found_group(struct path_walk *walk, const struct node *node,
			const struct node *element)
{
	struct pod_builder *builder = walk->context;
	struct path_walk pods = {.found = found_pod, .context = builder};

	builder->group = node;
	path_each(&pods, node, builder->row->pod, NULL);
}

void pods_read(struct arena *arena, const struct kube_config *config,
	       struct object *object)
{
	struct pod_builder builder = {.arena = arena,
				      .config = config,
				      .object = object,
				      .merge_budget = MERGE_BUDGET};
	struct path_walk walk = {.found = found_group, .context = &builder};
	const struct pod_row *const *row = object->type->pods;

	if (row && object->type->by->spelled)
		object->spelled = object->merged =
			object->type->by->spelled(&builder);
	if (row && object->type->by->merged)
		object->merged = object->type->by->merged(&builder);
	for (; row && *row; row++) {
		if (!version_fits(*row, object->version))
			continue;
		builder.row = *row;
		path_each(&walk, object->merged, (*row)->group, NULL);
	}
}
