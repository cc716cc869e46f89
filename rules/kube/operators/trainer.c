/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeflow Trainer v2: builds and counts the pods of a TrainJob. It has a few
 * fields in place of a pod template. All other fields come from the runtime,
 * another object: if it is not found, values of unset fields are unknown, and
 * it may have a scheduling policy.
 *
 * Source: trainer pkg/apis/trainer/v1alpha1/trainjob_types.go.
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "kube/runtime.h"

/* Counts the nodes of a TrainJob. If the number is not set, the runtime sets
 * it, and it is at least one. */
COUNT_FORMULA(nodes)
{
	if (node_is_unset(at))
		return (struct amount){.n = 1, .unknown = true};
	return amount_int(at, 1);
}

/* Marks the devices as unknown if the trainer does not set them, because those
 * of the runtime apply. */
static void gpus(struct pod_builder *builder, struct pod *pod)
{
	if (pod->flat &&
	    node_is_unset(node_path(pod->spec, "trainer.resourcesPerNode")))
		pod->gpu_unknown = true;
}

/* -- the template of the runtime ------------------------------------------- */

static const struct runtime *runtime_of(struct pod_builder *builder,
					const struct node *ref)
{
	const char *kind = node_str(node_get(ref, "kind"));

	return runtime_find(builder, kind ? kind : "ClusterTrainingRuntime",
			    node_get(ref, "name"));
}

/*
 * Returns the job whose container `node` gets the trainer's fields
 * (Builder.Trainer() of pkg/runtime/framework/plugins/jobset, 2.0). Returns
 * NULL for MPI, because there the launcher's job gets them.
 */
static const struct node *trainer_job(const struct runtime *runtime)
{
	const struct node *jobs =
		node_path(runtime->root, "spec.template.spec.replicatedJobs");

	if (field_is_set(node_path(runtime->root, "spec.mlPolicy"), "mpi"))
		return NULL;
	FOR_EACH_CHILD(jobs, job) {
		const struct node *labels =
			node_path(job, "template.metadata.labels");

		if (node_eq(node_get(labels, "trainer.kubeflow.org/"
					     "trainjob-ancestor-step"),
			    "trainer"))
			return job;
	}
	return NULL;
}

static bool targets(const struct node *override, const char *job)
{
	FOR_EACH_CHILD(node_get(override, "targetJobs"), target)
		if (node_eq(node_get(target, "name"), job))
			return true;
	return false;
}

static const struct node *override_all(struct pod_builder *builder,
				       const struct node *spec,
				       const struct node *list,
				       const char *inner, const char *job)
{
	FOR_EACH_CHILD(list, item)
		if (job && targets(item, job))
			spec = template_merge(
				builder->arena, &builder->merge_budget, spec,
				inner ? node_get(item, inner) : item);
	return spec;
}

/* Returns the PodSpec of the runtime's trainer job, with the overrides of the
 * TrainJob. podSpecOverrides have pod fields next to targetJobs. A runtimePatch
 * may change anything, so that with one the pods are unknown. */
static const struct node *base(struct pod_builder *builder,
			       const struct node *holder)
{
	const struct runtime *runtime =
		runtime_of(builder, node_get(holder, "runtimeRef"));
	const struct node *job = runtime ? trainer_job(runtime) : NULL;
	const char *name = node_str(node_get(job, "name"));
	const struct node *spec = node_path(job, "template.spec.template.spec");

	if (!has_container(spec, "node") ||
	    !node_is_unset(node_get(holder, "runtimePatches")))
		return NULL;
	builder->base = spec;
	spec = override_all(builder, spec, node_get(holder, "podSpecOverrides"),
			    NULL, name);
	return override_all(builder, spec,
			    node_get(holder, "podTemplateOverrides"), "spec",
			    name);
}

static struct gang gang(const struct object *object)
{
	struct gang out = gang_of_all(object);

	if (strcmp(object->kind, "TrainJob"))
		return gang_none(object);
	out.by_operator = true;
	return out;
}

const struct workload_operator operator_trainer = {
	.gpus = gpus,
	.base = base,
	.gang = gang,
	.has_runtime = true,
};
