/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports claims with adminAccess in a namespace without the label for it.
 * adminAccess gives access to devices that other pods use. The API server
 * accepts it only in a namespace with the label, which the snapshot or the
 * input files show; before 1.34 it drops the field by default, so the rule is
 * skipped if the policy says that the cluster is older. The label may be newer
 * than a snapshot, so this is a warning. If the labels of the namespace are
 * unknown, it is an info.
 *
 * Source: kubernetes v1.37.2 pkg/registry/resource/utils.go AuthorizedForAdmin,
 * for claims and templates; pkg/features (DRAAdminAccess); api resource/v1
 * DRAAdminNamespaceLabelKey.
 */
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/object.h"

enum { ON_SINCE = 34 };

#define LABEL "resource.kubernetes.io/admin-access"

static void report(struct rule_run *run, const struct object *object,
		   const struct node *at)
{
	const struct node *labels = rule_namespace_labels(run, object);
	struct finding *f;

	if ((labels && node_eq(node_get(labels, LABEL), "true")) ||
	    (object->namespace &&
	     rule_input_defines(run, DEFINED_ADMIN, object->namespace)))
		return;
	if (labels ||
	    (object->namespace &&
	     rule_input_defines(run, DEFINED_NO_ADMIN, object->namespace))) {
		report_object(run, object, at,
			      "namespace `%s` has no label `" LABEL
			      ": \"true\"`: Kubernetes 1.34 and later reject "
			      "`adminAccess: true`",
			      object->namespace);
		return;
	}
	f = report_object(run, object, at,
			  "if the namespace has no label `" LABEL
			  ": \"true\"`, Kubernetes 1.34 and later reject "
			  "`adminAccess: true`");
	finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct object *object)
{
	int minor = rule_platform(run)->kubernetes;

	if (minor && minor < ON_SINCE)
		return;
	FOR_EACH_CHILD(claim_requests(object), request) {
		const struct node *exactly = node_get(request, "exactly");
		const struct node *from =
			node_is_unset(exactly) ? request : exactly;
		const struct node *at = node_get(from, "adminAccess");

		if (node_is_true(at))
			report(run, object, at);
	}
}

const struct rule rule_dra_admin_access = {
	.name = "dra-admin-access",
	.category = "dra",
	.severity = SEVERITY_WARNING,
	.summary =
		"a claim with `adminAccess` in a namespace without the label that allows it",
	.why = "Admin access gives a pod devices that other pods use. Kubernetes 1.34 and later reject it in a namespace without the label resource.kubernetes.io/admin-access: \"true\". Earlier releases drop the field by default.",
	.remedy =
		"Remove adminAccess, or use a namespace with the label; label only namespaces of administrators.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#admin-access",
	.check_object = check,
};
