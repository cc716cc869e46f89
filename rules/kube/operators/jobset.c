/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JobSet. Source: jobset_types.go (failurePolicy, dependsOn, network),
 * pkg/controllers/jobset_controller.go (names and subdomain of the pods).
 * Deadline and retries are in its Jobs.
 */
#include "kube/operators/jobset.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "rules/kube/operator.h"

/* Returns the action of a failure policy rule that does not count restarts,
 * whatever the reason of the failure is; NULL if no rule has one. */
static const struct node *endless(const struct pod *pod)
{
	FOR_EACH_CHILD(node_path(pod->object->root, "spec.failurePolicy.rules"),
		       rule) {
		const struct node *action = node_get(rule, "action");

		if (text_ends(node_str(action), "AndIgnoreMaxRestarts") &&
		    node_is_unset(node_get(rule, "onJobFailureReasons")))
			return action;
	}
	return NULL;
}

/* A JobSet with several pods counts as training unless its programs or probes
 * show that it serves. */
static enum tri trains(const struct object *object)
{
	return object->gang.n > 1 || object->gang.unknown ? TRI_YES
							  : TRI_UNKNOWN;
}

const struct workload_operator operator_jobset = {
	.gang = gang_of_all,
	.pods.endless = endless,
	.trains = trains,
};

/* -- addresses of pods ----------------------------------------------------- */

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

const char *jobset_unresolved(struct arena *arena, const struct object *object,
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
