/* SPDX-License-Identifier: Apache-2.0 */
/* Names defined by DeviceClasses, RuntimeClasses, LocalModelCaches, Namespaces,
 * CustomResourceDefinitions, ConfigMaps and Secrets. Sources: k8s.io/api
 * resource/v1 DeviceClassSpec; kserve pkg/apis/serving v1alpha1
 * local_model_cache_types.go. */
#include "kube/defined_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/claim.h"

#define FIELD	    "spec.extendedResourceName"
#define IMPLICIT    "deviceclass.resource.kubernetes.io/"
#define ADMIN_LABEL "resource.kubernetes.io/admin-access"

/*
 * Returns the vendor that the name or a selector of a DeviceClass contains, or
 * NULL. Selectors name the driver (`device.driver == 'gpu.nvidia.com'`).
 */
static const char *vendor_in(const char *text)
{
	static const char *const words[][2] = {
		{"nvidia", "nvidia"},	{"amd.com", "amd"},
		{"intel.com", "intel"}, {"gaudi", "habana"},
		{"aws.com", "aws"},	{"tpu.google.com", "google"},
		{"a100", "nvidia"},	{"h100", "nvidia"},
		{"h200", "nvidia"},	{"b200", "nvidia"},
	};

	for (size_t i = 0; text && i < ARRAY_SIZE(words); i++)
		if (text_contains_ci(text, words[i][0]))
			return words[i][1];
	return NULL;
}

static const char *vendor_of(const char *class, const struct node *root)
{
	const char *resource = node_str(node_path(root, FIELD));
	const char *vendor = vendor_in(class);
	bool gpu = claim_class_use(NULL, class) == TRI_YES ||
		   claim_class_use(NULL, resource) == TRI_YES;

	if (claim_class_use(NULL, class) == TRI_NO)
		return NULL;
	if (!vendor)
		vendor = vendor_in(resource);
	FOR_EACH_CHILD(node_path(root, "spec.selectors"), selector) {
		const char *cel =
			node_str(node_path(selector, "cel.expression"));

		gpu |= claim_class_use(NULL, cel) == TRI_YES;
		if (!vendor)
			vendor = vendor_in(cel);
	}
	return gpu ? vendor : NULL;
}

struct naming {
	void (*found)(void *context, const struct defined_name *name);
	void *context;
};

static void found_name(const struct naming *naming, enum defined_kind kind,
		       const char *text, const char *vendor)
{
	if (text)
		naming->found(naming->context,
			      &(struct defined_name){kind, text, vendor});
}

static void read_class(const struct naming *naming, struct arena *arena,
		       const char *name, const struct node *root)
{
	const char *vendor = vendor_of(name, root);

	found_name(naming, DEFINED_DEVICE,
		   arena_printf(arena, IMPLICIT "%s", name), vendor);
	found_name(naming, DEFINED_DEVICE, node_str(node_path(root, FIELD)),
		   vendor);
}

/* A label with an unknown value may be "true". */
static enum defined_kind namespace_kind(const struct node *root)
{
	const struct node *labels = node_path(root, "metadata.labels");
	const struct node *label = node_get(labels, ADMIN_LABEL);

	return node_eq(label, "true") || node_is_unknown(label) ||
			       node_is_unknown(labels)
		       ? DEFINED_ADMIN
		       : DEFINED_NO_ADMIN;
}

/* True if the key, with a prefix, may be the name of a variable by which the
 * nvidia runtime shows devices. */
static bool may_show_devices(const char *key)
{
	return *key && (text_ends("NVIDIA_VISIBLE_DEVICES", key) ||
			text_ends("CUDA_VERSION", key));
}

/* Reads the keys of a ConfigMap or Secret. If they are unknown, gives neither a
 * DEFINED_VARIABLE nor a DEFINED_NO_VARIABLE. */
static void read_variables(const struct naming *naming, struct arena *arena,
			   const char *kind, const struct node *root)
{
	static const char *const maps[] = {"data", "stringData", NULL};
	const struct node *metadata = node_get(root, "metadata");
	const char *id = arena_printf(
		arena, "%s/%s/%s",
		text_or_empty(node_str(node_get(metadata, "namespace"))), kind,
		node_str(node_get(metadata, "name")));
	bool any = false;

	for (const char *const *map = maps; *map; map++) {
		any |= node_is_unknown(node_get(root, *map));
		FOR_EACH_CHILD(node_get(root, *map), value) {
			if (!value->key || !may_show_devices(value->key))
				continue;
			any = true;
			found_name(naming, DEFINED_VARIABLE,
				   arena_printf(arena, "%s/%s", id, value->key),
				   NULL);
		}
	}
	if (!any)
		found_name(naming, DEFINED_NO_VARIABLE, id, NULL);
}

