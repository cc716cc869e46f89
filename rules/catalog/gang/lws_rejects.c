/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports LeaderWorkerSets that their webhook rejects. Source:
 * pkg/webhooks/leaderworkerset_webhook.go at 6263137f and of the releases 0.5
 * to 0.9, generalValidate() and validateUpdateSubGroupPolicy(). The CRD sets
 * the defaults.
 */
#include "engine/rule.h"

#define TEMPLATE "self.spec.leaderWorkerTemplate"
#define SIZE	 "self.spec.leaderWorkerTemplate.?size.orValue(1)"
#define GROUP	 TEMPLATE ".subGroupPolicy.subGroupSize"
#define NO_GROUP                                                               \
	"!has(" TEMPLATE ".subGroupPolicy) || !has(" GROUP ") || " GROUP " < 1"
#define DIVIDES	 "(" SIZE " % " GROUP " == 0 || (" SIZE " - 1) % " GROUP " == 0)"
#define REPLICAS "self.spec.?replicas.orValue(1)"
#define ROLLOUT	 "self.spec.rolloutStrategy.rollingUpdateConfiguration"
/* True if maxUnavailable is 0, or a percentage that is rounded down to 0. */
#define NO_UNAVAILABLE                                                         \
	"(string(" ROLLOUT ".?maxUnavailable.orValue(1)).matches('^0+%?$')"    \
	" || " ROLLOUT                                                         \
	".maxUnavailable.matches('^[0-9]{1,3}%$') && int(" ROLLOUT             \
	".maxUnavailable.replace('%', '')) * " REPLICAS " < 100)"
/* Rejects a negative number, more than 100 %, and text that is not a
 * percentage. */
#define PERCENT(id, key)                                                       \
	REJECTION(id, "LeaderWorkerSet",                                       \
		  "spec.rolloutStrategy.rollingUpdateConfiguration." key,      \
		  "string(" ROLLOUT "." key                                    \
		  ").matches('[$<{]') || (type(" ROLLOUT "." key               \
		  ") == int ? " ROLLOUT "." key " >= 0 : " ROLLOUT "." key     \
		  ".matches('^0*([0-9]{1,2}|100)%$'))",                        \
		  "'`" key "` is neither a number of groups nor 0% to 100%'")
#define SUBGROUP_KEY "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"

#define NAME "self.metadata.?name.orValue('')"

static const struct rejection items[] = {
	REJECTION("name", "LeaderWorkerSet", "metadata.name",
		  "size(" NAME ") <= 63 && " NAME
		  ".matches('^$|[$<{]|^[a-z]([-a-z0-9]*[a-z0-9])?$')",
		  "'the name is not a DNS-1035 label'"),
	REJECTION("size", "LeaderWorkerSet", "spec.leaderWorkerTemplate.size",
		  SIZE " > 0", "'`size` is not 1 or more'"),
	REJECTION("pods", "LeaderWorkerSet", "spec.replicas",
		  REPLICAS " * " SIZE " <= 2147483647",
		  "'`replicas` times `size` is above 2147483647'",
		  .absent = true),
	REJECTION("subgroup-positive", "LeaderWorkerSet",
		  "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize",
		  GROUP " >= 1", "'`subGroupSize` is not 1 or more'"),
	REJECTION("subgroup-size", "LeaderWorkerSet",
		  "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize",
		  NO_GROUP " || " DIVIDES,
		  "'`subGroupSize` ' + string(" GROUP
		  ") + ' divides neither `size` (' +"
		  " string(" SIZE ") + ') nor `size` - 1'"),
	REJECTION("subgroup-above-size", "LeaderWorkerSet",
		  "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize",
		  NO_GROUP " || !" DIVIDES " || " GROUP " <= " SIZE,
		  "'`subGroupSize` ' + string(" GROUP
		  ") + ' is above `size` ' +"
		  " string(" SIZE ")"),
	REJECTION("leader-excluded", "LeaderWorkerSet",
		  "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize",
		  NO_GROUP " || !" DIVIDES " || " TEMPLATE
			   ".subGroupPolicy.?subGroupPolicyType.orValue('') !="
			   " 'LeaderExcluded' || (" SIZE " - 1) % " GROUP
			   " == 0",
		  "'with `LeaderExcluded`, `subGroupSize` ' + string(" GROUP
		  ") + ' does not divide `size` - 1 (' +"
		  " string(" SIZE " - 1) + ')'",
		  .since = "0.6"),
	REJECTION("subgroup-annotation", "LeaderWorkerSet",
		  "metadata.annotations[" SUBGROUP_KEY "]",
		  "has(" TEMPLATE ".subGroupPolicy)",
		  "'the annotation ' + '" SUBGROUP_KEY
		  "' + ' is set without `subGroupPolicy`'"),
	PERCENT("unavailable", "maxUnavailable"),
	PERCENT("surge", "maxSurge"),
	REJECTION("partition", "LeaderWorkerSet",
		  "spec.rolloutStrategy.rollingUpdateConfiguration.partition",
		  ROLLOUT ".partition >= 0", "'`partition` is negative'",
		  .since = "0.8"),
	REJECTION("rollout", "LeaderWorkerSet",
		  "spec.rolloutStrategy.rollingUpdateConfiguration",
		  "!has(" ROLLOUT ") || " REPLICAS " == 0 || !(" NO_UNAVAILABLE
		  " && string(" ROLLOUT
		  ".?maxSurge.orValue(0)).matches('^0+%?$'))",
		  "string(" ROLLOUT
		  ".?maxUnavailable.orValue(1)).matches('^0+%?$') ?"
		  " '`maxUnavailable` and `maxSurge` are both 0' :"
		  " '`maxUnavailable` is ' + " ROLLOUT
		  ".maxUnavailable + ' of ' + string(" REPLICAS
		  ") + ' replicas, which is 0, and `maxSurge` is 0'",
		  .absent = true),
	{0},
};

static const struct rejections rejections = {
	.by = "the LeaderWorkerSet webhook",
	"leaderworkerset.x-k8s.io",
	NULL,
	items,
	.versions = "0.5 to 0.9",
	.component = OPERATOR_LWS,
};

const struct rule rule_lws_rejects = {
	.name = "lws-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary = "a LeaderWorkerSet that its webhook rejects",
	.why = "The LeaderWorkerSet webhook rejects, for example, an invalid name or size, subgroups that do not fit the group, and a rolling update that replaces no group.",
	.evidence =
		"https://github.com/kubernetes-sigs/lws/blob/6263137faff52293d0161de8eefcc250581e3cb7/pkg/webhooks/leaderworkerset_webhook.go",
	.rejections = &rejections,
	.check_object = rule_check_rejections,
};
