/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads configurations of cluster components. A configuration of Kueue, which
 * may be a value of a ConfigMap, is kept if it manages jobs without a queue or
 * maps device classes to resources. A ConfigMap of NVIDIA's device plugin is
 * kept if each of its values renames nvidia.com/gpu, because a node may choose
 * any of them.
 *
 * Sources: kueue v0.13 apis/config/v1beta1/configuration_types.go
 * (manageJobsWithoutQueueName, managedJobsNamespaceSelector,
 * integrations.frameworks); k8s-device-plugin v0.18.0 api/config/v1/replicas.go
 * (renameByDefault adds ".shared").
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/build.h"
#include "doc/load.h"
#include "index_internal.h"

/* Largest configuration that is kept; real ones have about a hundred nodes. */
enum { NODES_MAX = 1000 };

static void add_config(struct object_index *set, const struct object *o,
		       enum config_type type, const struct node *root,
		       uint32_t file)
{
	*ARRAY_PUSH(set->configs, set->nconfigs,
		    set->configs_size) = (struct component_config){
		.type = type,
		.place = place_of(&set->arena, o, index_name_node(o), file),
		.root = root,
		.cluster = set->cluster};
}

static void add_kueue(struct object_index *set, const struct object *o,
		      const struct node *root, uint32_t file)
{
	const char *version = node_str(node_get(root, "apiVersion"));
	uint32_t budget = NODES_MAX;
	struct node *kept;

	if (!version || !text_starts(version, "config.kueue.x-k8s.io/") ||
	    (!node_is_true(node_get(root, "manageJobsWithoutQueueName")) &&
	     node_is_unset(node_path(root, "resources.deviceClassMappings"))))
		return;
	kept = node_copy(&set->arena, root, 0, &budget);
	if (!kept)
		return;
	index_keep_texts(&set->arena, kept);
	add_config(set, o, CONFIG_KUEUE, kept, file);
}

/* True if a way of sharing (time slicing, MPS) renames nvidia.com/gpu. Source:
 * k8s-device-plugin api/config/v1/replicas.go at 03973a9. */
static bool way_renames(const struct node *way)
{
	if (!node_is_true(node_get(way, "renameByDefault")))
		return false;
	FOR_EACH_CHILD(node_get(way, "resources"), one)
		if (node_eq(node_get(one, "name"), "nvidia.com/gpu"))
			return true;
	return false;
}

static bool renames(const struct node *config)
{
	const struct node *sharing = node_get(config, "sharing");

	return way_renames(node_get(sharing, "timeSlicing")) ||
	       way_renames(node_get(sharing, "mps"));
}

void index_add_config(struct object_index *set, const struct object *o,
		      uint32_t file)
{
	const struct node *data = node_get(o->root, "data");
	bool renamed = node_count(data) > 0;

	if (o->fragment)
		return;
	if (object_is(o, "config.kueue.x-k8s.io", "Configuration"))
		add_kueue(set, o, o->root, file);
	if (!object_is(o, "", "ConfigMap"))
		return;
	FOR_EACH_CHILD(data, value) {
		const char *text = text_or_empty(node_str(value));

		if (strstr(text, "manageJobsWithoutQueueName") ||
		    strstr(text, "deviceClassMappings"))
			add_kueue(set, o, yaml_in(&set->arena, value), file);
		renamed = renamed && strstr(text, "renameByDefault") &&
			  renames(yaml_in(&set->arena, value));
	}
	if (renamed)
		add_config(set, o, CONFIG_RENAMED_GPU, NULL, file);
}

bool config_is_beside(const struct object_index *set,
		      const struct component_config *config,
		      const struct workload *w)
{
	const struct workload of = {.place = config->place};

	return config->cluster == w->cluster &&
	       index_set_of(set, &of) == index_set_of(set, w);
}
