/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses names of pods in the cluster's DNS:
 * HOSTNAME.SUBDOMAIN[.NAMESPACE[.svc...]], and decides whether a pod of the
 * object has the name. Sources: Kubernetes DNS for Services and Pods; JobSet
 * jobset_types.go (network), pkg/controllers/jobset_controller.go (names and
 * subdomain of the pods); volcano
 * pkg/webhooks/admission/jobs/mutate/mutate_job.go (plugins that imply svc);
 * training-operator pkg/controller.v1/common/service.go.
 */
#include "kube/object.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

/* Returns the text that follows "NAME-0." in the value, or NULL. */
static const char *service_part(const struct object *object, const char *value)
{
	size_t len = object->name ? strlen(object->name) : 0;

	if (!len || strncmp(value, object->name, len) ||
	    strncmp(value + len, "-0.", 3))
		return NULL;
	return value + len + 3;
}

/*
 * True for SUBDOMAIN, unless it is the name of the namespace, and for
 * SUBDOMAIN.NAMESPACE with or without a suffix. If the namespace is unknown, a
 * suffix that begins with `.svc` is required. Any other name may belong to a
 * Service `NAME-0` (NAME-0.NAMESPACE, NAME-0.NAMESPACE.svc), or to a host
 * outside of the cluster.
 */
static bool is_of_pod(const char *wanted, const char *namespace)
{
	const char *next = wanted + strcspn(wanted, ".:");
	bool one = *next != '.';
	const char *part = one ? wanted : next + 1;
	size_t len = strcspn(part, ".:");

	if (!namespace || !*namespace)
		return one || !strncmp(part + len, ".svc", 4);
	return one !=
	       (len == strlen(namespace) && !strncmp(part, namespace, len));
}

const char *first_pod_subdomain(const struct object *object,
				const char *address, size_t *len)
{
	const char *wanted = service_part(object, address);

	*len = wanted ? strcspn(wanted, ".:") : 0;
	return *len && !strchr(wanted, '$') &&
			       is_of_pod(wanted, object->namespace)
		       ? wanted
		       : NULL;
}

/* --- JobSets -------------------------------------------------------------- */

/* The parts of the address "NAME-JOB-0-0.SUBDOMAIN.NAMESPACE", as pointers into
 * it. */
struct pod_address {
	const char *job, *subdomain, *namespace;
	size_t job_len, subdomain_len, namespace_len;
};

static bool spells(const char *name, const char *part, size_t len)
{
	return name && strlen(name) == len && !strncmp(name, part, len);
}

/* Returns the end of the text before "-N", or NULL. */
static const char *before_number(const char *from, const char *end)
{
	const char *at = end;

	while (at > from && isdigit((unsigned char)at[-1]))
		at--;
	return at < end && at > from && at[-1] == '-' ? at - 1 : NULL;
}

static bool address_read(struct pod_address *out, const char *name,
			 const char *text)
{
	size_t len = strlen(name);
	const char *dot = strchr(text, '.'), *end;

	if (!dot || strncmp(text, name, len) != 0 || text[len] != '-')
		return false;
	out->job = text + len + 1;
	end = dot > out->job ? before_number(out->job, dot) : NULL;
	end = end ? before_number(out->job, end) : NULL;
	if (!end || end == out->job)
		return false;
	out->job_len = (size_t)(end - out->job);
	out->subdomain = dot + 1;
	out->subdomain_len = strcspn(out->subdomain, ".:/");
	out->namespace = out->subdomain + out->subdomain_len;
	out->namespace += *out->namespace == '.';
	out->namespace_len = strcspn(out->namespace, ".:/");
	if (out->namespace[-1] != '.')
		out->namespace_len = 0;
	return out->subdomain_len > 0;
}

static enum tri has_job(const struct object *object,
			const struct pod_address *a)
{
	const struct node *jobs =
		node_path(object->root, "spec.replicatedJobs");

	if (!node_is_seq(jobs))
		return TRI_UNKNOWN;
	FOR_EACH_CHILD(jobs, job) {
		const char *name = node_str(node_get(job, "name"));

		if (!name)
			return TRI_UNKNOWN;
		if (spells(name, a->job, a->job_len))
			return TRI_YES;
	}
	return TRI_NO;
}

/* True if a template sets a subdomain, for which the JobSet creates no
 * Service. */
static bool have_subdomain(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (!node_is_unset(pod_field(pod, "subdomain")))
			return true;
	return false;
}

/* Returns the reason why the address cannot be resolved, or NULL. Names of Jobs
 * are unique in a namespace, so if the job is in this JobSet, the pod cannot
 * belong to another one. */
static const char *unresolved_reason(struct arena *arena,
				     const struct object *object,
				     const struct pod_address *a)
{
	const struct node *network = node_path(object->root, "spec.network");
	const struct node *subdomain = node_get(network, "subdomain");
	const struct node *enabled = node_get(network, "enableDNSHostnames");
	const char *own =
		node_is_unset(subdomain) ? object->name : node_str(subdomain);
	enum tri job = has_job(object, a);
	bool same = own && spells(own, a->subdomain, a->subdomain_len);

	if (node_is_unknown(network) || node_is_unknown(enabled) || !own ||
	    job == TRI_UNKNOWN)
		return NULL;
	if (node_is_false(enabled))
		return job == TRI_NO || have_subdomain(object)
			       ? NULL
			       : "`enableDNSHostnames: false` gives the pods "
				 "no subdomain";
	if (job == TRI_YES)
		return same ? NULL
			    : arena_printf(arena,
					   "the pods have the subdomain `%s`",
					   own);
	return same && node_is_unset(subdomain)
		       ? arena_printf(arena, "the JobSet has no job `%.*s`",
				      (int)a->job_len, a->job)
		       : NULL;
}

/*
 * Returns the reason why the address of a pod of this JobSet
 * ("NAME-JOB-0-0.SUBDOMAIN:29400") cannot be resolved; NULL if it can be
 * resolved, if it is not the address of one of its pods, or if that is unknown.
 */
static const char *jobset_unresolved(struct arena *arena,
				     const struct object *object,
				     const char *address)
{
	struct pod_address a;

	if (!object->name || strchr(address, '$') ||
	    !address_read(&a, object->name, address))
		return NULL;
	if (a.namespace_len && !spells("svc", a.namespace, a.namespace_len) &&
	    !spells(object->namespace, a.namespace, a.namespace_len))
		return NULL;
	return unresolved_reason(arena, object, &a);
}

/* --- pods of any kind ----------------------------------------------------- */

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

/* Returns the reason why no pod has the name, in words that follow a colon, or
 * NULL. */
static const char *unresolved(struct arena *arena, const struct pod *pod,
			      const char *value)
{
	const struct object *object = pod->object;
	const struct node *mode =
		node_path(object->root, "spec.completionMode");
	const char *wanted;
	size_t len;

	if (object_is(object, "jobset.x-k8s.io", "JobSet"))
		return jobset_unresolved(arena, object, value);
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

const char *pod_name_unresolved(struct arena *arena, const struct pod *pod,
				const char *value)
{
	const struct object *object = pod->object;
	const char *why;

	if (!object->name || !node_is_unset(pod_field(pod, "hostname")))
		return NULL;
	if ((pod->steady.n > 1 || object->npods > 1) &&
	    lacks_subdomain(object, value))
		return " unless a Service has this name, because it lacks the subdomain of the pods";
	why = unresolved(arena, pod, value);
	return why ? arena_printf(arena, ": %s", why) : NULL;
}
