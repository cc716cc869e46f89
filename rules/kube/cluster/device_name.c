/* SPDX-License-Identifier: Apache-2.0 */
/* Source: k8s.io/api resource/v1 DeviceClassSpec. */
#include "kube/device_name.h"

#include <string.h>

#include "base/text.h"
#include "doc/load.h"
#include "kube/claim.h"

#define FIELD	 "spec.extendedResourceName"
#define IMPLICIT "deviceclass.resource.kubernetes.io/"

/*
 * The vendor is taken from the names and selectors of the class: selectors name
 * the driver (`device.driver == 'gpu.nvidia.com'`).
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

	for (size_t i = 0; text && i < sizeof(words) / sizeof(*words); i++)
		if (text_contains_ci(text, words[i][0]))
			return words[i][1];
	return NULL;
}

static const char *vendor_of(const char *class, const struct node *root)
{
	const char *resource = node_str(node_path(root, FIELD));
	const char *vendor = vendor_in(class);
	bool gpu = claim_class_use(class) == TRI_YES ||
		   claim_class_use(resource) == TRI_YES;

	if (claim_class_use(class) == TRI_NO)
		return NULL;
	if (!vendor)
		vendor = vendor_in(resource);
	FOR_EACH_CHILD(node_path(root, "spec.selectors"), selector) {
		const char *cel =
			node_str(node_path(selector, "cel.expression"));

		gpu |= claim_class_use(cel) == TRI_YES;
		if (!vendor)
			vendor = vendor_in(cel);
	}
	return gpu ? vendor : NULL;
}

struct naming {
	void (*found)(void *context, const struct device_name *name);
	void *context;
};

static void take(const struct naming *naming, struct arena *arena,
		 const struct node *root)
{
	const char *class = node_str(node_path(root, "metadata.name"));
	const char *resource = node_str(node_path(root, FIELD));
	const char *vendor;

	if (!class || !node_eq(node_get(root, "kind"), "DeviceClass"))
		return;
	vendor = vendor_of(class, root);
	naming->found(
		naming->context,
		&(struct device_name){arena_printf(arena, IMPLICIT "%s", class),
				      vendor});
	if (resource)
		naming->found(naming->context,
			      &(struct device_name){resource, vendor});
}

/* The linter reports what is wrong with the text. */
static void ignore_issue(void *context, const struct load_issue *issue)
{
	(void)context;
	(void)issue;
}

void device_names_of_text(struct arena *arena, const char *text, size_t len,
			  void (*found)(void *context,
					const struct device_name *name),
			  void *context)
{
	const struct naming naming = {found, context};
	struct source source;
	struct loader loader;
	struct doc doc;

	source_init(&source, arena, "", text, len);
	/* In what was decoded: the bytes may be UTF-16. */
	if (!text_find(source.text, source.len, "DeviceClass"))
		return;
	loader_init(&loader, &source, &load_limits_default, arena);
	loader.issue = ignore_issue;
	while (loader_next(&loader, &doc)) {
		take(&naming, arena, doc.root);
		FOR_EACH_CHILD(node_get(doc.root, "items"), item)
			take(&naming, arena, item);
	}
}

bool device_name_in_cluster(const struct cluster *cluster, const char *resource,
			    struct arena *arena, struct device_name *name)
{
	const struct cluster_object *objects;
	size_t n;

	if (!cluster)
		return false;
	objects = cluster_objects(cluster, CLUSTER_DEVICE_CLASS, "", arena, &n);
	for (size_t i = 0; i < n; i++) {
		const struct node *root = objects[i].root;

		if (!node_eq(node_path(root, FIELD), resource) &&
		    !(text_starts(resource, IMPLICIT) &&
		      text_eq(objects[i].name, resource + strlen(IMPLICIT))))
			continue;
		*name = (struct device_name){resource,
					     vendor_of(objects[i].name, root)};
		return true;
	}
	return false;
}
