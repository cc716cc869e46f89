/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports fields of a pod that contradict each other, so that the API server
 * rejects it: a mount of a missing volume, a missing claim, an init container
 * and a main container of the same name, a toleration with Exists and a value.
 * For an operator's kind, the object is accepted and its pods are rejected.
 * Because operators add volumes, checks of volumes and claims skip serving
 * kinds, containers that are merged into others, and names of operators'
 * volumes. The rule is skipped at admission, because the API server checks the
 * pods when they are created. Source: pkg/apis/core/validation; observed.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/intent.h"
#include "kube/resources/shm.h"

/* True if these are the volumes of another pod of the object (a Ray cluster's
 * head), which the pod does not get. */
static bool is_other_pod(const struct pod *pod, const struct node *list)
{
	FOR_EACH_POD(pod->object, other)
		if (other != pod && other->volumes == list)
			return pod->volumes != list;
	return false;
}

/* True if a tree defines a volume or a claim template of that name: next to the
 * pod (StatefulSet), or in an operator's fields (JobSet). */
static bool is_defined(const struct pod *pod, const struct node *tree,
		       const char *name, bool volumes)
{
	if (volumes && (node_eq(node_get(tree, "name"), name) ||
			node_eq(node_path(tree, "metadata.name"), name)))
		return true;
	FOR_EACH_CHILD(tree, child) {
		const char *key = child->key;
		bool below = volumes;

		if (key && text_starts(key, "volume") &&
		    strcmp(key, "volumeMounts") != 0 &&
		    strcmp(key, "volumeDevices") != 0 &&
		    !is_other_pod(pod, child))
			below = true;
		if ((!key || strcmp(key, "containers") != 0) &&
		    is_defined(pod, child, name, below))
			return true;
	}
	return false;
}

/* True for volumes of KubeRay, mpi-operator, Istio and Argo that authors
 * mount. */
