/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a runtimeClassName whose RuntimeClass does not exist: the owner is
 * accepted, and then each of its Pods is forbidden ("RuntimeClass ... not
 * found"). Manifests for one cloud name `nvidia`; on another cloud this runtime
 * is the default and has no class. A snapshot shows whether the class exists,
 * if RuntimeClasses could be read for it. Without a snapshot, only a name that
 * is similar to the name of a class in the files is reported, as an info.
 * Source: plugin/pkg/admission/runtimeclass/admission.go prepareObjects.
 */
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/set/index_find.h"

static void check_class(struct rule_run *run, const struct workload *w,
			const struct node *class)
{
	struct arena *arena = rule_arena(run);
	const char *near;
	struct finding *f;

	if (index_find(rule_index(run), w, CLUSTER_RUNTIME_CLASS, class->str,
		       arena) ||
	    rule_cluster_lacks(run, CLUSTER_RUNTIME_CLASS))
		return;
	near = index_nearest(rule_index(run), w, CLUSTER_RUNTIME_CLASS,
			     class->str, arena);
	if (!rule_cluster(run) && (!near || rule_set_is_partial(run))) {
		rule_not_run(run, rule_without_cluster(run));
		return;
	}
	f = report_place(
		run, &w->id, rule_place(run, class),
		rule_cluster(run)
			? "RuntimeClass `%s` does not exist: %s%s will be forbidden"
			: "no file defines the RuntimeClass `%s`: unless the cluster has it, %s%s will be forbidden",
		class->str, w->class == KIND_POD ? "" : "the pods of ",
		rule_title(run, w->id.kind, w->id.name));
	if (near)
		finding_help(run, f, "did you mean `%s`?", near);
	if (!rule_cluster(run))
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object *object =
		w->runtime_class ? rule_object(run, w) : NULL;

	if (!object || object->doc->host)
		return;
	FOR_EACH_POD(object, pod) {
		const struct node *class = pod_field(pod, "runtimeClassName");

		if (!pod->flat && !pod_is_infrastructure(pod) &&
		    node_str(class) && *class->str)
			check_class(run, w, class);
	}
}

const struct rule rule_runtimeclass_unknown = {
	.name = "runtimeclass-unknown",
	.category = "scheduling",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.summary = "runtimeClassName names a RuntimeClass that does not exist",
	.why = "The API server forbids Pods with an unknown class: a workload is accepted, but stays at 0 pods.",
	.remedy =
		"Name a class of the cluster (`kubectl get runtimeclasses`), or leave out the field if the NVIDIA runtime is the default.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/blob/v1.36.1/plugin/pkg/admission/runtimeclass/admission.go, `pod rejected: RuntimeClass %q not found`; observed on kube-apiserver 1.37.2",
	.check_workload = check,
};
