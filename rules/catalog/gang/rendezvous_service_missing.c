/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs in which the address of the first rank is not a DNS name of a
 * pod, lacks the subdomain, or, for a launcher of several nodes, is localhost.
 * A pod has the name HOSTNAME.SUBDOMAIN if a headless Service has the name of
 * the subdomain. JobSet creates the Service and sets the subdomain of its pods.
 * Localhost is also the default of torchrun, in which each pod is node 0.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/object.h"

static const char *const names[] = {"MASTER_ADDR", "PET_MASTER_ADDR",
				    "PET_RDZV_ENDPOINT", NULL};
static const char *const flags[] = {"--master-addr",
				    "--rdzv-endpoint",
				    "--dist-init-addr",
				    "--main-process-ip",
				    "--data-parallel-address",
				    "--address", /* ray start */
				    NULL};

/* True if the pod resolves names only by the cluster's DNS. */
static bool uses_cluster_dns(const struct pod *pod)
{
	static const char *const others[] = {"hostAliases", "dnsConfig",
					     "dnsPolicy", "hostNetwork", NULL};

	for (const char *const *other = others; *other; other++)
		if (!node_is_unset(pod_field(pod, *other)))
			return false;
	return true;
}

/* True if the pods have host names. The job controller sets them only in pods
 * of Indexed Jobs. */
static bool has_hostnames(const struct pod *pod)
{
	return object_is(pod->object, "apps", "StatefulSet") ||
	       object_is(pod->object, "jobset.x-k8s.io", "JobSet") ||
	       (object_is(pod->object, "batch", "Job") &&
		node_eq(node_path(pod->object->root, "spec.completionMode"),
			"Indexed"));
}

static const struct node *service_field(const struct pod *pod)
{
	if (object_is(pod->object, "apps", "StatefulSet"))
		return node_path(pod->object->root, "spec.serviceName");
	return pod_field(pod, "subdomain");
}

