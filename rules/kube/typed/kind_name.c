/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds that no API server serves. All kinds of native versions are known, so
 * that an unknown one is reported if it exists in another group or has a
 * similar name. The group of an operator may have kinds that are not in the
 * table, but none that differs from a known kind only in case, because both
 * would have the same plural.
 *
 * OpenShift's `oc process` reads templates of the version `v1` without a group
 * (openshift/api template/v1 legacy.go, DeprecatedInstallWithoutGroup).
 */
#include "kube/kind_name.h"

#include <strings.h>

#include "../kinds.h"
#include "base/text.h"
#include "native.h"

/* True if the table has all kinds of the object's group and version. */
static bool is_native_version(const struct object *object)
{
	const struct native_kind *k = native_kinds;

	for (; k->kind; k++)
		if (text_eq(k->group, object->group) &&
		    text_eq(k->version, object->version))
			return true;
	return false;
}

static const struct native_kind *nearest_kind(const struct object *object)
{
	enum { MOST = 64 };
	const struct native_kind *of[MOST];
	const char *names[MOST] = {NULL};
	const char *near;
	size_t n = 0;

	for (const struct native_kind *k = native_kinds; k->kind; k++)
		if (n < MOST && text_eq(k->group, object->group) &&
		    text_eq(k->version, object->version)) {
			of[n] = k;
			names[n++] = k->kind;
		}
	near = text_nearest(object->kind, names, n);
	for (size_t i = 0; near && i < n; i++)
		if (names[i] == near)
			return of[i];
	return NULL;
}

static const struct native_kind *native_elsewhere(const char *kind)
{
	const struct native_kind *k = native_kinds;

	while (k->kind && strcasecmp(k->kind, kind))
		k++;
	return k->kind ? k : NULL;
}

static const struct kind *custom_elsewhere(const char *kind)
{
	const struct kind *row = kind_table;

	while (row->kind && strcasecmp(row->kind, kind))
		row++;
	return row->kind ? row : NULL;
}

static enum kind_fault native_fault(const struct object *object,
				    struct kind_meant *meant)
{
	const struct native_kind *near = nearest_kind(object);
	const struct native_kind *k = native_elsewhere(object->kind);
	const struct kind *row = custom_elsewhere(object->kind);

	if (near && ((!k && !row) || !strcasecmp(near->kind, object->kind)))
		k = near;
	if (k)
		*meant = (struct kind_meant){k->kind, k->group, k->version};
	else if (row)
		*meant = (struct kind_meant){row->kind, row->group, NULL};
	else
		return KIND_NO_FAULT;
	return k && k == near ? KIND_MISSPELLED : KIND_ELSEWHERE;
}

static enum kind_fault custom_fault(const struct object *object,
				    struct kind_meant *meant)
{
	for (const struct kind *row = kind_table; row->kind; row++)
		if (text_eq(row->group, object->group) &&
		    !strcasecmp(row->kind, object->kind)) {
			*meant = (struct kind_meant){row->kind, row->group,
						     NULL};
			return strcmp(row->kind, object->kind) ? KIND_MISSPELLED
							       : KIND_NO_FAULT;
		}
	return KIND_NO_FAULT;
}

static bool is_openshift(const struct object *object)
{
	return text_eq(object->api_version, "v1") &&
	       text_eq(object->kind, "Template") &&
	       node_is_seq(node_get(object->root, "objects"));
}

enum kind_fault kind_fault(const struct object *object,
			   struct kind_meant *meant)
{
	if (!object->kind || !object->version)
		return KIND_NO_FAULT;
	if (!is_native_version(object))
		return custom_fault(object, meant);
	/* Lists, and options of requests, are kinds that the table lacks
	 * because their objects are never stored. */
	if (native_kind(object->group, object->version, object->kind) ||
	    text_ends(object->kind, "List") ||
	    text_ends(object->kind, "Options") || is_openshift(object) ||
	    object_kind_has(object, ~0u))
		return KIND_NO_FAULT;
	return native_fault(object, meant);
}
