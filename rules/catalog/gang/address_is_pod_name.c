/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports launchers of several nodes in Pods without a controller whose address
 * is the name of one of these Pods. A Pod has a DNS name only by its hostname
 * and subdomain, HOSTNAME.SUBDOMAIN; only the Pod itself resolves its bare
 * name. A Service of that name in the input makes it right. Source: Kubernetes
 * documentation, DNS for Services and Pods; kubernetes v1.36.1
 * pkg/kubelet/kubelet_pods.go (hostsFileContent).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"

/* Returns the host of the launcher's address if it is a bare name, or NULL. */
static const char *bare_host(struct arena *arena, const struct container *c,
			     const struct node **at)
{
	static const char *const flags[] = {"--master-addr", "--rdzv-endpoint",
					    "--main-process-ip", NULL};
	struct env_value value = container_env_value(c, "PET_MASTER_ADDR");
	struct argv argv = container_argv(c);
	const char *text = value.text;
	const struct arg *arg;

	*at = value.at;
	for (const char *const *flag = flags; *flag; flag++) {
		const char *given = argv_flag(&argv, *flag, &arg);

		if (!arg)
			continue;
		text = given;
		*at = arg->node;
	}
	if (!text || strpbrk(text, ".$/<{"))
		return NULL;
	return arena_strndup(arena, text, strcspn(text, ":"));
}

/* True if the launcher connects several nodes. */
static bool has_nodes(const struct container *c)
{
	struct parallel_list list = container_parallel(c);
	const struct degree *nodes =
		list.n == 1 ? &list.items[0].degrees[DEGREE_NODES] : NULL;

	return nodes && nodes->given && !nodes->unknown && nodes->n > 1;
}

/* True if the host is the name of a Pod, and of no Service. */
static bool is_pod(struct rule_run *run, const struct workload *beside,
		   const char *host)
{
	const struct object_index *set = rule_index(run);
	bool found = false;

	for (size_t i = 0; i < set->nservices; i++)
		if (text_eq(set->services[i].id.name, host))
			return false;
	FOR_EACH_WORKLOAD(set, w)
		found |= w->class == KIND_POD && !w->child &&
			 text_eq(w->id.name, host) &&
			 text_eq(w->id.namespace, beside->id.namespace);
	return found;
}

/* True if the pod may look up names in other places than the cluster's DNS, as
 * the network of the node does. */
static bool has_other_names(const struct pod *pod)
{
	const struct node *policy = pod_field(pod, "dnsPolicy");

	return !node_is_unset(pod_field(pod, "hostAliases")) ||
	       !node_is_unset(pod_field(pod, "dnsConfig")) ||
	       node_is_true(pod_field(pod, "hostNetwork")) ||
	       !(node_is_unset(policy) || node_eq(policy, "ClusterFirst"));
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object *object =
		w->class == KIND_POD && w->training && !w->child
			? rule_object(run, w)
			: NULL;

	if (!object || !object->npods || has_other_names(&object->pods[0]))
		return;
	FOR_EACH_CONTAINER(&object->pods[0], c) {
		const struct node *at;
		const char *host = has_nodes(c)
					   ? bare_host(rule_arena(run), c, &at)
					   : NULL;

		if (host && is_pod(run, w, host))
			report_container(
				run, c, at,
				"other pods cannot resolve `%s`, the name of a Pod, unless a Service has this name",
				host);
	}
}

const struct rule rule_address_is_pod_name = {
	.name = "address-is-pod-name",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary = "the address of the first rank is the name of a Pod",
	.why = "The other ranks cannot reach the first one: they wait for it and hold their GPUs.",
	.remedy =
		"Create a headless Service, set `hostname` and `subdomain` of the Pods, and use HOSTNAME.SUBDOMAIN; or run the ranks as an Indexed Job.",
	.evidence =
		"https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-hostname-and-subdomain-fields",
	.check_workload = check,
};
