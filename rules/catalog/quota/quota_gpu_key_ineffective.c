/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only "requests.<resource>" is ever charged for an extended resource. A bare
 * "nvidia.com/gpu" and "limits.nvidia.com/gpu" pass validation (any name with
 * a slash does) and stay in status.hard without ever showing in status.used.
 * HAMi's scheduler reads limits.* keys of its own: silent where the quota
 * names its memory or core shares.
 * Source: pkg/quota/v1/evaluator/core/pods.go isExtendedResourceNameForQuota,
 * podComputeUsageHelper; seen on kube-apiserver with its controller-manager.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

struct key {
	const char *text;     /* as written */
	const char *resource; /* without requests., limits., count/ */
	const struct accelerator *accelerator;
	const char *why;
};

static bool hami_quota(const struct accelerator_extra *extra,
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

static bool judge(const struct accelerator_extra *extra, struct key *key,
		  bool hami)
{
	const char *text = key->text;

	key->resource = text;
	if (text_starts(text, "requests.")) {
		key->resource = text + strlen("requests.");
		key->accelerator = accelerator_resembles(extra, key->resource);
		key->why = "no pod ever asks for a resource of that name";
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

static const char *right_name(const struct key *key)
{
	/* A prefix row has no name of its own to propose. */
	return strchr(key->accelerator->name, '*') ? key->resource
						   : key->accelerator->name;
}

static void check(struct rule_run *run, const struct object *o)
{
	const struct accelerator_extra *extra = rule_accelerators(run);
	const struct node *hard = node_path(o->root, "spec.hard");
	bool hami;

	if (!text_eq(o->kind, "ResourceQuota") || !text_eq(o->group, ""))
		return;
	hami = hami_quota(extra, hard);
	FOR_EACH_CHILD(hard, entry) {
		struct key key = {.text = entry->key};
		struct finding *f;
		char better[256];

		if (!judge(extra, &key, hami))
			continue;
		f = report_object(run, o, entry,
				  "quota key `%s` limits nothing: %s", key.text,
				  key.why);
		finding_at_key(run, f, entry);
		snprintf(better, sizeof(better), "requests.%s",
			 right_name(&key));
		if (node_get(hard, better))
			finding_severity(f, SEVERITY_WARNING);
		finding_help(run, f, "only `%s` is charged", better);
	}
}

const struct rule rule_quota_gpu_key_ineffective = {
	.name = "quota-gpu-key-ineffective",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.flags = RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary = "a ResourceQuota key that never limits GPUs",
	.why = "The quota is accepted and looks right, but every pod passes: the budget of the team does not exist.",
	.remedy =
		"Write requests.<resource>, for example requests.nvidia.com/gpu.",
	.evidence =
		"pkg/quota/v1/evaluator/core/pods.go; kubeflow/website#2460; NVIDIA/k8s-device-plugin#211; observed on kube-apiserver",
	.check_object = check,
};
