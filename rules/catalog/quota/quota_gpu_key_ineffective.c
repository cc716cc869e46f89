/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only "requests.<resource>" is ever charged for an extended resource. A bare
 * "nvidia.com/gpu" and "limits.nvidia.com/gpu" pass validation (any name with a
 * slash does) and stay in status.hard without ever showing in status.used.
 * HAMi's scheduler reads certain limits.* keys: silent if the quota names its
 * memory or core shares. Source: pkg/quota/v1/evaluator/core/pods.go
 * isExtendedResourceNameForQuota, podComputeUsageHelper; seen on kube-apiserver
 * with its controller-manager.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/quota/quota.h"

static const char *right_name(const struct quota_key *key)
{
	/* A prefix row has no single name to propose. */
	return strchr(key->accelerator->name, '*') ? key->resource
						   : key->accelerator->name;
}

/* Moves the value to the key that counts, unless that key has a value. */
static void repair(struct rule_run *run, struct finding *f,
		   const struct node *entry, const char *better)
{
	struct arena *arena = rule_arena(run);
	struct fix *fix;

	if (node_is_unknown(entry))
		return;
	if (node_get(entry->parent, better)) {
		fix = finding_fix(run, f, true, "remove `%s`", entry->key);
	} else {
		fix = finding_fix(run, f, true, "rename to `%s`", better);
		fix_set_key(fix, entry->parent, "", arena_strdup(arena, better),
			    edit_copy(arena, entry));
	}
	fix_replaces(fix); /* The key bounds nothing. */
	fix_remove(fix, entry);
}

/* A Kubeflow Profile creates the quota of the namespace that it creates. */
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
		finding_help(run, f, "only `%s` is charged", better);
		repair(run, f, entry, better);
	}
}

const struct rule rule_quota_gpu_key_ineffective = {
	.name = "quota-gpu-key-ineffective",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.flags = RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary = "a ResourceQuota key that never limits GPUs",
	.why = "The quota is accepted and looks right, but every pod passes: the team has no limit at all.",
	.remedy =
		"Use requests.<resource>, for example requests.nvidia.com/gpu.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core/pods.go; https://github.com/kubeflow/website/issues/2460; https://github.com/NVIDIA/k8s-device-plugin/issues/211; observed on kube-apiserver",
	.check_object = check,
};
