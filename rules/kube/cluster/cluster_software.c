/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds software of the cluster whose settings rules need: the arguments and
 * variables of NVIDIA's device plugin, and the images of Karpenter and of
 * operators (cluster_kind.c selects their Deployments). Other DaemonSets and
 * Deployments are not stored. The plugin's containers have the same names in
 * NVIDIA's manifests, its chart and its operator (k8s-device-plugin v0.18.0
 * deployments/, gpu-operator assets/state-device-plugin/).
 */
#include "base/text.h"
#include "cluster_internal.h"

static bool is_plugin(const struct node *container)
{
	static const char *const names[] = {"nvidia-device-plugin",
					    "nvidia-device-plugin-ctr", NULL};
	const char *name = node_str(node_get(container, "name"));

	return name && text_any(name, names, text_eq);
}

/* True for the container of a controller: "controller" in Karpenter's chart,
 * "manager" in Kueue's and Trainer's manifests, "kuberay-operator" in
 * KubeRay's. */
static bool is_controller(const struct node *container)
{
	static const char *const names[] = {"controller", "manager",
					    "kuberay-operator", NULL};
	const char *name = node_str(node_get(container, "name"));

	return name && text_any(name, names, text_eq);
}

static bool is_wanted(enum cluster_kind kind, const struct node *container)
{
	return kind == CLUSTER_DAEMON_SET ? is_plugin(container)
					  : is_controller(container);
}

static const struct node *containers_of(const struct node *root)
{
	return node_path(root, "spec.template.spec.containers");
}

bool cluster_is_wanted(enum cluster_kind kind, const struct node *root)
{
	if (kind != CLUSTER_DAEMON_SET && kind != CLUSTER_DEPLOYMENT)
		return true;
	FOR_EACH_CHILD(containers_of(root), container)
		if (is_wanted(kind, container))
			return true;
	return false;
}

/* Keeps the variables that rules need. Others may contain secrets. */
static struct node *kept_env(struct arena *arena, const struct node *env)
{
	static const char *const names[] = {"DEVICE_LIST_STRATEGY",
					    "CONFIG_FILE", NULL};
	struct node *kept = edit_seq(arena);

	FOR_EACH_CHILD(env, one) {
		const char *name = node_str(node_get(one, "name"));

		if (name && text_any(name, names, text_eq))
			edit_item(kept, edit_copy(arena, one));
	}
	return kept;
}

static struct node *kept_container(struct arena *arena, enum cluster_kind kind,
				   const struct node *container)
{
	static const char *const plugin[] = {"name", "command", "args",
					     "envFrom", NULL};
	static const char *const controller[] = {"name", "image", NULL};
	const char *const *field =
		kind == CLUSTER_DAEMON_SET ? plugin : controller;
	const struct node *env = node_get(container, "env");
	struct node *kept = edit_map(arena);

	for (; *field; field++) {
		const struct node *value = node_get(container, *field);

		if (!node_is_unset(value))
			edit_member(arena, kept, *field,
				    edit_copy(arena, value));
	}
	if (kind == CLUSTER_DAEMON_SET && node_first(env))
		edit_member(arena, kept, "env", kept_env(arena, env));
	return kept;
}

struct node *cluster_kept_containers(struct arena *arena,
				     enum cluster_kind kind,
				     const struct node *root)
{
	struct node *kept = edit_seq(arena);

	FOR_EACH_CHILD(containers_of(root), container)
		if (is_wanted(kind, container))
			edit_item(kept, kept_container(arena, kind, container));
	return kept;
}
