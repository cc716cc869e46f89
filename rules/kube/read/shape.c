/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the pods of kinds that are in no table, and of custom kinds without a
 * pod at the places in the table. A map counts as a pod spec if its
 * `containers` is a list of maps with a name or an image, except for three
 * fields of this shape that are not pod specs. Complete objects of known kinds
 * inside of the object are read as embedded objects. For kinds in the policy,
 * the policy contains the paths of their pods.
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

static const char *const here[] = {NULL};
static const struct factor nearest[] = {{count_nearest, BASE_GROUP, NULL, 0},
					{0}};
static const struct pod_row shape_pod = {
	.form = FORM_POD,
	.role = "",
	.count = nearest,
	.peak = nearest,
	.restart = RESTART_UNKNOWN,
	.injects = INJECT_SHM_UNKNOWN,
	.no_image = true,
};
static const struct pod_row shape_spec = {
	.form = FORM_SPEC,
	.role = "",
	.count = nearest,
	.peak = nearest,
	.restart = RESTART_UNKNOWN,
	.injects = INJECT_SHM_UNKNOWN,
	.no_image = true,
	.metadata = here,
};

static bool has_containers(const struct node *map)
{
	const struct node *list = node_get(map, "containers");

	if (!node_is_seq(list) || !node_count(list))
		return false;
	FOR_EACH_CHILD(list, item)
		if (!node_is_map(item) ||
		    (node_is_unset(node_get(item, "name")) &&
		     node_is_unset(node_get(item, "image"))))
			return false;
	return true;
}

static bool key_is(const struct node *node, const char *key)
{
	return node->key && !strcmp(node->key, key);
}

/* True for fields that look like pods but are not, or that contain no
 * manifest. */
static bool left_out(const struct node *node)
{
	static const char *const keys[] = {"metadata",	     "status",
					   "azureBlob",	     "containerSet",
					   "engineRuntimes", NULL};

	return text_any(node->key, keys, text_eq);
}

/* Returns the map that may contain the number of pods: the one around the
 * template or the spec. */
static const struct node *counted_in(const struct node *spec)
{
	const struct node *holder = spec->parent;

	if (key_is(spec, "spec") && holder && key_is(holder, "template"))
		holder = holder->parent;
	return holder ? holder : spec;
}

static bool has_replicas(const struct node *map)
{
	return !node_is_unset(node_get(map, "replicas"));
}

static const struct node *replicas_of(const struct node *spec)
{
	const struct node *holder = counted_in(spec);

	/* A pod spec inlined in another map (a predictor) has replicas among
	 * its own fields. */
	return has_replicas(spec) && !has_replicas(holder) ? spec : holder;
}

/*
 * Returns the factor for groups of groups: `replicas` next to a template
 * multiplies all pods of the template. Next to another key it may count
 * something else.
 */
static struct amount copies_of(const struct node *node)
{
	struct amount n = amount_of(1);

	for (; node->parent; node = node->parent)
		if (node->key && text_contains_ci(node->key, "template") &&
		    node_is_map(node->parent) && has_replicas(node->parent))
			n = amount_mul(n, amount_int(node_get(node->parent,
							      "replicas"),
						     1));
	return n;
}

static void shape_pod_add(struct pod_builder *builder, const struct node *spec)
{
	static const struct factor one[] = {{count_const, BASE_ROOT, NULL, 1},
					    {0}};
	struct pod_row row = shape_spec;
	const struct node *holder = spec;
	size_t npods = builder->object->npods;
	struct amount copies;

	if (key_is(spec, "spec") && spec->parent) {
		row = shape_pod;
		holder = spec->parent;
	}
	builder->group = replicas_of(spec);
	if (!has_replicas(builder->group))
		row.count = row.peak = one;
	builder->row = &row;
	copies = copies_of(builder->group);
	pod_build(builder, holder, NULL);
	for (size_t i = npods; i < builder->object->npods; i++) {
		struct pod *pod = &builder->object->pods[i];

		pod->steady = amount_mul(pod->steady, copies);
		pod->peak = amount_mul(pod->peak, copies);
	}
	builder->row = NULL;
	builder->object->pods_inferred = true;
}

/* True for a complete object of a known kind. */
static bool is_object(const struct node *map)
{
	const char *version = node_str(node_get(map, "apiVersion"));
	const char *kind = node_str(node_get(map, "kind"));
	const char *slash = version ? strchr(version, '/') : NULL;

	if (!version || !kind || node_is_unset(node_get(map, "spec")))
		return false;
	return kind_find(version, slash ? (size_t)(slash - version) : 0, kind);
}

