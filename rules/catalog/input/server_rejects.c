/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports values and combinations of fields, in Kubernetes' own kinds and in
 * the pods of all kinds, for which the API server rejects the object or its
 * pods. The rule does nothing at admission: the API server has accepted the
 * object before, and it checks the pods of custom kinds when they are created.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"

/* --- replicas ------------------------------------------------------------- */

static void check_autoscaler(struct rule_run *run, const struct node *spec)
{
	const struct node *least = node_get(spec, "minReplicas");
	int64_t min = 1, max;

	if (!node_is_unset(least) && !node_int(least, &min))
		return;
	if (node_int(node_get(spec, "maxReplicas"), &max) && max < min)
		rule_report_rejection(
			run, NULL, node_get(spec, "maxReplicas"),
			"hpa-replicas",
			"`maxReplicas` %s is below `minReplicas` %s",
			rule_number(run, max), rule_number(run, min));
}

static void check_budget(struct rule_run *run, const struct node *spec)
{
	const struct node *most = node_get(spec, "maxUnavailable");

	if (!node_is_unset(most) &&
	    !node_is_unset(node_get(spec, "minAvailable")))
		rule_report_rejection(
			run, NULL, most, "pdb-both",
			"`minAvailable` and `maxUnavailable` are both set");
}

static bool is_zero(const struct node *node)
{
	int64_t n;

	return node_eq(node, "0%") || (node_int(node, &n) && !n);
}

static void check_strategy(struct rule_run *run, const struct node *spec)
{
	const struct node *strategy = node_get(spec, "strategy");
	const struct node *rolling = node_get(strategy, "rollingUpdate");

	if (node_eq(node_get(strategy, "type"), "Recreate") &&
	    node_first(rolling))
		rule_report_rejection(
			run, NULL, rolling, "recreate",
			"`rollingUpdate` is set with strategy Recreate");
	else if (is_zero(node_get(rolling, "maxSurge")) &&
		 is_zero(node_get(rolling, "maxUnavailable")))
		rule_report_rejection(
			run, NULL, node_get(rolling, "maxUnavailable"),
			"no-rollout",
			"`maxSurge` and `maxUnavailable` are both 0");
}

/* --- selectors ------------------------------------------------------------ */

static bool lists(const struct node *values, const char *value)
{
	FOR_EACH_CHILD(values, item)
		if (node_eq(item, value))
			return true;
	return false;
}

/* True if the expression matches the labels, or they are unknown. */
static bool matches(const struct node *expression, const struct node *labels)
{
	const char *key = node_str(node_get(expression, "key"));
	const struct node *operator= node_get(expression, "operator");
	const struct node *values = node_get(expression, "values");
	const struct node *label = key ? node_get(labels, key) : NULL;
	const char *value = node_str(label);

	if (!key || (label && !value))
		return true;
	FOR_EACH_CHILD(values, item)
		if (!node_str(item))
			return true;
	if (node_eq(operator, "In"))
		return value && lists(values, value);
	if (node_eq(operator, "NotIn"))
		return !value || !lists(values, value);
	if (node_eq(operator, "Exists"))
		return value;
	return !node_eq(operator, "DoesNotExist") || !value;
}

static const struct node *unmatched(const struct node *selector,
				    const struct node *labels)
{
	FOR_EACH_CHILD(node_get(selector, "matchLabels"), wanted) {
		const struct node *label =
			node_getn(labels, wanted->key, wanted->key_len);

		if (!node_str(wanted) || (label && !node_str(label)))
			continue;
		if (!label || !node_eq(label, node_str(wanted)))
			return wanted;
	}
	FOR_EACH_CHILD(node_get(selector, "matchExpressions"), expression)
		if (!matches(expression, labels))
			return expression;
	return NULL;
}

static void check_selector(struct rule_run *run, const struct node *spec)
{
	const struct node *selector = node_get(spec, "selector");
	const struct node *labels = node_path(spec, "template.metadata.labels");
	const struct node *at;
	struct finding *f = NULL;

	if (!node_is_map(selector) || selector->flags & NODE_OPEN ||
	    (labels && (!node_is_map(labels) || labels->flags & NODE_OPEN)) ||
	    node_is_unknown(node_get(selector, "matchLabels")))
		return;
	at = unmatched(selector, labels);
	if (at)
		f = rule_report_rejection(
			run, NULL, at, "selector",
			"`selector` does not match the labels of the template");
	else if (!node_first(node_get(selector, "matchLabels")) &&
		 !node_first(node_get(selector, "matchExpressions")))
		f = rule_report_rejection(run, NULL, selector, "selector-empty",
					  "`selector` is empty");
	if (f)
		finding_help(run, f, "Copy the labels of the template.");
}

/* --- schedules ------------------------------------------------------------ */

static bool is_schedule(const char *text)
{
	size_t fields = 0;

	text += strspn(text, " \t");
	if (*text == '@' || strstr(text, "TZ"))
		return true;
	while (*text) {
		fields++;
		text += strcspn(text, " \t");
		text += strspn(text, " \t");
	}
	return fields == 5;
}