static void read_object(const struct naming *naming, struct arena *arena,
			const struct node *root)
{
	const char *kind = node_str(node_get(root, "kind"));
	const char *name = node_str(node_path(root, "metadata.name"));

	if (text_eq(kind, "DeviceClass") && name) {
		read_class(naming, arena, name, root);
	} else if (text_eq(kind, "RuntimeClass")) {
		if (node_count(node_get(root, "scheduling")))
			found_name(naming, DEFINED_RUNTIME, name, NULL);
	} else if (name &&
		   (text_eq(kind, "ConfigMap") || text_eq(kind, "Secret"))) {
		read_variables(naming, arena, kind, root);
	} else if (text_eq(kind, "Namespace")) {
		found_name(naming, namespace_kind(root), name, NULL);
	} else if (text_eq(kind, "CustomResourceDefinition")) {
		found_name(naming, DEFINED_KIND,
			   arena_printf(arena, "%s/%s",
					text_or_empty(node_str(
						node_path(root, "spec.group"))),
					text_or_empty(node_str(node_path(
						root, "spec.names.kind")))),
			   NULL);
	} else if (text_eq(kind, "LocalModelCache") ||
		   text_eq(kind, "LocalModelNamespaceCache")) {
		found_name(naming, DEFINED_MODEL,
			   node_str(node_path(root, "spec.sourceModelUri")),
			   NULL);
	}
}

/* True if the path is in the folder, as KServe's MatchStorageURI() decides. */
static bool is_below(const char *text, const char *folder)
{
	size_t len = strlen(folder);

	while (len && folder[len - 1] == '/')
		len--;
	return len && !strncmp(text, folder, len) &&
	       (!text[len] || text[len] == '/');
}

bool defined_name_is(const struct defined_name *name, enum defined_kind kind,
		     const char *text)
{
	return name->kind == kind &&
	       (kind == DEFINED_MODEL ? is_below(text, name->text)
				      : text_eq(name->text, text));
}

bool defined_names_may_be_in(const char *text, size_t len)
{
	static const char *const kinds[] = {"DeviceClass",
					    "RuntimeClass",
					    "LocalModel",
					    "Namespace",
					    "CustomResourceDefinition",
					    "ConfigMap",
					    "Secret"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (text_find(text, len, kinds[i]))
			return true;
	return false;
}

void defined_names_of(const struct doc *doc, struct arena *arena,
		      void (*found)(void *context,
				    const struct defined_name *name),
		      void *context)
{
	const struct naming naming = {found, context};

	read_object(&naming, arena, doc->root);
	FOR_EACH_CHILD(node_get(doc->root, "items"), item)
		read_object(&naming, arena, item);
}

/* --- names in a cluster --------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	const struct defined_name *x = a, *y = b;
	int c = strcmp(x->text, y->text);

	if (c)
		return c;
	/* If two names are equal, the one of an accelerator comes first. */
	return strcmp(text_or_empty(y->vendor), text_or_empty(x->vendor));
}

static void keep_name(void *context, const struct defined_name *name)
{
	struct cluster_names *names = context;

	names->items[names->n++] = *name;
}

void cluster_names_read(struct cluster_names *names,
			const struct cluster *cluster)
{
	const struct naming naming = {keep_name, names};
	const struct cluster_object *classes;
	size_t n;

	if (!cluster || names->serial == cluster_serial(cluster))
		return;
	arena_reset(&names->arena);
	classes = cluster_objects(cluster, CLUSTER_DEVICE_CLASS, "",
				  &names->arena, &n);
	names->items =
		ARENA_ARRAY(&names->arena, struct defined_name, 2 * n + 1);
	names->n = 0;
	for (size_t i = 0; i < n; i++)
		read_class(&naming, &names->arena, classes[i].name,
			   classes[i].root);
	qsort(names->items, names->n, sizeof(*names->items), by_text);
	names->serial = cluster_serial(cluster);
}

const struct defined_name *cluster_name_find(const struct cluster_names *names,
					     const char *resource)
{
	size_t from = 0, to = names->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (strcmp(names->items[middle].text, resource) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < names->n && text_eq(names->items[from].text, resource)
		       ? &names->items[from]
		       : NULL;
}