static void shape_walk(struct pod_builder *builder, const struct node *node)
{
	FOR_EACH_CHILD(node, child) {
		if (!child->first || left_out(child))
			continue;
		if (is_object(child))
			embed_add(builder, builder->object->doc, child,
				  amount_of(1));
		else if (has_containers(child))
			shape_pod_add(builder, child);
		else
			shape_walk(builder, child);
	}
}

static bool asks_devices(const struct accelerator_extra *extra,
			 const struct node *node)
{
	struct quantity q;

	FOR_EACH_CHILD(node, child) {
		if (left_out(child))
			continue;
		if (child->first
			    ? asks_devices(extra, child)
			    : child->key && strchr(child->key, '/') &&
				      accelerator_counts(accelerator_find(
					      extra, child->key)) &&
				      node_quantity(child, &q) == QUANTITY_OK &&
				      q.nano > 0)
			return true;
	}
	return false;
}

void shape_read(struct pod_builder *builder)
{
	struct object *object = builder->object;

	if (has_containers(object->root))
		return;
	shape_walk(builder, object->root);
	object->pods_unknown =
		!object->npods && !object->nembedded &&
		asks_devices(&builder->config->accelerators, object->root);
}

/* -- kinds of the policy ------------------------------------------------- */

#define STARS 8

struct pointer_walk {
	struct pod_builder *builder;
	const struct policy_kind *kind;
	const struct node *stars[STARS]; /* node that each * matched */
	size_t nstars;
};

/* True if the reference token of a pointer, with its escapes decoded, equals
 * this key. */
static bool token_is(const char *token, size_t len, const char *key)
{
	for (; len && *key; key++, token++, len--) {
		char c = *token;

		if (c == '~' && len > 1) {
			token++;
			len--;
			c = *token == '1' ? '/' : '~';
		}
		if (c != *key)
			return false;
	}
	return !len && !*key;
}

static const struct node *token_get(const struct node *node, const char *token,
				    size_t len)
{
	size_t at = 0;

	FOR_EACH_CHILD(node, child)
		if (child->key && token_is(token, len, child->key))
			return child;
	if (!node_is_seq(node) || !len || len > 6)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (token[i] < '0' || token[i] > '9')
			return NULL;
		at = at * 10 + (size_t)(token[i] - '0');
	}
	return node_at(node, at);
}

/* Follows the replicas pointer, with the nodes that the pods pointer matched
 * for `*`. */
static const struct node *replicas_at(const struct pointer_walk *walk)
{
	const struct node *node = walk->builder->object->root;
	const char *at = walk->kind->replicas;
	size_t star = 0;

	while (node && *at == '/') {
		size_t len = strcspn(++at, "/");

		if (len == 1 && *at == '*')
			node = star < walk->nstars ? walk->stars[star++] : NULL;
		else
			node = token_get(node, at, len);
		at += len;
	}
	return node;
}

static void policy_pod(struct pointer_walk *walk, const struct node *node)
{
	struct pod_builder *builder = walk->builder;
	struct factor count[] = {{count_const, BASE_ROOT, NULL, 1}, {0}};
	struct pod_row row = shape_spec;
	struct pod *pod;
	size_t before = builder->object->npods;

	if (node_is_map(node_get(node, "spec")))
		row = shape_pod;
	row.count = row.peak = count;
	builder->row = &row;
	builder->group =
		walk->nstars ? walk->stars[walk->nstars - 1] : counted_in(node);
	pod_build(builder, node, NULL);
	builder->row = NULL;
	if (builder->object->npods == before)
		return;
	pod = &builder->object->pods[before];
	if (walk->kind->replicas)
		pod->steady = pod->peak = amount_int(replicas_at(walk), 1);
	if (walk->nstars && pod->group->key)
		pod->role = pod->group->key;
	else if (walk->nstars && node_str(node_get(pod->group, "name")))
		pod->role = node_str(node_get(pod->group, "name"));
}

static void pointer_walk(struct pointer_walk *walk, const struct node *node,
			 const char *at)
{
	size_t len;

	if (!node)
		return;
	if (*at != '/') {
		policy_pod(walk, node);
		return;
	}
	len = strcspn(++at, "/");
	if (len != 1 || *at != '*') {
		pointer_walk(walk, token_get(node, at, len), at + len);
		return;
	}
	if (walk->nstars == STARS)
		return;
	FOR_EACH_CHILD(node, child) {
		walk->stars[walk->nstars++] = child;
		pointer_walk(walk, child, at + len);
		walk->nstars--;
	}
}

void policy_kind_read(struct pod_builder *builder,
		      const struct policy_kind *kind)
{
	struct pointer_walk walk = {.builder = builder, .kind = kind};

	if (kind->pods)
		pointer_walk(&walk, builder->object->root, kind->pods);
}
