/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of the CRDs that the operators ship in 2026; Kubernetes 1.25 and
 * 1.16. Of resource.k8s.io, kube-apiserver 1.36 with all its APIs has none of
 * the others; v1alpha3, which it lost last, older releases may have.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static const struct {
	const char *group, *kind, *removed; /* versions; NULL: all */
} kinds[] = {
	{"kubeflow.org", "TFJob", "v1alpha1 v1alpha2 v1beta1 v1beta2"},
	{"kubeflow.org", "PyTorchJob", "v1alpha1 v1alpha2 v1beta1 v1beta2"},
	/* v1alpha1 is what Arena's own operator serves. */
	{"kubeflow.org", "MPIJob", "v1alpha2"},
	{"jobset.x-k8s.io", "JobSet", "v1alpha1"},
	{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "v1alpha1"},
	{"serving.kserve.io", "InferenceService", "v1alpha2"},
	{"serving.kubeflow.org", "InferenceService", NULL},
	{"serving.kubeflow.org", "KFService", NULL},
	{"sparkoperator.k8s.io", "SparkApplication", "v1alpha1 v1beta1"},
	{"batch", "CronJob", "v2alpha1 v1beta1"},
	{"apps", "Deployment", "v1beta1 v1beta2"},
	{"apps", "StatefulSet", "v1beta1 v1beta2"},
	{"apps", "DaemonSet", "v1beta2"},
	{"apps", "ReplicaSet", "v1beta2"},
	{"extensions", "Deployment", NULL},
	{"extensions", "DaemonSet", NULL},
	{"extensions", "ReplicaSet", NULL},
	{"resource.k8s.io", "ResourceClaim", "v1alpha1 v1alpha2"},
	{"resource.k8s.io", "ResourceClaimTemplate", "v1alpha1 v1alpha2"},
	{"resource.k8s.io", "ResourceClass", NULL},
	{"resource.k8s.io", "ResourceClaimParameters", NULL},
	{"resource.k8s.io", "ResourceClassParameters", NULL},
	{"resource.k8s.io", "PodSchedulingContext", NULL},
};

static void check(struct rule_run *run, const struct object *object)
{
	if (!object->version || object->parent ||
	    (object->npods && object->class != KIND_TRAINING &&
	     !object_gpu_pod(object)))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (object_is(object, kinds[i].group, kinds[i].kind) &&
		    (!kinds[i].removed ||
		     text_lists(kinds[i].removed, object->version)))
			report_object(run, object,
				      node_get(object->root, "apiVersion"),
				      "no current release serves %s `%s`",
				      object->kind, object->api_version);
}

const struct rule rule_api_version_removed = {
	.name = "api-version-removed",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.wants = FACT_NOT_POD,
	.since = "1.0",
	.summary = "a version of a kind that no current release serves",
	.why = "The API server does not know the object: it is refused, and nothing runs.",
	.remedy = "Convert it to a version that is served.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/manifests/base/crds; https://github.com/kubeflow/mpi-operator/tree/master/manifests/base; https://kubernetes.io/docs/reference/using-api/deprecation-guide/",
	.check_object = check,
};
