/* SPDX-License-Identifier: Apache-2.0 */
/* Source: k8s.io/api resource/v1 DeviceClassSpec. */
#include "kube/device_name.h"

#include "base/text.h"
#include "doc/load.h"

#define FIELD "spec.extendedResourceName"

struct naming {
	void (*found)(void *context, const char *name);
	void *context;
};

static void take(const struct naming *naming, const struct node *root)
{
	const char *name = node_str(node_path(root, FIELD));

	if (name && node_eq(node_get(root, "kind"), "DeviceClass"))
		naming->found(naming->context, name);
}

/* The linter reports what is wrong with the text. */
static void ignore_issue(void *context, const struct load_issue *issue)
{
	(void)context;
	(void)issue;
}

void device_names_of_text(struct arena *arena, const char *text, size_t len,
			  void (*found)(void *context, const char *name),
			  void *context)
{
	const struct naming naming = {found, context};
	struct source source;
	struct loader loader;
	struct doc doc;

	source_init(&source, arena, "", text, len);
	/* In what was decoded: the bytes may be UTF-16. */
	if (!text_find(source.text, source.len, "extendedResourceName"))
		return;
	loader_init(&loader, &source, &load_limits_default, arena);
	loader.issue = ignore_issue;
	while (loader_next(&loader, &doc)) {
		take(&naming, doc.root);
		FOR_EACH_CHILD(node_get(doc.root, "items"), item)
			take(&naming, item);
	}
}

bool device_name_in_cluster(const struct cluster *cluster, const char *resource,
			    struct arena *arena)
{
	const struct cluster_object *objects;
	size_t n;

	if (!cluster)
		return false;
	objects = cluster_objects(cluster, CLUSTER_DEVICE_CLASS, "", arena, &n);
	for (size_t i = 0; i < n; i++)
		if (node_eq(node_path(objects[i].root, FIELD), resource))
			return true;
	return false;
}
