/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether an address is a name that a pod of its object does not have.
 * Sources: volcano pkg/webhooks/admission/jobs/mutate/mutate_job.go (plugins
 * that imply svc); training-operator pkg/controller.v1/common/service.go.
 */
#include "kube/operators/pod_name.h"

#include <string.h>

#include "base/text.h"
#include "kube/address.h"
#include "kube/operators/jobset.h"

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

const char *pod_name_unresolved(struct arena *arena, const struct pod *pod,
				const char *value)
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
