/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API versions that Kubernetes or an operator removed, from
 * data/removed_versions.tsv. Clouds support a release for two years, so a
 * version removed in a recent release may still be served.
 */
#include "kube/api_version.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "data.h"

enum { OLDEST_SUPPORTED = 32 };

static int by_kind(const void *row, const void *kind)
{
	return strcmp(((const struct removed_version *)row)->kind, kind);
}

const struct removed_version *object_removed_version(const struct object *o)
{
	const struct removed_version *one, *end;

	if (!o->version || !o->kind)
		return NULL;
	end = data_removed_versions + data_removed_versions_n;
	one = data_removed_versions +
	      array_first(data_removed_versions, data_removed_versions_n,
			  sizeof(*one), o->kind, by_kind);
	for (; one < end && text_eq(o->kind, one->kind); one++) {
		if (object_is(o, one->group, one->kind) &&
		    (!one->version || text_eq(o->version, one->version)))
			return one;
	}
	return NULL;
}

bool version_is_gone(const struct removed_version *removed)
{
	return removed && removed->since && removed->since <= OLDEST_SUPPORTED;
}
