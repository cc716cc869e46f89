/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports annotations that are meant to keep a pod on its node but are in a
 * place or form that the autoscaler does not read. Karpenter compares
 * do-not-disrupt with "true" and, in later versions, reads a duration;
 * do-not-evict and, on nodes, do-not-consolidate belong to its alpha API and
 * were removed in v1. Cluster Autoscaler reads "true" and "false". Source:
 * kubernetes-sigs/karpenter pkg/utils/pod/scheduling.go (HasDoNotDisrupt);
 * karpenter.sh/docs/upgrading/v1-migration; kubernetes/autoscaler
 * cluster-autoscaler/simulator/drainability/rules/safetoevict.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"

static const char disrupt[] = "karpenter.sh/do-not-disrupt";
static const char *const former[] = {"karpenter.sh/do-not-evict",
				     "karpenter.sh/do-not-consolidate"};
static const char evict[] = "cluster-autoscaler.kubernetes.io/safe-to-evict";

/* True for a duration as Go's time.ParseDuration() reads it. */
static bool is_duration(const char *text)
{
	return text[0] >= '0' && text[0] <= '9' &&
	       strspn(text, "0123456789.hmsuµn") == strlen(text) &&
	       strpbrk(text, "hms");
}

static void check_former(struct rule_run *run, const struct pod *pod,
			 const char *key)
{
	const struct node *at = pod_annotation(pod, key);
	struct finding *f;
	struct fix *fix;

	if (!node_eq(at, "true") || pod_annotation(pod, disrupt))
		return;
	f = report_pod(
		run, pod, at,
		"Karpenter 1.0 and later do not read `%s` and may evict the pods",
		key);
	finding_at_key(run, f, at);
	if (!pod->template || node_get(pod->annotations, key) != at)
		return;
	fix = finding_fix(run, f, false, "rename it to `%s`", disrupt);
	fix_set_key(fix, pod->template, "metadata.annotations", disrupt,
		    edit_string(rule_arena(run), "true"));
	fix_remove(fix, at);
}

static void check_value(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_annotation(pod, disrupt);
	const char *value = node_str(at);

	if (value && strcmp(value, "true") != 0 &&
	    strcmp(value, "false") != 0 && !is_duration(value))
		report_pod(
			run, pod, at,
			"`%s: %s` is neither \"true\" nor a duration: Karpenter may evict the pods",
			disrupt, value);
	at = pod_annotation(pod, evict);
	value = node_str(at);
	if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
		report_pod(
			run, pod, at,
			"`%s: %s` is neither \"true\" nor \"false\": Cluster Autoscaler ignores it",
			evict, value);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *const keys[] = {disrupt, former[0], former[1], evict};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct node *label = pod_label(pod, keys[i]);

		if (label && !pod_annotation(pod, keys[i]))
			finding_at_key(
				run,
				report_pod(
					run, pod, label,
					"`%s` is a label: autoscalers read it from an annotation only",
					keys[i]),
				label);
	}
	for (size_t i = 0; i < ARRAY_SIZE(former); i++)
		check_former(run, pod, former[i]);
	check_value(run, pod);
}

const struct rule rule_disruption_annotation_ignored = {
	.name = "disruption-annotation-ignored",
	.category = "spot",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary =
		"an annotation or a label against eviction that no autoscaler reads",
	.why = "The pods look protected but are not: if the autoscaler consolidates nodes, it may evict them.",
	.remedy =
		"Annotate the pod template with karpenter.sh/do-not-disrupt: \"true\" and cluster-autoscaler.kubernetes.io/safe-to-evict: \"false\".",
	.evidence =
		"https://karpenter.sh/docs/concepts/disruption/#pod-level-controls; https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md",
	.check_pod = check,
};
