/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds in a snapshot and the fields that are stored: only those that rules
 * read, so that memory stays small and a file can be given to others. The
 * annotations of an object are not stored, and Secrets are never read.
 */
#include <string.h>

#include "base/text.h"
#include "cluster_internal.h"
#include "doc/build.h"
#include "kube/secret/secret.h"

/*
 * Finds software of the cluster whose settings rules need: the arguments and
 * variables of NVIDIA's device plugin, and the images of Karpenter and of
 * operators (cluster_kind.c selects their Deployments). Other DaemonSets and
 * Deployments are not stored. The plugin's containers have the same names in
 * NVIDIA's manifests, its chart and its operator (k8s-device-plugin v0.18.0
 * deployments/, gpu-operator assets/state-device-plugin/).
 */

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

/* Returns the stored fields of those containers of a DaemonSet or a Deployment
 * that rules need. */
static struct node *cluster_kept_containers(struct arena *arena,
					    enum cluster_kind kind,
					    const struct node *root)
{
	struct node *kept = edit_seq(arena);

	FOR_EACH_CHILD(containers_of(root), container)
		if (is_wanted(kind, container))
			edit_item(kept, kept_container(arena, kind, container));
	return kept;
}

enum { FIELDS_MAX = 6, NODES_MAX = 100000 };

