/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod is known as HOSTNAME.SUBDOMAIN where a headless Service has the
 * subdomain's name. A JobSet makes the Service, and the subdomain of its pods.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/address.h"
#include "kube/command/argv.h"
#include "kube/command/env.h"
#include "kube/operators/jobset.h"

static const char *const names[] = {"MASTER_ADDR", "PET_MASTER_ADDR",
				    "PET_RDZV_ENDPOINT", NULL};
static const char *const flags[] = {"--master-addr", "--rdzv-endpoint",
				    "--dist-init-addr", NULL};

/* True if its pods have host names, and only ones of the cluster's DNS. The
 * job controller gives them only to pods of Indexed Jobs. */
static bool has_hostnames(const struct pod *pod)
{
	static const char *const others[] = {"hostAliases", "dnsConfig",
					     "dnsPolicy", "hostNetwork", NULL};

	if (!object_is(pod->object, "apps", "StatefulSet") &&
	    !object_is(pod->object, "jobset.x-k8s.io", "JobSet") &&
	    (!object_is(pod->object, "batch", "Job") ||
	     !node_eq(node_path(pod->object->root, "spec.completionMode"),
		      "Indexed")))
		return false;
	for (const char *const *other = others; *other; other++)
		if (!node_is_unset(pod_field(pod, *other)))
			return false;
	return true;
}

static const struct node *service_field(const struct pod *pod)
{
	if (object_is(pod->object, "apps", "StatefulSet"))
		return node_path(pod->object->root, "spec.serviceName");
	return pod_field(pod, "subdomain");
}

static void judge_jobset(struct rule_run *run, const struct container *c,
			 const struct node *at, const char *value)
{
	const char *why =
		jobset_unresolved(rule_arena(run), c->pod->object, value);

	if (why)
		report_container(run, c, at, "`%s` cannot be resolved: %s",
				 value, why);
}

static void check_address(struct rule_run *run, const struct container *c,
			  const struct node *at, const char *value)
{
	const struct node *has = service_field(c->pod);
	size_t len;
	const char *wanted = first_pod_subdomain(c->pod->object, value, &len);

	if (object_is(c->pod->object, "jobset.x-k8s.io", "JobSet"))
		judge_jobset(run, c, at, value);
	if (!wanted || node_is_unknown(has) ||
	    (node_str(has) && strlen(node_str(has)) == len &&
	     !strncmp(wanted, node_str(has), len)))
		return;
	report_container(
		run, c, at, "`%s` cannot be resolved: the pods have %s%s%s",
		value, node_str(has) ? "the subdomain `" : "no subdomain",
		node_str(has) ? node_str(has) : "", node_str(has) ? "`" : "");
}

/* True if an item has the part that follows the name in such an address.
 * Most commands do not, and are not split into words. */
static bool may_have_address(const struct node *list)
{
	FOR_EACH_CHILD(list, item)
		/* A script may hold placeholders besides. */
		if (item->type == NODE_STRING &&
		    text_contains(item->str, "-0."))
			return true;
	return false;
}

static void judge_flags(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(c);

	for (const char *const *flag = flags; *flag; flag++) {
		const struct arg *arg;
		const char *value = argv_flag(&argv, *flag, &arg);

		if (value)
			check_address(run, c, arg->node, value);
	}
}

static void judge_all(struct rule_run *run, const struct container *c)
{
	for (const char *const *name = names; *name; name++) {
		struct env_value value = container_env_value(c, *name);

		if (value.text)
			check_address(run, c, value.at, value.text);
	}
	if (may_have_address(node_get(c->node, "command")) ||
	    may_have_address(node_get(c->node, "args")) ||
	    node_get(c->node, "source"))
		judge_flags(run, c);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!has_hostnames(pod))
		return;
	FOR_EACH_CONTAINER(pod, c)
		judge_all(run, c);
}

const struct rule rule_rendezvous_service_missing = {
	.name = "rendezvous-service-missing",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS,
	.since = "1.0",
	.summary =
		"the address of the first rank names a Service that does not select the pods",
	.why = "The name never resolves: the ranks wait for it and hold their GPUs.",
	.remedy =
		"Name the headless Service in subdomain (Job) or serviceName (StatefulSet), and create it. The Service of a JobSet has the name of the JobSet, or the name in network.subdomain.",
	.evidence =
		"https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-hostname-and-subdomain-fields; https://github.com/kubernetes-sigs/jobset/blob/main/api/jobset/v1alpha2/jobset_types.go Network",
	.check_pod = check,
};
