/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports claims for accelerators that no quota of the namespace counts,
 * although a quota limits the accelerators of containers. A quota on
 * an extended resource counts the requests of containers; devices of claims
 * have separate keys. Since 1.36, devices of a class with an
 * extendedResourceName count as that resource too (gate DRAExtendedResource). A
 * quota with scopes never matches a claim. Source:
 * pkg/quota/v1/evaluator/core/resource_claims.go (MatchingResources,
 * MatchingScopes, addExtendedResourceQuota).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/quota/quota.h"
#include "kube/set/index_find.h"

#define OF_CLASS   ".deviceclass.resource.k8s.io/devices"
#define AS_REQUEST "requests.deviceclass.resource.kubernetes.io/"
#define OF_CLAIMS  "count/resourceclaims.resource.k8s.io"

/* True if the key counts claims, or devices of the class. If the class is
 * unknown, true for every device class. */
static bool counts(const char *key, const char *class)
{
	size_t len = strlen(class);

	if (!strcmp(key, OF_CLAIMS))
		return true;
	if (text_starts(key, AS_REQUEST))
		return !len || !strcmp(key + strlen(AS_REQUEST), class);
	return text_ends(key, OF_CLASS) &&
	       (!len ||
		(text_starts(key, class) && !strcmp(key + len, OF_CLASS)));
}

/* True if the quota counts claims, or devices of the class. extended is the
 * class's extendedResourceName, or NULL. */
static bool limits_class(const struct quota *quota, const char *class,
			 const char *extended)
{
	if (quota->nscopes)
		return false;
	for (size_t i = 0; i < quota->nhard; i++)
		if (counts(quota->hard[i].resource, class))
			return true;
	return extended && quota_hard_requests(quota, extended);
}

/* Returns a quota of the namespace that limits accelerators; NULL if there is
 * none, or if a quota covers claims of that class. */
static const struct quota *find_quota(struct rule_run *run,
				      const struct workload *w,
				      const char *class, const char *extended)
{
	const struct quota *other = NULL, *quotas;
	size_t n;

	quotas = index_quotas(rule_index(run), w, &n);
	for (size_t i = 0; i < n; i++) {
		if (limits_class(&quotas[i], class, extended))
			return NULL;
		if (quota_has_accelerator(rule_accelerators(run), &quotas[i]))
			other = &quotas[i];
	}
	return other;
}

/* Returns the device class of the pod's first claim for accelerators; "" if it
 * is unknown, NULL if the pod has no such claim. */
static const char *claimed_class(const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry) {
		const struct claim *claim = claim_of(pod, entry);
		struct amount n;

		if (claim_use(pod, entry, &n) == TRI_YES)
			return claim && claim->class ? claim->class : "";
	}
	return NULL;
}

static void check_pod(struct rule_run *run, const struct workload *w,
		      const struct pod *pod, const char *class)
{
	const struct found_object *known =
		index_find(rule_index(run), w, CLUSTER_DEVICE_CLASS, class,
			   rule_arena(run));
	const char *extended =
		known ? node_str(node_path(known->root,
					   "spec.extendedResourceName"))
		      : NULL;
	const struct quota *quota = find_quota(run, w, class, extended);
	struct finding *f;

	if (!quota)
		return;
	f = report_place(
		run, &w->id, rule_place(run, pod->spec),
		known && known->root
			? "no quota in namespace `%s` counts the devices that these pods claim"
			: "if the device class has no `extendedResourceName`, no quota in namespace `%s` counts the devices that these pods claim",
		w->id.namespace);
	finding_label_place(run, f, &quota->place,
			    "counts only devices that containers request");
	if (!known || !known->root)
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object *object = NULL;
	size_t n;

	if (index_quotas(rule_index(run), w, &n) && n)
		object = rule_object(run, w);
	if (!object)
		return;
	FOR_EACH_POD(object, pod) {
		const char *class = claimed_class(pod);

		if (class)
			check_pod(run, w, pod, class);
	}
}

const struct rule rule_quota_dra_uncovered = {
	.name = "quota-dra-uncovered",
	.category = "quota",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_PREVIEW,
	.summary = "pods claim devices that no quota in the namespace counts",
	.why = "Unless their class has an extendedResourceName, devices requested by a claim bypass a quota on nvidia.com/gpu.",
	.remedy =
		"Add <class>.deviceclass.resource.k8s.io/devices to a quota without scopes.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/blob/v1.36.1/pkg/quota/v1/evaluator/core/resource_claims.go",
	.check_workload = check,
};
