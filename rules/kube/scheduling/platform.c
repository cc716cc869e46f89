/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs of a managed platform and properties of a cluster. GKE adds tolerations
 * itself (ExtendedResourceToleration). On EKS, AKS and with Karpenter, the
 * owner of a node pool chooses its taints, which need not include the vendor's
 * key. Sources: GKE "Run GPUs in Standard node pools", Karpenter NodePool
 * spec.template.spec.taints, AKS "Use GPUs": --node-taints.
 */
#include "kube/platform.h"

#include <stdlib.h>

#include "base/text.h"
#include "rules/kube/kinds.h"

#include "kube/scheduling/affinity.h"

static bool is_of_platform(const struct node_need *need)
{
	const struct node_label *label = node_label_find(need->key);
	const struct node *value = node_need_value(need, 0);

	if (label && label->meaning == LABEL_INSTANCE)
		return node_str(value) && instance_type_find(node_str(value));
	return label && label->platform;
}

static bool annotates_platform(const struct node *metadata)
{
	return node_get(node_get(metadata, "annotations"),
			"serving.kserve.io/gke-accelerator");
}

static bool shows_platform(const struct object *object)
{
	if (annotates_platform(node_get(object->root, "metadata")))
		return true;
	FOR_EACH_POD(object, pod) {
		struct node_needs needs = pod_node_needs(pod);

		if (needs.unknown || annotates_platform(pod->metadata))
			return true;
		for (size_t i = 0; i < needs.n; i++)
			if (is_of_platform(&needs.items[i]))
				return true;
	}
	return false;
}

/* Stores the result, because it is needed for every pod and depends on all
 * pods. */
bool object_shows_platform(const struct object *object)
{
	struct pod_memo *memo = object->npods ? object->pods->memo : NULL;

	if (!memo)
		return shows_platform(object);
	if (!memo->platform_known)
		memo->platform = shows_platform(object);
	memo->platform_known = true;
	return memo->platform;
}

/* --- device injection ----------------------------------------------------- */

/* Returns the mechanism for a value of DEVICE_LIST_STRATEGY; unknown for NULL.
 * The value is a list; if it contains envvar, the variable is set in
 * containers. */
static enum device_injection of_strategy(const char *strategy)
{
	if (!strategy)
		return INJECTION_UNKNOWN;
	if (strstr(strategy, "envvar"))
		return INJECTION_ENVVAR;
	if (strstr(strategy, "volume-mounts"))
		return INJECTION_VOLUME_MOUNTS;
	return text_starts(strategy, "cdi-") ? INJECTION_CDI
					     : INJECTION_UNKNOWN;
}

/* True if the version in the label of the chart ("v25.10.1") is one that uses
 * CDI. */
static bool is_since_cdi(const struct node *labels)
{
	const char *text =
		node_str(node_get(labels, "app.kubernetes.io/version"));
	char *end = NULL;
	long year, month;

	if (!text)
		return false;
	year = strtol(text + (*text == 'v'), &end, 10);
	month = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	return year > 25 || (year == 25 && month >= 10);
}

/*
 * Returns the mechanism of a GPU Operator. Before v25.10, its nvidia runtime
 * was the default and used CDI to implement the variable; since then, another
 * runtime is the default.
 */
static enum device_injection of_operator(const struct node *root)
{
	const struct node *cdi = node_path(root, "spec.cdi.enabled");

	FOR_EACH_CHILD(node_path(root, "spec.devicePlugin.env"), one)
		if (node_eq(node_get(one, "name"), "DEVICE_LIST_STRATEGY"))
			return of_strategy(node_str(node_get(one, "value")));
	if (node_is_false(cdi))
		return INJECTION_ENVVAR;
	if (node_is_true(cdi) &&
	    is_since_cdi(node_path(root, "metadata.labels")))
		return INJECTION_CDI;
	return INJECTION_UNKNOWN;
}

struct plugin_flags {
	const char *strategy;
	bool file, unknown;
};

/* Reads the flags of the plugin. A shell script, or an unknown argument, may
 * contain a flag that is not found. */
static void read_flags(struct plugin_flags *flags, const struct node *words)
{
	static const char name[] = "--device-list-strategy";

	FOR_EACH_CHILD(words, word) {
		const char *text = node_str(word);

		if (!text || strchr(text, '$') || strchr(text, ' ')) {
			flags->unknown = true;
		} else if (text_starts(text, "--config-file")) {
			flags->file = true;
		} else if (text_starts(text, name)) {
			flags->unknown |= flags->strategy != NULL;
			text += strlen(name);
			flags->strategy =
				*text == '=' ? text + 1 : node_str(word->next);
		}
	}
}

/* Returns the mechanism that the plugin's container uses: a flag overrides the
 * variable, and the variable overrides a settings file (k8s-device-plugin
 * v0.18.0 cmd/nvidia-device-plugin). */
static enum device_injection of_container(const struct node *c)
{
	struct plugin_flags flags = {0};

	read_flags(&flags, node_get(c, "command"));
	read_flags(&flags, node_get(c, "args"));
	if (flags.unknown)
		return INJECTION_UNKNOWN;
	if (flags.strategy)
		return of_strategy(flags.strategy);
	FOR_EACH_CHILD(node_get(c, "env"), one)
		if (node_eq(node_get(one, "name"), "DEVICE_LIST_STRATEGY"))
			return of_strategy(node_str(node_get(one, "value")));
	flags.file |= node_first(node_get(c, "env")) || node_get(c, "envFrom");
	return flags.file ? INJECTION_UNKNOWN : INJECTION_ENVVAR;
}

