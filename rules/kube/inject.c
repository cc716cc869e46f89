/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operators do behind the manifest: the restart policy that counts in
 * the end, and the mounts, limits, selectors and probes that they add.
 * Fixed ones stand in the table of kinds; here are those that depend on the
 * object. Sources: KubeRay common/pod.go, KServe's shipped runtimes, the
 * vLLM production stack's and Dynamo's controllers, Training Operator's
 * pkg/core/pod.go (replica policy overwrites the template's).
 */
#include "kinds.h"

#include <string.h>

#include "base/text.h"

/* -- restart ------------------------------------------------------------- */

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

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (node_eq(node, names[i].text))
			return names[i].policy;
	return RESTART_UNKNOWN;
}

/* Autoscaler v2 and the sidecar submitter need pods that stay down. */
static bool ray_forces_never(const struct pod *pod, const struct object *object)
{
	const struct node *group = pod->group;
	const struct node *cluster = group ? group->parent : NULL;
	bool head = cluster && !node_is_seq(cluster);

	if (cluster && node_is_seq(cluster))
		cluster = cluster->parent;
	if (node_is_true(node_get(cluster, "enableInTreeAutoscaling")) &&
	    node_eq(node_path(cluster, "autoscalerOptions.version"), "v2"))
		return true;
	return head && node_eq(node_path(object->root, "spec.submissionMode"),
			       "SidecarMode");
}

void pod_restart(const struct pod_builder *builder, struct pod *pod)
{
	const struct pod_row *row = builder->row;
	const struct node *own =
		pod->flat ? NULL : node_get(pod->spec, "restartPolicy");
	const struct node *group = node_get(pod->group, "restartPolicy");

	pod->restart = row->restart;
	switch (row->restart_from) {
	case RESTART_FORCED:
		return;
	case RESTART_FROM_RAY:
		if (ray_forces_never(pod, builder->object)) {
			pod->restart = RESTART_NEVER;
			return;
		}
		break;
	case RESTART_FROM_GROUP:
		/* What the template says is overwritten. */
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

/* -- injections ---------------------------------------------------------- */

static unsigned ray_injects(const struct pod *pod, const struct object *object)
{
	const struct node *params = node_get(pod->group, "rayStartParams");
	unsigned bits = 0;

	if (node_is_unset(node_get(params, "plasma-directory")))
		bits |= INJECT_SHM_FIRST;
	if (ray_forces_never(pod, object))
		bits |= INJECT_RESTART;
	return bits;
}

/* Do the runtimes that KServe ships mount /dev/shm for this one? */
unsigned kserve_runtime(const char *name)
{
	static const char *const without[] = {
		"triton",     "torchserve", "tensorflow-serving",
		"mlserver",   "sklearn",    "xgboost",
		"lightgbm",   "paddle",	    "pmml",
		"kserve-lgb", NULL};

	if (text_contains(name, "huggingface") || text_contains(name, "vllm"))
		return INJECT_SHM;
	for (const char *const *part = without; *part; part++)
		if (text_contains(name, *part))
			return 0;
	return INJECT_SHM_UNKNOWN;
}

static unsigned kserve_injects(const struct pod *pod)
{
	const struct node *predictor = pod->spec;
	const struct node *model, *runtime;
	unsigned bits = 0;

	if (node_is_unset(node_get(predictor, "workerSpec")) &&
	    pod->spec->key && !strcmp(pod->spec->key, "workerSpec"))
		predictor = pod->spec->parent;
	if (!node_is_unset(node_get(predictor, "workerSpec")))
		bits |= INJECT_GPU;
	model = node_get(predictor, "model");
	runtime = node_get(model, "runtime");
	if (!node_is_unset(node_get(predictor, "huggingface")))
		return bits | INJECT_SHM;
	if (node_is_unset(model))
		return bits;
	if (!node_is_unset(runtime)) {
		const char *name = node_str(runtime);

		return bits |
		       (name ? kserve_runtime(name) : INJECT_SHM_UNKNOWN);
	}
	model = node_path(model, "modelFormat.name");
	if (node_eq(model, "huggingface") || node_eq(model, "vLLM"))
		bits |= INJECT_SHM;
	else if (node_is_unknown(model))
		bits |= INJECT_SHM_UNKNOWN;
	return bits;
}

/* 8Gi by default; v1alpha1 has sharedMemory.disabled, v1beta1 a size. */
static unsigned dynamo_injects(const struct pod *pod)
{
	const struct node *component = pod->flat ? pod->spec : pod->group;
	const struct node *size = node_get(component, "sharedMemorySize");
	struct quantity q;

	if (node_is_true(node_path(component, "sharedMemory.disabled")))
		return 0;
	if (node_quantity(size, &q) == QUANTITY_OK && q.nano == 0)
		return 0;
	return INJECT_SHM;
}

static unsigned seldon_injects(const struct pod *pod)
{
	const struct node *config = node_get(pod->group, "serverConfig");

	if (node_eq(config, "triton"))
		return INJECT_SHM;
	return node_eq(config, "mlserver") ? 0 : INJECT_SHM_UNKNOWN;
}

void pod_injects(const struct pod_builder *builder, struct pod *pod)
{
	const struct object *object = builder->object;

	pod->injects = builder->row->injects;
	/* Admission through Kueue adds the flavor's selector, tolerations. */
	if (object->kueue)
		pod->injects |= INJECT_SELECTOR;
	switch (builder->row->injector) {
	case INJECTOR_NONE:
		break;
	case INJECTOR_RAY:
		pod->injects |= ray_injects(pod, object);
		break;
	case INJECTOR_KSERVE:
		pod->injects |= kserve_injects(pod);
		break;
	case INJECTOR_VLLM:
		if (!node_is_unset(node_get(pod->spec, "shmSize")))
			pod->injects |= INJECT_SHM;
		break;
	case INJECTOR_DYNAMO:
		pod->injects |= dynamo_injects(pod);
		break;
	case INJECTOR_SELDON:
		pod->injects |= seldon_injects(pod);
		break;
	}
}