/* Adds help on how pods of the kind get a DNS name. */
static void add_help(struct rule_run *run, struct finding *f,
		     const struct object *object)
{
	static const struct {
		const char *group, *kind, *text;
	} kinds[] = {
		{"apps", "StatefulSet",
		 "Set `serviceName` to a headless Service, and use POD.SERVICE as the address."},
		{"batch", "Job",
		 "Set `completionMode: Indexed` and `subdomain`, create a headless Service with the name of the subdomain, and use POD.SUBDOMAIN as the address."},
		{"jobset.x-k8s.io", "JobSet",
		 "Use POD.SUBDOMAIN as the address, with `enableDNSHostnames: true`. The subdomain is `network.subdomain`, or the name of the JobSet."},
		{"batch.volcano.sh", "Job",
		 "Add the plugin `svc`, and use POD.JOB as the address."},
		{"kubeflow.org", "PyTorchJob",
		 "Add a `Master`, or use the name of the first worker as the address."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (object_is(object, kinds[i].group, kinds[i].kind))
			finding_help(run, f, "%s", kinds[i].text);
}

static void check_address(struct rule_run *run, const struct container *c,
			  const struct node *at, const char *value)
{
	const struct node *has = service_field(c->pod);
	size_t len;
	const char *wanted = first_pod_subdomain(c->pod->object, value, &len);
	const char *why = pod_name_unresolved(rule_arena(run), c->pod, value);

	if (why)
		add_help(run,
			 report_container(run, c, at,
					  "`%s` cannot be resolved%s", value,
					  why),
			 c->pod->object);
	if (!has_hostnames(c->pod))
		return;
	if (!wanted || node_is_unknown(has) ||
	    (node_str(has) && strlen(node_str(has)) == len &&
	     !strncmp(wanted, node_str(has), len)))
		return;
	add_help(run,
		 report_container(
			 run, c, at,
			 "`%s` cannot be resolved: the pods have %s%s%s", value,
			 node_str(has) ? "the subdomain `" : "no subdomain",
			 node_str(has) ? node_str(has) : "",
			 node_str(has) ? "`" : ""),
		 c->pod->object);
}

/* True if an item may contain the address of a first pod, or of the pod itself.
 * Most commands do not, and are not split into words. */
static bool may_have_address(const struct node *list)
{
	FOR_EACH_CHILD(list, item)
		/* Reads str, because node_str() returns NULL for a script with
		 * a placeholder, which may be elsewhere. */
		if (item->type == NODE_STRING &&
		    (text_contains(item->str, "-0.") ||
		     text_contains(item->str, "-0:") ||
		     text_contains(item->str, "localhost") ||
		     text_contains(item->str, "127.0.0.1")))
			return true;
	return false;
}

static bool is_loopback(const char *value)
{
	return text_starts(value, "localhost") ||
	       text_starts(value, "127.0.0.1");
}

/* Reports a launcher of several nodes whose address is the pod itself. Several
 * launchers in one pod could meet there, so only a single one is checked. */
static void check_loopback(struct rule_run *run, const struct container *c,
			   const struct node *at, const char *value)
{
	struct parallel_list list = container_parallel(c);
	const struct degree *nodes;

	if (list.n != 1 || c->pod->steady.n < 2 ||
	    list.items[0].type != PARALLEL_LAUNCHER || list.items[0].unknown)
		return;
	nodes = &list.items[0].degrees[DEGREE_NODES];
	if (nodes->given && !nodes->unknown && nodes->n > 1)
		report_container(
			run, c, at,
			"each pod resolves `%s` to itself: the %s of %s never connect",
			value, rule_count(run, nodes->n, "node"),
			list.items[0].program);
}

/* True if torchrun takes the address of its first node from --master-addr:
 * other backends and a rendezvous endpoint do without it (torch v2.9
 * distributed/run.py, get_rdzv_endpoint()). */
static bool uses_master(const struct container *c, const struct argv *argv)
{
	static const char *const others[] = {
		"--rdzv-endpoint", "--rdzv-backend", "--standalone", NULL};

	return !argv_have_any(argv, others) &&
	       !container_env(c, "PET_RDZV_ENDPOINT") &&
	       !container_env(c, "PET_RDZV_BACKEND");
}

/* True for kinds whose operators set no variable of torchrun. */
static bool sets_no_address(const struct object *object)
{
	return object_kind_has(object, KIND_NATIVE) ||
	       object_is(object, "jobset.x-k8s.io", "JobSet");
}

/* Checks a variable from which torchrun takes its address, unless a flag gives
 * it. Skips kinds whose operators set such variables. */
static void check_variable(struct rule_run *run, const struct container *c,
			   const char *name, const struct env_value *value)
{
	struct argv argv = container_argv(c);
	struct parallel_list list = container_parallel(c);

	if (list.n != 1 || !text_eq(list.items[0].program, "torchrun") ||
	    !sets_no_address(c->pod->object))
		return;
	if (text_eq(name, "PET_MASTER_ADDR")
		    ? uses_master(c, &argv) &&
			      !argv_have(&argv, "--master-addr")
		    : text_eq(name, "PET_RDZV_ENDPOINT") &&
			      !argv_have(&argv, "--rdzv-endpoint") &&
			      !argv_have(&argv, "--standalone"))
		check_loopback(run, c, value->at, value->text);
}

static void check_flags(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(c);

	for (const char *const *flag = flags; *flag; flag++) {
		const struct arg *arg;
		const char *value = argv_flag(&argv, *flag, &arg);

		if (!value || !is_loopback(value)) {
			if (value)
				check_address(run, c, arg->node, value);
		} else if (text_eq(*flag, "--master-addr")
				   ? uses_master(c, &argv)
				   : !text_eq(*flag, "--address")) {
			check_loopback(run, c, arg->node, value);
		}
	}
}

/* Reports torchrun on several nodes that uses its default address. Several
 * launchers in one pod could meet there. */
static void check_default(struct rule_run *run, const struct container *c)
{
	const struct degree *nodes;

	if (c->pod->steady.n < 2 || !sets_no_address(c->pod->object))
		return;
	nodes = torchrun_without_address(container_parallel(c), c);
	if (nodes)
		report_container(
			run, c, nodes->node,
			"torchrun has no address: each pod is node 0 at 127.0.0.1, and the %s never connect",
			rule_count(run, nodes->n, "node"));
}

static void check_container(struct rule_run *run, const struct container *c)
{
	for (const char *const *name = names; *name; name++) {
		struct env_value value = container_env_value(c, *name);

		if (value.text && is_loopback(value.text))
			check_variable(run, c, *name, &value);
		else if (value.text)
			check_address(run, c, value.at, value.text);
	}
	check_default(run, c);
	if (may_have_address(node_get(c->node, "command")) ||
	    may_have_address(node_get(c->node, "args")) ||
	    node_get(c->node, "source"))
		check_flags(run, c);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!uses_cluster_dns(pod))
		return;
	FOR_EACH_CONTAINER(pod, c)
		check_container(run, c);
}

const struct rule rule_rendezvous_service_missing = {
	.name = "rendezvous-service-missing",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary =
		"the address of the first rank is a name that its pod does not have, or localhost, the default of torchrun",
	.why = "The other ranks cannot reach the first one: they wait for it and hold their GPUs.",
	.remedy =
		"Use the DNS name of the first pod, POD.SUBDOMAIN, and create a headless Service with the name of the subdomain.",
	.evidence =
		"https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-hostname-and-subdomain-fields; https://github.com/kubernetes-sigs/jobset/blob/main/api/jobset/v1alpha2/jobset_types.go Network",
	.check_pod = check,
};
