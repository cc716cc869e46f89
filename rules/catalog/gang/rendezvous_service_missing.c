/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs in which the address of the first rank is not a DNS name of a
 * pod, lacks the subdomain, or, in a flag of a launcher of several nodes, is
 * localhost. A pod has the name HOSTNAME.SUBDOMAIN if a headless Service has
 * the name of the subdomain. JobSet creates the Service and sets the subdomain
 * of its pods.
 *
 * Sources: volcano pkg/webhooks/admission/jobs/mutate/mutate_job.go (plugins
 * that imply svc); training-operator pkg/controller.v1/common/service.go.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/address.h"
#include "kube/command/argv.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/operators/jobset.h"

static const char *const names[] = {"MASTER_ADDR", "PET_MASTER_ADDR",
				    "PET_RDZV_ENDPOINT", NULL};
static const char *const flags[] = {"--master-addr", "--rdzv-endpoint",
				    "--dist-init-addr", NULL};

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

/* True if the address has the form NAME-TASK-N.NAME, which Volcano's plugin svc
 * provides. */
static bool is_of_task(const struct object *object, const char *value)
{
	size_t len = strlen(object->name);
	const char *dot = strchr(value, '.');

	if (!dot || strncmp(dot + 1, object->name, len) != 0 ||
	    !strchr(".:", dot[1 + len]) ||
	    strncmp(value, object->name, len) != 0 || value[len] != '-')
		return false;
	value += len + 1;
	FOR_EACH_POD(object, pod) {
		len = strlen(pod->role);
		if (!strncmp(value, pod->role, len) && value[len] == '-' &&
		    len + 1 + strspn(value + len + 1, "0123456789") ==
			    (size_t)(dot - value))
			return true;
	}
	return false;
}

/* True if the text is n numbers, each with a dash before it. */
static bool are_numbers(const char *text, const char *end, int n)
{
	for (; n && text < end && *text == '-'; n--)
		text += 1 + strspn(text + 1, "0123456789");
	return !n && text == end && end[-1] != '-';
}

/* True if the address is the name of a pod without the subdomain, which only
 * the pod itself resolves. */
static bool lacks_subdomain(const struct object *object, const char *value)
{
	const char *end = value + strcspn(value, ":");
	size_t len = object->name ? strlen(object->name) : 0;
	bool jobset = object_is(object, "jobset.x-k8s.io", "JobSet");

	if (!len || strncmp(value, object->name, len) != 0 ||
	    strcspn(value, ".$/") < (size_t)(end - value))
		return false;
	value += len;
	if (object_is(object, "apps", "StatefulSet") ||
	    object_is(object, "batch", "Job"))
		return are_numbers(value, end, 1);
	if (*value != '-' ||
	    (!jobset && !object_is(object, "batch.volcano.sh", "Job")))
		return false;
	FOR_EACH_POD(object, pod) {
		len = strlen(pod->role);
		if (len && !strncmp(value + 1, pod->role, len) &&
		    are_numbers(value + 1 + len, end, jobset ? 2 : 1))
			return true;
	}
	return false;
}

static bool has_service_plugin(const struct object *object)
{
	static const char *const names_of[] = {
		"svc", "pytorch", "tensorflow", "mpi", "ray", "jax", NULL};
	const struct node *plugins = node_path(object->root, "spec.plugins");

	for (const char *const *name = names_of; *name; name++)
		if (node_get(plugins, *name))
			return true;
	return node_is_unknown(plugins);
}

static bool is_subdomain(const struct pod *pod, const char *text, size_t len)
{
	const char *own = node_str(pod_field(pod, "subdomain"));

	return own && strlen(own) == len && !strncmp(own, text, len);
}

/* Returns the reason why no pod of the object has this name of a first pod, or
 * NULL. */
static const char *nameless(const struct pod *pod, const char *value)
{
	const struct object *object = pod->object;
	const struct node *mode =
		node_path(object->root, "spec.completionMode");
	const char *wanted;
	size_t len;

	if (!object->name || !node_is_unset(pod_field(pod, "hostname")))
		return NULL;
	if ((pod->steady.n > 1 || object->npods > 1) &&
	    lacks_subdomain(object, value))
		return "it lacks the subdomain of the pods, unless it names a Service";
	if (object_is(object, "batch", "Job")) {
		wanted = first_pod_subdomain(object, value, &len);
		return wanted && is_subdomain(pod, wanted, len) &&
				       (node_is_unset(mode) ||
					node_eq(mode, "NonIndexed"))
			       ? "pods of a Job have host names only with `completionMode: Indexed`"
			       : NULL;
	}
	if (object_is(object, "batch.volcano.sh", "Job"))
		return is_of_task(object, value) && !has_service_plugin(object)
			       ? "pods of a Volcano Job have host names only with the plugin `svc`"
			       : NULL;
	len = strlen(object->name);
	if (!object_is(object, "kubeflow.org", "PyTorchJob") ||
	    strncmp(value, object->name, len) != 0 ||
	    !text_starts(value + len, "-master-0") ||
	    !strchr(".:", value[len + strlen("-master-0")]) ||
	    node_get(node_path(object->root, "spec.pytorchReplicaSpecs"),
		     "Master"))
		return NULL;
	return "the job has no `Master`";
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
	const char *why = nameless(c->pod, value);

	if (why)
		report_container(run, c, at, "`%s` cannot be resolved: %s",
				 value, why);
	if (!has_hostnames(c->pod))
		return;
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

/* True if an item may contain the address of a first pod, or of the pod itself.
 * Most commands do not, and are not split into words. */
static bool may_have_address(const struct node *list)
{
	FOR_EACH_CHILD(list, item)
		/* A script may contain placeholders elsewhere. */
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

static void judge_flags(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(c);

	for (const char *const *flag = flags; *flag; flag++) {
		const struct arg *arg;
		const char *value = argv_flag(&argv, *flag, &arg);

		if (value && is_loopback(value))
			check_loopback(run, c, arg->node, value);
		else if (value)
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
	if (!uses_cluster_dns(pod))
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
		"the address of the first rank is a name that the pods do not have",
	.why = "The name never resolves: the ranks wait for it and hold their GPUs.",
	.remedy =
		"Name the headless Service in subdomain (Job, with completionMode: Indexed) or serviceName (StatefulSet), and create it. Add the plugin svc to a Volcano Job, and a Master to a PyTorchJob, or name its first worker. The Service of a JobSet has the name of the JobSet, or the name in network.subdomain.",
	.evidence =
		"https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-hostname-and-subdomain-fields; https://github.com/kubernetes-sigs/jobset/blob/main/api/jobset/v1alpha2/jobset_types.go Network",
	.check_pod = check,
};
