/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that request all devices of a node but only some of its
 * EFA interfaces, or fewer interfaces than another role of the same job. The
 * file rules/kube/data/instance_types.tsv has the numbers of interfaces.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"

/* Returns the instance type that the pods select, or NULL if there is not
 * exactly one. */
static const struct instance_type *selected(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	for (size_t i = 0; i < needs.n && needs.terms <= 1; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node *value = node_need_value(need, 0);

		if (text_ends(need->key, ".kubernetes.io/instance-type") &&
		    node_need_requires(need) && node_str(value) &&
		    !node_need_value(need, 1))
			return instance_type_find(node_str(value));
	}
	return NULL;
}

#define EFA "vpc.amazonaws.com/efa"

/* Returns the number of interfaces that the container requests; -1 if
 * unknown. */
static int64_t interfaces(const struct container *c)
{
	const struct node *at = node_get(container_limits(c), EFA);
	struct quantity q;
	enum quantity_state state = node_quantity(at, &q);

	if (state == QUANTITY_ABSENT)
		return 0;
	return state == QUANTITY_OK ? quantity_value(q) : -1;
}

/* True if the container requests all devices of a node but not all of its
 * interfaces. */
static bool lacks_interfaces(const struct container *c,
			     const struct instance_type *type)
{
	return type && type->efa && c->gpus.n == type->accelerators &&
	       interfaces(c) < type->efa;
}

/* Returns the pod's first main container with as many devices as this one, or
 * NULL. */
static const struct container *peer(const struct container *c,
				    const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, other)
		if (other->role == CONTAINER_MAIN && !other->gpus.unknown &&
		    other->gpus.n == c->gpus.n)
			return other;
	return NULL;
}

/* True if the container's pod is the first of the pods with the most
 * interfaces. */
static bool has_most(const struct container *c)
{
	bool passed = false;

	FOR_EACH_POD(c->pod->object, pod) {
		const struct container *other = peer(c, pod);

		if (pod == c->pod)
			passed = true;
		else if (other && interfaces(other) + !passed > interfaces(c))
			return false;
	}
	return true;
}

/* True if both pods have the same nodeSelector and affinity, so that the same
 * nodes suit them. */
static bool selects_alike(const struct pod *a, const struct pod *b)
{
	return node_same(pod_field(a, "nodeSelector"),
			 pod_field(b, "nodeSelector")) &&
	       node_same(pod_field(a, "affinity"), pod_field(b, "affinity"));
}

/* Compares the roles of a job that select the same instance type, or that have
 * the same nodeSelector and affinity. */
static void compare(struct rule_run *run, const struct container *c)
{
	const struct instance_type *type = selected(c->pod);

	if (c->gpus.n < 1 || c->pod->object->gang.n < 2 ||
	    c != peer(c, c->pod) || !has_most(c))
		return;
	FOR_EACH_POD(c->pod->object, pod) {
		const struct container *other = peer(c, pod);
		int64_t n = other ? interfaces(other) : -1;

		if (n < 0 || n >= interfaces(c) || selected(pod) != type ||
		    (!type && !selects_alike(c->pod, pod)) ||
		    (n > 0 && lacks_interfaces(other, type)))
			continue;
		report_container(
			run, other, node_get(container_limits(other), EFA),
			"container `%s` requests %s, but role `%s` of the same job requests %s for the same number of accelerators",
			container_title(other),
			rule_count(run, n, "EFA interface"), c->pod->role,
			rule_number(run, interfaces(c)));
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const struct instance_type *type;

		if (interfaces(c) < 1 || c->gpus.unknown)
			continue;
		compare(run, c);
		type = selected(pod);
		if (lacks_interfaces(c, type))
			report_container(
				run, c, node_get(container_limits(c), EFA),
				"container `%s` requests all %d accelerators of `%s` but only %s of its %d EFA interfaces",
				container_title(c), type->accelerators,
				type->name, rule_number(run, interfaces(c)),
				type->efa);
	}
}

const struct rule rule_efa_count_mismatch = {
	.name = "efa-count-mismatch",
	.category = "network",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.summary =
		"a container requests all accelerators of a node but only some of its EFA interfaces, or fewer interfaces than another role of the job",
	.why = "Collectives between nodes run at the speed of the requested interfaces: with one of 32 interfaces, they run at 1/32 of the speed.",
	.remedy =
		"Request the same number of vpc.amazonaws.com/efa in every role, and for a whole node as many as its instance type has.",
	.evidence =
		"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html; https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
	.check_pod = check,
};