static const struct kind_row {
	struct cluster_resource resource;
	bool namespaced;
	const char *fields[FIELDS_MAX];
} rows[CLUSTER_KINDS] = {
	[CLUSTER_NAMESPACE] = {{"Namespace", "", "namespaces", "v1", false,
				NULL},
			       true,
			       {"metadata.labels"}},
	[CLUSTER_QUOTA] = {{"ResourceQuota", "", "resourcequotas", "v1", false,
			    NULL},
			   true,
			   {"spec.hard", "spec.scopes", "spec.scopeSelector",
			    "status.used"}},
	[CLUSTER_LIMIT_RANGE] = {{"LimitRange", "", "limitranges", "v1", false,
				  NULL},
				 true,
				 {"spec.limits"}},
	[CLUSTER_LOCAL_QUEUE] = {{"LocalQueue", "kueue.x-k8s.io", "localqueues",
				  "v1beta2 v1beta1", true, NULL},
				 true,
				 {"spec.clusterQueue", "spec.stopPolicy"}},
	[CLUSTER_VOLUME_CLAIM] = {{"PersistentVolumeClaim", "",
				   "persistentvolumeclaims", "v1", false, NULL},
				  true,
				  {"spec.accessModes"}},
	[CLUSTER_DISRUPTION_BUDGET] = {{"PodDisruptionBudget", "policy",
					"poddisruptionbudgets", "v1", false,
					NULL},
				       true,
				       {"spec.selector", "spec.minAvailable",
					"spec.maxUnavailable"}},
	[CLUSTER_NETWORK_POLICY] = {{"NetworkPolicy", "networking.k8s.io",
				     "networkpolicies", "v1", false, NULL},
				    true,
				    {"spec.podSelector", "spec.policyTypes",
				     "spec.ingress", "spec.egress"}},
	[CLUSTER_PRIORITY_CLASS] = {{"PriorityClass", "scheduling.k8s.io",
				     "priorityclasses", "v1", false, NULL},
				    false,
				    {"value", "globalDefault",
				     "preemptionPolicy"}},
	[CLUSTER_RUNTIME_CLASS] = {{"RuntimeClass", "node.k8s.io",
				    "runtimeclasses", "v1", false, NULL},
				   false,
				   {"handler", "scheduling"}},
	[CLUSTER_NODE_POOL] = {{"NodePool", "karpenter.sh", "nodepools",
				"v1 v1beta1", true, NULL},
			       false,
			       {"spec.template.metadata.labels",
				"spec.template.spec.requirements",
				"spec.template.spec.taints", "spec.limits"}},
	[CLUSTER_QUEUE] = {{"ClusterQueue", "kueue.x-k8s.io", "clusterqueues",
			    "v1beta2 v1beta1", true, NULL},
			   false,
			   {"spec.resourceGroups", "spec.cohort",
			    "spec.cohortName", "spec.stopPolicy",
			    "spec.namespaceSelector"}},
	[CLUSTER_FLAVOR] = {{"ResourceFlavor", "kueue.x-k8s.io",
			     "resourceflavors", "v1beta2 v1beta1", true, NULL},
			    false,
			    {"spec.nodeLabels", "spec.nodeTaints",
			     "spec.tolerations", "spec.topologyName"}},
	[CLUSTER_TOPOLOGY] = {{"Topology", "kueue.x-k8s.io", "topologies",
			       "v1beta2 v1beta1 v1alpha1", true, NULL},
			      false,
			      {"spec.levels"}},
	[CLUSTER_VOLCANO_QUEUE] = {{"Queue", "scheduling.volcano.sh", "queues",
				    "v1beta1", true, NULL},
				   false,
				   {"spec.capability", "spec.parent",
				    "status.state"}},
	[CLUSTER_KAI_QUEUE] = {{"Queue", "scheduling.run.ai", "queues", "v2",
				true, NULL},
			       false,
			       {"spec.parentQueue", "spec.resources"}},
	[CLUSTER_DEVICE_CLASS] = {{"DeviceClass", "resource.k8s.io",
				   "deviceclasses",
				   "v1 v1beta2 v1beta1 v1alpha3", true, NULL},
				  false,
				  {"spec.extendedResourceName",
				   "spec.selectors"}},
	[CLUSTER_RESOURCE_SLICE] = {{"ResourceSlice", "resource.k8s.io",
				     "resourceslices", "v1 v1beta2 v1beta1",
				     true, NULL},
				    false,
				    {"spec.driver", "spec.pool",
				     "spec.nodeName", "spec." SLICE_COUNT,
				     "spec." SLICE_MULTIPLE}},
	[CLUSTER_GPU_OPERATOR] = {{"ClusterPolicy", "nvidia.com",
				   "clusterpolicies", "v1", true, NULL},
				  false,
				  {"metadata.labels", "spec.cdi",
				   "spec.devicePlugin.env"}},
	[CLUSTER_DAEMON_SET] = {{"DaemonSet", "apps", "daemonsets", "v1", true,
				 NULL},
				false,
				{"spec.template.spec.runtimeClassName"}},
	[CLUSTER_DEPLOYMENT] = {{"Deployment", "apps", "deployments", "v1",
				 true,
				 "labelSelector=app.kubernetes.io%2Fname"
				 "%20in%20%28jobset%2Ckarpenter%2Ckserve%2C"
				 "kserve-controller-manager%2Ckuberay%2C"
				 "kuberay-operator%2Ckueue%2Clws%2C"
				 "trainer%29"},
				false,
				{NULL}},
	[CLUSTER_TRAINING_RUNTIME] = {{"TrainingRuntime",
				       "trainer.kubeflow.org",
				       "trainingruntimes", "v1alpha1", true,
				       NULL},
				      true,
				      {"spec.mlPolicy", "spec.template"}},
	[CLUSTER_ALL_TRAINING_RUNTIME] = {{"ClusterTrainingRuntime",
					   "trainer.kubeflow.org",
					   "clustertrainingruntimes",
					   "v1alpha1", true, NULL},
					  false,
					  {"spec.mlPolicy", "spec.template"}},
	[CLUSTER_SERVING_RUNTIME] = {{"ServingRuntime", "serving.kserve.io",
				      "servingruntimes", "v1alpha1", true,
				      NULL},
				     true,
				     {"spec"}},
	[CLUSTER_ALL_SERVING_RUNTIME] = {{"ClusterServingRuntime",
					  "serving.kserve.io",
					  "clusterservingruntimes", "v1alpha1",
					  true, NULL},
					 false,
					 {"spec"}},
	[CLUSTER_WORKFLOW_TEMPLATE] = {{"WorkflowTemplate", "argoproj.io",
					"workflowtemplates", "v1alpha1", true,
					NULL},
				       true,
				       {"spec"}},
	[CLUSTER_ALL_WORKFLOW_TEMPLATE] = {{"ClusterWorkflowTemplate",
					    "argoproj.io",
					    "clusterworkflowtemplates",
					    "v1alpha1", true, NULL},
					   false,
					   {"spec"}},
	[CLUSTER_ENGINE_PROFILE] = {{"ClusterEngineRuntimeProfile",
				     "workloads.x-k8s.io",
				     "clusterengineruntimeprofiles",
				     "v1alpha2 v1alpha1", true, NULL},
				    false,
				    {"spec"}},
	[CLUSTER_NIM_CACHE] = {{"NIMCache", "apps.nvidia.com", "nimcaches",
				"v1alpha1", true, NULL},
			       true,
			       {"spec.source", "status.profiles"}},
	[CLUSTER_NODE] = {{"Node", "", "nodes", "v1", false, NULL},
			  false,
			  {"metadata.labels", "spec.taints",
			   "status.allocatable"}},
	[CLUSTER_POD] = {{"Pod", "", "pods", "v1", false, NULL}, true, {NULL}},
};

const struct cluster_resource *cluster_resource(enum cluster_kind kind)
{
	return &rows[kind].resource;
}

bool cluster_kind_is_namespaced(enum cluster_kind kind)
{
	return rows[kind].namespaced;
}

bool cluster_kind_owns(enum cluster_kind kind)
{
	return kind == CLUSTER_DAEMON_SET || kind == CLUSTER_DEPLOYMENT;
}

bool cluster_kind_is_runtime(enum cluster_kind kind)
{
	return kind >= CLUSTER_TRAINING_RUNTIME && kind <= CLUSTER_NIM_CACHE;
}

