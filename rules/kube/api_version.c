/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions that were removed: data/removed_versions.tsv. Clouds support a
 * release for two years, so that a version which a recent one removed may still
 * be served.
 */
#include "kube/api_version.h"

#include "base/text.h"
#include "data.h"

enum { OLDEST_SUPPORTED = 32 };

const struct removed_version *object_removed_version(const struct object *o)
{
	if (!o->version)
		return NULL;
	for (size_t i = 0; i < data_removed_versions_n; i++) {
		const struct removed_version *one = &data_removed_versions[i];

		if (text_eq(o->kind, one->kind) &&
		    object_is(o, one->group, one->kind) &&
		    (!one->version || text_eq(o->version, one->version)))
			return one;
	}
	return NULL;
}

bool version_is_gone(const struct removed_version *removed)
{
	return removed && removed->since && removed->since <= OLDEST_SUPPORTED;
}
