/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports sharing configurations that the NVIDIA device plugin rejects, and
 * their keys that it ignores. Each value in the ConfigMap is one configuration.
 * The plugin ignores `rename` unless it is the default (k8s-device-plugin
 * api/config/v1/config.go at 03973a9, DisableResourceNamingInConfig).
 */
#include <string.h>

#include "base/text.h"
#include "doc/load.h"
#include "engine/rule.h"

static void check_resource(struct rule_run *run, const struct object *object,
			   const struct node *at, const struct node *entry)
{
	const char *name = node_str(node_get(entry, "name"));
	int64_t replicas;

	/* The plugin adds its prefix to such a name (NewResourceName()). */
	if (name && !strchr(name, '/'))
		name = arena_printf(rule_arena(run), "nvidia.com/%s", name);
	if (name && !accelerator_find(rule_accelerators(run), name) &&
	    accelerator_resembles(rule_accelerators(run), name))
		report_object(run, object, at,
			      "`sharing` of `%s` names `%s`, which no node has",
			      at->key, name);
	if (node_int(node_get(entry, "replicas"), &replicas) && replicas < 2)
		report_object(
			run, object, at,
			"`sharing` of `%s` sets %s, but the plugin requires 2 or more",
			at->key, rule_count(run, replicas, "replica"));
}

/* Reports keys that the plugin reads in another place, or not at all. */
static void check_names(struct rule_run *run, const struct object *object,
			const struct node *at, const struct node *sharing)
{
	static const char *const ways[] = {"timeSlicing", "mps"};
	static const char *const keys[] = {"renameByDefault",
					   "failRequestsGreaterThanOne"};
	const struct node *flags = node_path(sharing->parent, "flags");

	for (size_t i = 0; i < 2; i++) {
		const struct node *way = node_get(sharing, ways[i]);

		FOR_EACH_CHILD(node_get(way, "resources"), entry) {
			const char *name = node_str(node_get(entry, "rename"));

			if (name && !text_ends(name, ".shared"))
				report_object(
					run, object, at,
					"`rename: %s` of `%s` has no effect: the resource keeps its name",
					name, at->key);
		}
		if (node_get(flags, keys[i]))
			report_object(
				run, object, at,
				"`flags.%s` of `%s` has no effect: it belongs in `sharing.timeSlicing`",
				keys[i], at->key);
	}
}

static void check_config(struct rule_run *run, const struct object *object,
			 const struct node *at)
{
	const struct node *root = yaml_in(rule_arena(run), at);
	const struct node *sharing = node_get(root, "sharing");
	const struct node *strategy = node_path(root, "flags.migStrategy");
	const struct node *mps = node_get(sharing, "mps");

	if (!node_is_map(sharing))
		return;
	check_names(run, object, at, sharing);
	FOR_EACH_CHILD(node_path(sharing, "timeSlicing.resources"), entry)
		check_resource(run, object, at, entry);
	FOR_EACH_CHILD(node_get(mps, "resources"), entry)
		check_resource(run, object, at, entry);
	if (node_count(mps) && node_eq(strategy, "mixed"))
		report_object(
			run, object, at,
			"`%s` uses MPS with `migStrategy: %s`, which MPS does not support",
			at->key, node_str(strategy));
}

static void check(struct rule_run *run, const struct object *object)
{
	if (!object_is(object, "", "ConfigMap"))
		return;
	FOR_EACH_CHILD(node_get(object->root, "data"), value)
		if (node_str(value) && strstr(node_str(value), "sharing:") &&
		    (strstr(node_str(value), "timeSlicing:") ||
		     strstr(node_str(value), "mps:")))
			check_config(run, object, value);
}

const struct rule rule_device_plugin_config_invalid = {
	.name = "device-plugin-config-invalid",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.summary =
		"a sharing configuration that the NVIDIA device plugin rejects, or a key that it ignores",
	.why = "If the plugin rejects the configuration, it does not start or shares no device: GPU pods of these nodes stay Pending. If it ignores a key, the default stays in effect.",
	.remedy =
		"Name nvidia.com/gpu or a MIG resource, with 2 or more replicas. Use MPS only on GPUs without MIG. Put renameByDefault and failRequestsGreaterThanOne in sharing.timeSlicing, and remove rename.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus; https://github.com/NVIDIA/k8s-device-plugin/blob/main/api/config/v1/replicas.go",
	.check_object = check,
};