static void check_schedule(struct rule_run *run, const struct node *spec)
{
	const struct node *schedule = node_get(spec, "schedule");

	if (node_str(schedule) && !is_schedule(node_str(schedule)))
		rule_report_rejection(
			run, NULL, schedule, "schedule",
			"`schedule` does not have the five fields of cron");
}

/* --- pods ----------------------------------------------------------------- */

static const char *scalar_text(const struct node *node)
{
	return node && !node_is_unknown(node) && !node_first(node) ? node->str
								   : NULL;
}

static bool is_of_port(const struct node *port, const char *key,
		       const struct node *other, const char *unset)
{
	const struct node *a = node_get(port, key), *b = node_get(other, key);
	const char *of_a = node_is_unset(a) ? unset : scalar_text(a);
	const char *of_b = node_is_unset(b) ? unset : scalar_text(b);

	return of_a && text_eq(of_a, of_b);
}

/* True if an earlier port of the main containers has the same hostPort. */
static bool is_taken(const struct pod *pod, const struct node *port)
{
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN)
			continue;
		FOR_EACH_CHILD(node_get(c->node, "ports"), other) {
			if (other == port)
				return false;
			if (is_of_port(port, "hostPort", other, NULL) &&
			    is_of_port(port, "protocol", other, "TCP") &&
			    is_of_port(port, "hostIP", other, ""))
				return true;
		}
	}
	return false;
}

static void check_port(struct rule_run *run, const struct container *c,
		       const struct node *port)
{
	const struct node *host = node_get(port, "hostPort");
	int64_t number, inside;

	if (!node_int(host, &number) || !number)
		return;
	if (is_taken(c->pod, port))
		rule_report_rejection(run, c->pod, host, "host-port-twice",
				      "two ports have `hostPort` %s",
				      rule_number(run, number));
	if (node_is_true(pod_field(c->pod, "hostNetwork")) &&
	    node_int(node_get(port, "containerPort"), &inside) &&
	    inside != number)
		rule_report_rejection(
			run, c->pod, host, "host-network-port",
			"`hostPort` is %s and `containerPort` %s in a pod with hostNetwork",
			rule_number(run, number), rule_number(run, inside));
}

/* --- all checks ----------------------------------------------------------- */

static void check_object(struct rule_run *run, const struct object *object)
{
	static const struct {
		const char *group, *kind;
		void (*check)(struct rule_run *run, const struct node *spec);
	} checks[] = {
		{"autoscaling", "HorizontalPodAutoscaler", check_autoscaler},
		{"policy", "PodDisruptionBudget", check_budget},
		{"apps", "Deployment", check_strategy},
		{"apps", "Deployment", check_selector},
		{"apps", "StatefulSet", check_selector},
		{"apps", "DaemonSet", check_selector},
		{"apps", "ReplicaSet", check_selector},
		{"batch", "CronJob", check_schedule},
	};
	static const char *const tables[] = {"batch", "resource.k8s.io",
					     "scheduling.k8s.io", NULL};
	const struct node *spec = node_get(object->root, "spec");

	if (rule_at_admission(run))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (!object->fragment &&
		    object_is(object, checks[i].group, checks[i].kind))
			checks[i].check(run, spec);
	if (text_any(text_or_empty(object->group), tables, text_eq))
		rule_check_rejections(run, object);
}

/* Reports an empty list of containers, except in serving kinds and templates,
 * whose operators add containers. */
static void check_containers(struct rule_run *run, const struct pod *pod)
{
	const struct node *list = node_get(pod->spec, "containers");

	if (pod_is_empty(pod) && !pod_is_preset(pod) &&
	    (object_kind_has(pod->object, KIND_NATIVE) ||
	     (pod->object->class != KIND_SERVING &&
	      pod->object->class != KIND_TEMPLATE)))
		rule_report_rejection(run, pod, list, "no-containers",
				      "`containers` is empty");
}

static void check_pod(struct rule_run *run, const struct pod *pod)
{
	if (rule_at_admission(run) || pod->flat || pod->made)
		return;
	check_containers(run, pod);
	/* checkHostPortConflicts() compares only main containers. */
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN)
			FOR_EACH_CHILD(node_get(c->node, "ports"), port)
				check_port(run, c, port);
	rule_check_pod_rejections(run, pod);
}

const struct rule rule_server_rejects = {
	.name = "server-rejects",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE | RULE_INFRASTRUCTURE,
	.scope = PODSPEC,
	.summary =
		"a value or a combination of fields that the API server rejects",
	.why = "The API server rejects the object, or the pods that an operator creates from it.",
	.evidence =
		"observed on kube-apiserver 1.37.2; https://github.com/kubernetes/kubernetes/tree/v1.37.2/pkg/apis",
	.rejections = &server_rejections,
	.check_object = check_object,
	.check_pod = check_pod,
};
