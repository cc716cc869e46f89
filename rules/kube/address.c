/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses names of pods in the cluster's DNS:
 * HOSTNAME.SUBDOMAIN[.NAMESPACE[.svc...]]. Source: Kubernetes DNS for Services
 * and Pods.
 */
#include "kube/address.h"

#include <string.h>

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
 * True for SUBDOMAIN, or SUBDOMAIN.NAMESPACE with or without a suffix; if the
 * namespace is unknown, a suffix that begins with `.svc` is required. Any other
 * name may belong to a Service `NAME-0` (NAME-0.NAMESPACE,
 * NAME-0.NAMESPACE.svc), or to a host outside of the cluster.
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