/*
 * Returns the mechanism of a device plugin. It needs NVIDIA's runtime to see
 * the GPUs. If it sets a runtime class, another runtime may be the default; if
 * not, NVIDIA's is the default, which reads the variable with any strategy.
 */
static enum device_injection of_plugin(const struct node *root)
{
	const struct node *pod = node_path(root, "spec.template.spec");
	bool named = node_get(pod, "runtimeClassName") != NULL;
	enum device_injection found =
		of_container(node_first(node_get(pod, "containers")));

	return named == (found == INJECTION_CDI) ? found : INJECTION_UNKNOWN;
}

static enum device_injection of_plugins(const struct cluster *cluster,
					struct arena *arena)
{
	const struct cluster_object *objects;
	enum device_injection found;
	size_t n;

	objects = cluster_objects(cluster, CLUSTER_DAEMON_SET, "", arena, &n);
	found = n ? of_plugin(objects->root) : INJECTION_UNKNOWN;
	for (size_t i = 1; i < n; i++)
		if (of_plugin(objects[i].root) != found)
			return INJECTION_UNKNOWN;
	return found;
}

enum device_injection cluster_injection(const struct cluster *cluster,
					struct arena *arena)
{
	enum device_injection found;
	const struct cluster_object *objects;
	size_t n;

	if (!cluster)
		return INJECTION_UNKNOWN;
	found = of_plugins(cluster, arena);
	if (found != INJECTION_UNKNOWN)
		return found;
	objects = cluster_objects(cluster, CLUSTER_GPU_OPERATOR, "", arena, &n);
	return n == 1 ? of_operator(objects->root) : INJECTION_UNKNOWN;
}

/* --- versions ------------------------------------------------------------- */

/* Returns the minor version of a version 1 in the image
 * "HOST/REPOSITORY:1.12.0@DIGEST"; 0 if it has none. */
static int minor_of_image(const char *image)
{
	const char *name = image ? strrchr(image, '/') : NULL;
	const char *tag = name ? strchr(name, ':') : NULL;
	int version[2];

	if (!tag)
		return 0;
	text_version(tag + 1, version, 2);
	return version[0] == 1 && version[1] > 0 ? version[1] : 0;
}

int cluster_karpenter(const struct cluster *cluster, struct arena *arena)
{
	const struct cluster_object *objects;
	int found = 0;
	size_t n;

	if (!cluster)
		return 0;
	objects = cluster_objects(cluster, CLUSTER_DEPLOYMENT, "", arena, &n);
	for (size_t i = 0; i < n; i++) {
		const struct node *c = node_first(node_path(
			objects[i].root, "spec.template.spec.containers"));
		int minor = minor_of_image(node_str(node_get(c, "image")));

		if (!node_eq(node_get(c, "name"), "controller"))
			continue;
		if (!minor || (found && minor != found))
			return 0;
		found = minor;
	}
	return found;
}

/* Returns the tag of the image if it is a version and the image is that of the
 * operator: "registry.k8s.io/kueue/kueue:v0.17.1". */
static const char *version_of_image(const char *image, enum operator_name name)
{
	static const char *const images[OPERATORS] = {
		[OPERATOR_JOBSET] = "jobset/jobset:",
		[OPERATOR_KSERVE] = "kserve/kserve-controller:",
		[OPERATOR_KUBERAY] = "kuberay/operator:",
		[OPERATOR_KUEUE] = "kueue/kueue:",
		[OPERATOR_LWS] = "lws/lws:",
		[OPERATOR_TRAINER] = "trainer/trainer-controller-manager:",
	};
	const char *found =
		image && images[name] ? strstr(image, images[name]) : NULL;
	const char *tag = found ? found + strlen(images[name]) : NULL;
	int version[2] = {-1, -1};

	if (tag)
		text_version(tag, version, 2);
	return version[1] >= 0 ? tag : NULL;
}

const char *cluster_operator(const struct cluster *cluster,
			     enum operator_name name, struct arena *arena)
{
	const struct cluster_object *objects;
	const char *found = NULL;
	size_t n;

	if (!cluster)
		return NULL;
	objects = cluster_objects(cluster, CLUSTER_DEPLOYMENT, "", arena, &n);
	for (size_t i = 0; i < n; i++) {
		const struct node *c = node_first(node_path(
			objects[i].root, "spec.template.spec.containers"));
		const char *version =
			version_of_image(node_str(node_get(c, "image")), name);

		if (version && found && !text_eq(version, found))
			return NULL;
		if (version)
			found = version;
	}
	return found;
}

enum tri container_obeys_variable(const struct container *c,
				  enum device_injection injection)
{
	const struct node *privileged =
		node_path(c->node, "securityContext.privileged");
	const struct node *class = pod_field(c->pod, "runtimeClassName");

	if (text_starts(node_str(class), "nvidia"))
		return TRI_YES;
	switch (injection) {
	case INJECTION_ENVVAR:
		return TRI_YES;
	case INJECTION_CDI:
		return TRI_NO;
	case INJECTION_VOLUME_MOUNTS:
		if (c->gpus.n)
			return TRI_NO;
		return node_is_true(privileged) ? TRI_YES : TRI_UNKNOWN;
	case INJECTION_UNKNOWN:
		break;
	}
	return TRI_UNKNOWN;
}
