/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of the CRDs that the operators ship in 2026; Kubernetes 1.25 and
 * 1.16. Of resource.k8s.io, kube-apiserver 1.36 with all its APIs has none of
 * the others; v1alpha3, which it lost last, older releases may have.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

#define DRA_VERSIONS "v1alpha3 v1beta1 v1beta2 v1"

static const struct {
	const char *group, *kind, *served; /* versions */
} kinds[] = {
	{"kubeflow.org", "TFJob", "v1"},
	{"kubeflow.org", "PyTorchJob", "v1"},
	{"kubeflow.org", "PaddleJob", "v1"},
	{"kubeflow.org", "XGBoostJob", "v1"},
	{"kubeflow.org", "MPIJob", "v1 v2beta1"},
	{"jobset.x-k8s.io", "JobSet", "v1alpha2 v1beta1 v1"},
	{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "v1"},
	{"serving.kserve.io", "InferenceService", "v1beta1"},
	{"serving.kubeflow.org", "InferenceService", ""},
	{"serving.kubeflow.org", "KFService", ""},
	{"sparkoperator.k8s.io", "SparkApplication", "v1beta2"},
	{"batch", "CronJob", "v1"},
	{"apps", "Deployment", "v1"},
	{"apps", "StatefulSet", "v1"},
	{"apps", "DaemonSet", "v1"},
	{"extensions", "Deployment", ""},
	{"extensions", "DaemonSet", ""},
	{"resource.k8s.io", "ResourceClaim", DRA_VERSIONS},
	{"resource.k8s.io", "ResourceClaimTemplate", DRA_VERSIONS},
	{"resource.k8s.io", "DeviceClass", DRA_VERSIONS},
	{"resource.k8s.io", "ResourceClass", ""},
	{"resource.k8s.io", "ResourceClaimParameters", ""},
	{"resource.k8s.io", "ResourceClassParameters", ""},
	{"resource.k8s.io", "PodSchedulingContext", ""},
};

static void check(struct rule_run *run, const struct object *object)
{
	if (!object->version || object->parent ||
	    (object->npods && object->class != KIND_TRAINING &&
	     !object_gpu_pod(object)))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (object_is(object, kinds[i].group, kinds[i].kind) &&
		    !text_lists(kinds[i].served, object->version))
			report_object(run, object,
				      node_get(object->root, "apiVersion"),
				      "no current release serves %s `%s`",
				      object->kind, object->api_version);
}

const struct rule rule_api_version_removed = {
	.name = "api-version-removed",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.since = "1.0",
	.summary = "a version of a kind that its operator no longer serves",
	.why = "The API server does not know the object: it is refused, and nothing runs.",
	.remedy = "Convert it to a version that is served.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/manifests/base/crds; https://github.com/kubeflow/mpi-operator/tree/master/manifests/base; https://kubernetes.io/docs/reference/using-api/deprecation-guide/",
	.check_object = check,
};