enum cluster_kind cluster_kind_of(const char *api_version, const char *kind)
{
	const char *slash = strchr(api_version, '/');
	size_t len = slash ? (size_t)(slash - api_version) : 0;

	for (int i = 0; i < CLUSTER_KINDS; i++)
		if (!strcmp(rows[i].resource.kind, kind) &&
		    strlen(rows[i].resource.group) == len &&
		    !memcmp(rows[i].resource.group, api_version, len))
			return i;
	return CLUSTER_OTHER;
}

/* --- fields that are stored ----------------------------------------------- */

static struct node *child_map(struct arena *arena, struct node *map,
			      const char *key, size_t len)
{
	struct node *child = node_find(arena, map, key, len);

	if (child)
		return child;
	child = node_new(arena, NODE_MAP);
	edit_member(arena, map, arena_strndup(arena, key, len), child);
	return child;
}

/* Copies the value at a dotted path of `from` to the same path of `to`. */
static void keep_path(struct arena *arena, const struct node *from,
		      struct node *to, const char *path)
{
	const struct node *value = node_path(from, path);
	uint32_t budget = NODES_MAX;
	const char *dot;
	struct node *copy;

	if (node_is_unset(value))
		return;
	for (; (dot = strchr(path, '.')); path = dot + 1)
		to = child_map(arena, to, path, (size_t)(dot - path));
	copy = node_copy(arena, value, 0, &budget);
	if (copy)
		edit_member(arena, to, path, copy);
}

static void keep_containers(struct arena *arena, enum cluster_kind kind,
			    const struct node *root, struct node *to)
{
	static const char *const path[] = {"spec", "template", "spec", NULL};

	for (size_t i = 0; path[i]; i++)
		to = child_map(arena, to, path[i], strlen(path[i]));
	edit_member(arena, to, "containers",
		    cluster_kept_containers(arena, kind, root));
}

static int check_amounts(const struct node *map, const char *where,
			 struct err *err)
{
	FOR_EACH_CHILD(map, entry) {
		struct quantity q;

		if (node_quantity(entry, &q) == QUANTITY_INVALID)
			return err_set(err, 0, "%s.%s: `%s` is not a quantity",
				       where, entry->key,
				       entry->str ? entry->str : "");
	}
	return 0;
}

/* Masks secrets in all strings of a runtime, because a snapshot may be given to
 * others. */
static void mask(struct arena *arena, const struct secrets *secrets,
		 struct node *node)
{
	if (node->type == NODE_STRING) {
		node->str = secrets_mask(secrets, arena, node->str);
		node->len = (uint32_t)strlen(node->str);
	}
	for (struct node *child = node->first; child; child = child->next)
		mask(arena, secrets, child);
}

static void mask_secrets(struct arena *arena, struct node *kept)
{
	struct secrets secrets = {.arena = arena};

	secrets_of_tree(&secrets, kept);
	secrets_finish(&secrets);
	if (secrets.n)
		mask(arena, &secrets, kept);
}

/* Stores the number of a ResourceSlice's devices, and whether one of them may
 * be allocated to several claims, instead of the devices. In v1beta1, the
 * fields of a device are in `basic`. */
static void keep_devices(struct arena *arena, const struct node *root,
			 struct node *kept)
{
	const struct node *devices = node_path(root, "spec.devices");
	struct node *spec = child_map(arena, kept, "spec", strlen("spec"));

	if (node_is_unset(node_get(spec, SLICE_COUNT)))
		edit_member(arena, spec, SLICE_COUNT,
			    edit_int(arena, node_count(devices)));
	FOR_EACH_CHILD(devices, device)
		if (node_is_true(
			    node_get(device, "allowMultipleAllocations")) ||
		    node_is_true(node_path(device,
					   "basic.allowMultipleAllocations"))) {
			edit_member(arena, spec, SLICE_MULTIPLE,
				    edit_bool(arena, true));
			return;
		}
}

struct node *cluster_trim(struct arena *arena, enum cluster_kind kind,
			  const struct node *root, struct err *err)
{
	struct node *kept = node_new(arena, NODE_MAP);

	for (int i = 0; i < FIELDS_MAX && rows[kind].fields[i]; i++)
		keep_path(arena, root, kept, rows[kind].fields[i]);
	if (kind == CLUSTER_RESOURCE_SLICE)
		keep_devices(arena, root, kept);
	if (cluster_kind_owns(kind))
		keep_containers(arena, kind, root, kept);
	if (cluster_kind_is_runtime(kind))
		mask_secrets(arena, kept);
	if (kind == CLUSTER_QUOTA &&
	    (check_amounts(node_path(kept, "spec.hard"), "spec.hard", err) ||
	     check_amounts(node_path(kept, "status.used"), "status.used", err)))
		return NULL;
	return kept;
}