static bool is_of_operator(const char *name)
{
	static const char *const prefixes[] = {"mpi-job-", "istio",
					       "workload-"};
	static const char *const names[] = {
		"shared-mem",  "ray-logs", "ray-tls", "ray-token",
		"gcs-storage", "ssh-auth", "argo",    "var-run-argo"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (text_starts(name, prefixes[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_eq(name, names[i]))
			return true;
	return false;
}

static bool is_native(const struct pod *pod)
{
	return object_kind_has(pod->object, KIND_NATIVE | KIND_SELECTOR);
}

static bool may_gain_volumes(const struct container *c)
{
	const struct object *object = c->pod->object;

	return (!is_native(c->pod) && (object->class == KIND_SERVING ||
				       object->class == KIND_TEMPLATE)) ||
	       object->fragment || pod_is_preset(c->pod) ||
	       container_is_merged(c) || node_is_unknown(c->pod->volumes);
}

static void check_mounts(struct rule_run *run, const struct container *c,
			 const char *list)
{
	const struct pod *pod = c->pod;

	FOR_EACH_CHILD(node_get(c->node, list), mount) {
		const struct node *at = node_get(mount, "name");
		const char *name = node_str(at);

		if (!name || !*name || pod_volume(pod, name) ||
		    may_gain_volumes(c) ||
		    is_defined(pod, pod->object->root, name, false) ||
		    (!is_native(pod) && is_of_operator(name)) ||
		    /* shm-mount-invalid reports this path. */
		    node_eq(node_get(mount, "mountPath"), SHM_PATH))
			continue;
		report_container(run, c, at,
				 "`%s` has the volume `%s`, which is not in "
				 "the `volumes` of the pod",
				 list, name);
	}
}

static void check_claims(struct rule_run *run, const struct container *c)
{
	const struct node *claims = pod_field(c->pod, "resourceClaims");

	if (node_is_unknown(claims) || may_gain_volumes(c))
		return;
	FOR_EACH_CHILD(node_get(c->resources, "claims"), claim) {
		const char *name = node_str(node_get(claim, "name"));
		bool found = false;

		if (!name || !*name)
			continue;
		FOR_EACH_CHILD(claims, other)
			found |= node_is_unknown(other) ||
				 node_eq(node_get(other, "name"), name);
		if (!found)
			report_container(run, c, node_get(claim, "name"),
					 "`claims` has `%s`, which is not in "
					 "the `resourceClaims` of the pod",
					 name);
	}
}

static void check_probes(struct rule_run *run, const struct container *c)
{
	static const char *const probes[] = {"livenessProbe", "startupProbe",
					     "readinessProbe"};

	for (size_t i = 0; i < 3; i++) {
		const struct node *probe =
			node_if_set(node_get(c->node, probes[i]));
		const struct node *at = node_get(probe, "successThreshold");
		int64_t n;

		if (probe && c->role == CONTAINER_INIT)
			finding_at_key(
				run,
				report_container(
					run, c, probe,
					"`%s` is not allowed in an init container, except with restartPolicy `Always`",
					probes[i]),
				probe);
		else if (i < 2 && node_int(at, &n) && n > 1)
			report_container(
				run, c, at,
				"`successThreshold` of a `%s` must be 1, not %s",
				probes[i], rule_number(run, n));
	}
}

/* Source: ValidateSecurityContext, which reads the name with its prefix. */
static void check_escalation(struct rule_run *run, const struct container *c)
{
	const struct node *context = node_get(c->node, "securityContext");
	const struct node *at = node_get(context, "allowPrivilegeEscalation");
	bool admin = false;

	FOR_EACH_CHILD(node_path(context, "capabilities.add"), name)
		admin |= node_eq(name, "CAP_SYS_ADMIN");
	if (node_known(at, NODE_BOOL) && !node_is_true(at) &&
	    (admin || node_is_true(node_get(context, "privileged"))))
		report_container(
			run, c, at,
			"`allowPrivilegeEscalation: false` is not allowed with %s",
			admin ? "`CAP_SYS_ADMIN`" : "`privileged: true`");
}

/* Reports init containers with the name of a main one. field-value-invalid
 * compares the items of each list. */
static void check_names(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_CONTAINER(pod, main)
			if (c->role != CONTAINER_MAIN &&
			    main->role == CONTAINER_MAIN && c->name &&
			    text_eq(c->name, main->name))
				report_container(run, c,
						 node_get(c->node, "name"),
						 "an init container and a main "
						 "one have the name `%s`",
						 c->name);
}

static void check_toleration(struct rule_run *run, const struct pod *pod,
			     const struct node *toleration)
{
	const struct node *operator= node_get(toleration, "operator");
	const struct node *value = node_get(toleration, "value");
	const struct node *effect = node_get(toleration, "effect");
	const struct node *seconds = node_get(toleration, "tolerationSeconds");
	const struct node *key = node_get(toleration, "key");

	if (!node_is_map(toleration))
		return;
	if (node_eq(operator, "Exists") && node_str(value) && value->len)
		report_pod(
			run, pod, value,
			"a toleration with the operator `Exists` must not have a value");
	if (!node_is_unset(seconds) && !node_is_unknown(seconds) &&
	    !node_is_unknown(effect) && !node_eq(effect, "NoExecute"))
		report_pod(
			run, pod, seconds,
			"`tolerationSeconds` requires the effect `NoExecute`");
	if ((node_is_unset(key) || node_eq(key, "")) &&
	    !node_is_unknown(operator) && !node_eq(operator, "Exists"))
		report_pod(
			run, pod, toleration,
			"a toleration without a key must have the operator `Exists`");
}

static void check_expression(struct rule_run *run, const struct pod *pod,
			     const struct node *expression)
{
	const struct node *operator= node_get(expression, "operator");
	const struct node *values = node_get(expression, "values");
	const char *word = node_str(operator);
	bool in = text_eq(word, "In") || text_eq(word, "NotIn");
	bool exists = text_eq(word, "Exists") || text_eq(word, "DoesNotExist");

	if (node_is_unknown(values) || pod->object->fragment)
		return;
	if (in && !node_count(values))
		report_pod(run, pod, operator,
			   "the operator `%s` requires `values`", word);
	else if (exists && node_count(values))
		report_pod(run, pod, values,
			   "the operator `%s` must not have `values`", word);
}

static void check_terms(struct rule_run *run, const struct pod *pod,
			const struct node *affinity)
{
	FOR_EACH_CHILD(
		node_path(affinity,
			  "requiredDuringSchedulingIgnoredDuringExecution."
			  "nodeSelectorTerms"),
		term)
		FOR_EACH_CHILD(node_get(term, "matchExpressions"), expression)
			check_expression(run, pod, expression);
	FOR_EACH_CHILD(
		node_get(affinity,
			 "preferredDuringSchedulingIgnoredDuringExecution"),
		term)
		FOR_EACH_CHILD(node_path(term, "preference.matchExpressions"),
			       expression)
			check_expression(run, pod, expression);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *dns;

	if (rule_at_admission(run) || pod->flat || pod->made ||
	    pod->object->pods_inferred || pod->cut)
		return;
	dns = pod_field(pod, "dnsPolicy");
	FOR_EACH_CONTAINER(pod, c) {
		check_mounts(run, c, "volumeMounts");
		check_mounts(run, c, "volumeDevices");
		check_claims(run, c);
		check_probes(run, c);
		check_escalation(run, c);
	}
	check_names(run, pod);
	FOR_EACH_CHILD(pod->tolerations, toleration)
		check_toleration(run, pod, toleration);
	check_terms(run, pod,
		    node_get(pod_field(pod, "affinity"), "nodeAffinity"));
	if (node_eq(dns, "None") && !pod->object->fragment &&
	    node_is_unset(pod_field(pod, "dnsConfig")))
		report_pod(run, pod, dns,
			   "dnsPolicy `None` requires `dnsConfig`");
}

const struct rule rule_pod_invalid = {
	.name = "pod-invalid",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE,
	.scope = PODSPEC,
	.since = "1.0",
	.summary = "a combination of pod fields that the API server rejects",
	.why = "The API server rejects the pod. An object of an operator's kind is accepted, but its pods are never created.",
	.remedy = "Correct or remove the field that the message names.",
	.evidence =
		"observed on kube-apiserver 1.37.2; https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation",
	.check_pod = check,
};
