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

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"
#include "kube/resources/volume.h"

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

static bool is_block_device(const struct node *volume)
{
	return node_count(volume) < 2 ||
	       node_get(volume, "persistentVolumeClaim") ||
	       node_get(volume, "ephemeral");
}

static void check_mounts(struct rule_run *run, const struct container *c,
			 const char *list, bool devices)
{
	FOR_EACH_CHILD(node_get(c->node, list), mount) {
		const struct node *at = node_get(mount, "name");
		const char *name = node_str(at);
		const struct node *volume;

		if (!name || !*name || may_gain_volumes(c))
			continue;
		volume = pod_volume(c->pod, name);
		if (volume && devices && !is_block_device(volume))
			report_container(
				run, c, at,
				"the volume `%s` of `volumeDevices` must be a PersistentVolumeClaim",
				name);
		else if (!volume && !pod_has_other_volume(c->pod, name) &&
			 /* shm-mount-invalid reports this path. */
			 !node_eq(node_get(mount, "mountPath"), SHM_PATH))
			report_container(
				run, c, at,
				"`%s` has the volume `%s`, which is not in the `volumes` of the pod",
				list, name);
	}
}

static void check_propagation(struct rule_run *run, const struct container *c)
{
	const struct node *privileged =
		node_path(c->node, "securityContext.privileged");

	if (node_is_unknown(privileged) || node_is_true(privileged) ||
	    c->pod->object->fragment)
		return;
	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount) {
		const struct node *at = node_get(mount, "mountPropagation");

		if (node_eq(at, "Bidirectional"))
			report_container(
				run, c, at,
				"`mountPropagation: Bidirectional` requires a privileged container");
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

/* Reports allowPrivilegeEscalation: false together with a setting that needs
 * it. ValidateSecurityContext compares the capability only with its prefix,
 * CAP_SYS_ADMIN. */
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

static void check_fields(struct rule_run *run, const struct pod *pod,
			 const struct node *term)
{
	FOR_EACH_CHILD(node_get(term, "matchFields"), field) {
		const struct node *key = node_get(field, "key");

		if (node_str(key) && !node_eq(key, "metadata.name"))
			report_pod(
				run, pod, key,
				"`matchFields` can only select `metadata.name`, not `%s`",
				node_str(key));
	}
}

static void check_terms(struct rule_run *run, const struct pod *pod,
			const struct node *affinity)
{
	const struct node *terms = node_path(
		affinity, "requiredDuringSchedulingIgnoredDuringExecution."
			  "nodeSelectorTerms");

	if (node_is_seq(terms) && !node_first(terms) && !node_is_unknown(terms))
		report_pod(run, pod, terms, "`nodeSelectorTerms` is empty");
	FOR_EACH_CHILD(terms, term) {
		check_fields(run, pod, term);
		FOR_EACH_CHILD(node_get(term, "matchExpressions"), expression)
			check_expression(run, pod, expression);
	}
	FOR_EACH_CHILD(
		node_get(affinity,
			 "preferredDuringSchedulingIgnoredDuringExecution"),
		term)
		FOR_EACH_CHILD(node_path(term, "preference.matchExpressions"),
			       expression)
			check_expression(run, pod, expression);
}

static void check_dns(struct rule_run *run, const struct pod *pod)
{
	const struct node *policy = pod_field(pod, "dnsPolicy");
	const struct node *config = pod_field(pod, "dnsConfig");
	const struct node *servers = node_get(config, "nameservers");

	if (node_eq(policy, "None") && !pod->object->fragment &&
	    !node_is_unknown(config) && !node_is_unknown(servers) &&
	    !node_first(servers))
		report_pod(run, pod, policy,
			   "dnsPolicy `None` requires `dnsConfig` with "
			   "`nameservers`");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (rule_at_admission(run) || pod->flat || pod->made ||
	    pod->object->pods_inferred || pod->cut)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		check_mounts(run, c, "volumeMounts", false);
		check_mounts(run, c, "volumeDevices", true);
		check_propagation(run, c);
		check_claims(run, c);
		check_probes(run, c);
		check_escalation(run, c);
	}
	check_names(run, pod);
	FOR_EACH_CHILD(pod->tolerations, toleration)
		check_toleration(run, pod, toleration);
	check_terms(run, pod,
		    node_get(pod_field(pod, "affinity"), "nodeAffinity"));
	check_dns(run, pod);
}

const struct rule rule_pod_invalid = {
	.name = "pod-invalid",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE,
	.scope = PODSPEC,
	.summary = "a combination of pod fields that the API server rejects",
	.why = "The API server rejects the pod. An object of an operator's kind is accepted, but its pods are never created.",
	.evidence =
		"observed on kube-apiserver 1.37.2; https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation",
	.check_pod = check,
};
