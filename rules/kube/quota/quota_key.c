/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of a ResourceQuota's spec.hard. Matching is "not a native resource and
 * begins with requests."; usage is written under requests.<name> only.
 * Source: pkg/quota/v1/evaluator/core/pods.go isExtendedResourceNameForQuota,
 * podComputeUsageHelper.
 */
#include <string.h>

#include "base/text.h"
#include "kube/quota/quota.h"

bool quota_is_of_hami(const struct accelerator_extra *extra,
		      const struct node *hard)
{
	FOR_EACH_CHILD(hard, entry) {
		const struct accelerator *a = NULL;

		if (text_starts(entry->key, "limits."))
			a = accelerator_find(extra, entry->key + 7);
		if (a && !accelerator_counts(a))
			return true;
	}
	return false;
}

bool quota_key_is_ineffective(const struct accelerator_extra *extra,
			      const char *text, bool hami,
			      struct quota_key *key)
{
	key->accelerator = NULL;
	/* An item of a list, where a map should be, has no key. */
	if (!text)
		return false;
	key->resource = text;
	if (text_starts(text, "requests.")) {
		key->resource = text + strlen("requests.");
		key->accelerator = accelerator_resembles(extra, key->resource);
		key->why = "no pod requests a resource of that name";
	} else if (text_starts(text, "limits.")) {
		key->resource = text + strlen("limits.");
		key->accelerator = accelerator_find(extra, key->resource);
		key->why = "limits of extended resources are never charged";
		return key->accelerator && !hami;
	} else if (text_starts(text, "count/")) {
		key->resource = text + strlen("count/");
		key->accelerator = accelerator_find(extra, key->resource);
		key->why = "the API server refuses it";
	} else {
		key->accelerator = accelerator_find(extra, text);
		if (!key->accelerator)
			key->accelerator = accelerator_resembles(extra, text);
		key->why = strchr(text, '/')
				   ? "it is accepted and never charged"
				   : "the API server refuses it";
	}
	return key->accelerator != NULL;
}
