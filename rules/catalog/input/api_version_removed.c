/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports versions of APIs that no current release of Kubernetes or of an
 * operator serves. They are listed in rules/kube/data/removed_versions.tsv. A
 * version that no supported release of Kubernetes serves, or that the release
 * named in the policy has removed, is certainly rejected and an error. Others
 * are a warning, because an older cluster or operator may still serve them, or
 * an info if another operator does.
 */
#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/container.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/object.h"

/* True if the cluster certainly does not serve the version. */
static bool is_certain(struct rule_run *run,
		       const struct removed_version *removed)
{
	return version_is_gone(removed) ||
	       (removed->since &&
		rule_platform(run)->kubernetes >= removed->since);
}

static struct finding *report(struct rule_run *run, const struct object *object,
			      const struct removed_version *removed)
{
	const struct node *at = node_get(object->root, "apiVersion");
	struct finding *f;

	if (removed->only) {
		f = report_object(
			run, object, at,
			"only %s's operator serves %s `%s`: if the cluster has another one, the API server rejects the object",
			removed->only, object->kind, object->api_version);
		finding_severity(f, SEVERITY_INFO);
		return f;
	}
	if (!removed->since)
		return report_object(
			run, object, at,
			"no current release of the operator serves %s `%s`",
			object->kind, object->api_version);
	return report_object(
		run, object, at,
		"Kubernetes has not served %s `%s` since 1.%d%s", object->kind,
		object->api_version, removed->since,
		is_certain(run, removed)
			? ": the API server rejects the object"
			: ": a cluster of that version or later rejects the object");
}

/* True if a pod has a device, also under a name that no node offers any more,
 * such as alpha.kubernetes.io/nvidia-gpu. */
static bool asks_device(struct rule_run *run, const struct object *object)
{
	if (object_gpu_pod(object))
		return true;
	FOR_EACH_POD(object, pod)
		FOR_EACH_CONTAINER(pod, c)
			FOR_EACH_CHILD(container_limits(c), amount)
				if (accelerator_resembles(
					    rule_accelerators(run),
					    amount->key))
					return true;
	return false;
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct removed_version *removed;
	struct finding *f;

	if (object->parent || object->class == KIND_POD ||
	    (object->npods && object->class != KIND_TRAINING &&
	     !asks_device(run, object)))
		return;
	removed = object_removed_version(object);
	if (!removed)
		return;
	/* The policy says that the cluster is older and serves it. */
	if (rule_platform(run)->kubernetes &&
	    rule_platform(run)->kubernetes < removed->since)
		return;
	f = report(run, object, removed);
	if (is_certain(run, removed))
		finding_severity(f, SEVERITY_ERROR);
}

const struct rule rule_api_version_removed = {
	.name = "api-version-removed",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_RAISES,
	.summary =
		"an apiVersion that no current release of Kubernetes or of the operator serves",
	.why = "Unless the cluster or the operator is older, the API server does not know the apiVersion: it rejects the object, and nothing runs.",
	.remedy = "Convert the object to an apiVersion that is served.",
	.evidence =
		"k8s.io/api v0.37.2, APILifecycleRemoved; https://github.com/kubeflow/trainer/tree/release-1.9/manifests/base/crds; https://github.com/kubeflow/mpi-operator/tree/master/manifests/base; https://github.com/kubeflow/arena/blob/master/arena-artifacts/crds/kubeflow.org_mpijobs.yaml; https://kubernetes.io/docs/reference/using-api/deprecation-guide/; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
