/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports keys of quotas that limit nothing. For an extended resource, only
 * "requests.<resource>" has an effect. "nvidia.com/gpu" and
 * "limits.nvidia.com/gpu" are accepted, as is any name with a slash, and appear
 * in status.hard but never in status.used. In a quota with HAMi's memory or
 * core shares, limits.* keys are skipped, because HAMi's scheduler reads some
 * of them. Source: pkg/quota/v1/evaluator/core/pods.go
 * isExtendedResourceNameForQuota, podComputeUsageHelper; observed on
 * kube-apiserver with its controller-manager.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/quota/quota.h"

/* True for a quota that names HAMi's memory or core shares. */
static bool quota_is_of_hami(const struct accelerator_extra *extra,
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

static bool quota_key_is_ineffective(const struct accelerator_extra *extra,
				     const char *text, bool hami,
				     struct quota_key *key)
{
	key->accelerator = NULL;
	/* An item of a list in place of a map has no key. */
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
		key->why = "quotas never count limits of extended resources";
		return key->accelerator && !hami;
	} else if (text_starts(text, "count/")) {
		key->resource = text + strlen("count/");
		key->accelerator = accelerator_find(extra, key->resource);
		key->why = "the API server rejects it";
	} else {
		key->accelerator = accelerator_find(extra, text);
		if (!key->accelerator)
			key->accelerator = accelerator_resembles(extra, text);
		key->why =
			strchr(text, '/')
				? "the API server accepts it, but never counts it"
				: "the API server rejects it";
	}
	return key->accelerator != NULL;
}

static const char *right_name(const struct quota_key *key)
{
	/* A pattern matches several names, so keep the written one. */
	return strchr(key->accelerator->name, '*') ? key->resource
						   : key->accelerator->name;
}

/* Adds a fix that moves the value to the key that has an effect, or removes it
 * if that key exists. */
static void add_fix(struct rule_run *run, struct finding *f,
		    const struct node *entry, const char *better)
{
	struct arena *arena = rule_arena(run);
	struct fix *fix;

	if (node_is_unknown(entry))
		return;
	if (node_get(entry->parent, better)) {
		fix = finding_fix(run, f, true, "remove `%s`", entry->key);
	} else {
		fix = finding_fix(run, f, true, "rename the key to `%s`",
				  better);
		fix_set_key(fix, entry->parent, "", arena_strdup(arena, better),
			    edit_copy(arena, entry));
	}
	fix_replaces(fix); /* the old key limits nothing */
	fix_remove(fix, entry);
}

/* Returns the map `hard`. A Kubeflow Profile creates the quota of its
 * namespace. */
static const struct node *hard_of(const struct object *o)
{
	if (object_is(o, "", "ResourceQuota"))
		return node_path(o->root, "spec.hard");
	if (object_is(o, "kubeflow.org", "Profile"))
		return node_path(o->root, "spec.resourceQuotaSpec.hard");
	return NULL;
}

static void check(struct rule_run *run, const struct object *o)
{
	const struct accelerator_extra *extra = rule_accelerators(run);
	const struct node *hard;
	bool hami;

	hard = hard_of(o);
	hami = quota_is_of_hami(extra, hard);
	FOR_EACH_CHILD(hard, entry) {
		struct quota_key key;
		struct finding *f;
		char better[256];

		if (!quota_key_is_ineffective(extra, entry->key, hami, &key))
			continue;
		f = report_object(run, o, entry,
				  "quota key `%s` limits nothing: %s",
				  entry->key, key.why);
		finding_at_key(run, f, entry);
		snprintf(better, sizeof(better), "requests.%s",
			 right_name(&key));
		if (node_get(hard, better))
			finding_severity(f, SEVERITY_WARNING);
		finding_help(run, f, "Use only `%s`, which is counted.",
			     better);
		add_fix(run, f, entry, better);
	}
}

const struct rule rule_quota_gpu_key_ineffective = {
	.name = "quota-gpu-key-ineffective",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.flags = RULE_OPT_IN_PATCH,
	.summary = "a ResourceQuota key that never limits GPUs",
	.why = "The API server accepts most of these keys, and the quota looks right, but every pod passes: the number of GPUs is not limited.",
	.remedy =
		"Use requests.<resource>, for example requests.nvidia.com/gpu.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core/pods.go; https://github.com/kubeflow/website/issues/2460; https://github.com/NVIDIA/k8s-device-plugin/issues/211; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
