/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports LeaderWorkerSets that their webhook rejects:
 * pkg/webhooks/leaderworkerset_webhook.go at 6263137f, generalValidate() and
 * validateUpdateSubGroupPolicy(); the CRD sets the defaults.
 */
#include "engine/rule.h"

#define TEMPLATE "self.spec.leaderWorkerTemplate"
#define SIZE	 "self.spec.leaderWorkerTemplate.?size.orValue(1)"
#define GROUP	 TEMPLATE ".subGroupPolicy.subGroupSize"
#define NO_GROUP                                                               \
	"!has(" TEMPLATE ".subGroupPolicy) || !has(" GROUP ") || " GROUP " < 1"
#define DIVIDES "(" SIZE " % " GROUP " == 0 || (" SIZE " - 1) % " GROUP " == 0)"
#define ROLLOUT "self.spec.rolloutStrategy.rollingUpdateConfiguration"

#define NAME "self.metadata.?name.orValue('')"

static const struct rejection items[] = {
	REJECTION("name", "LeaderWorkerSet", "metadata.name",
		  "size(" NAME ") <= 63 && " NAME
		  ".matches('^$|[$<{]|^[a-z]([-a-z0-9]*[a-z0-9])?$')",
		  "'the name is not a DNS-1035 label'"),
	REJECTION("size", "LeaderWorkerSet", "spec.leaderWorkerTemplate.size",
		  SIZE " > 0", "'`size` is not 1 or more'"),
	REJECTION("pods", "LeaderWorkerSet", "spec.replicas",
		  "self.spec.?replicas.orValue(1) * " SIZE " <= 2147483647",
		  "'`replicas` times `size` is above 2147483647'",
		  .absent = true),
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
		  " string(" SIZE " - 1) + ')'"),
	REJECTION(
		"rollout", "LeaderWorkerSet",
		"spec.rolloutStrategy.rollingUpdateConfiguration",
		"!has(" ROLLOUT
		") || self.spec.?replicas.orValue(1) == 0 || !(string(" ROLLOUT
		".?maxUnavailable.orValue(1)) in ['0', '0%'] && string(" ROLLOUT
		".?maxSurge.orValue(0)) in ['0', '0%'])",
		"'`maxUnavailable` and `maxSurge` are both 0'", .absent = true),
	{0},
};

static const struct rejections rejections = {
	.by = "the LeaderWorkerSet webhook",
	"leaderworkerset.x-k8s.io",
	NULL,
	items,
	.versions = "0.9",
	.component = OPERATOR_LWS,
};

const struct rule rule_lws_rejects = {
	.name = "lws-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.since = "1.0",
	.summary = "a LeaderWorkerSet that its webhook rejects",
	.why = "The LeaderWorkerSet webhook rejects an invalid name or size, subgroups that do not fit the group, and a rolling update whose maxUnavailable and maxSurge are both 0.",
	.remedy = "Correct or remove the field that the message names.",
	.evidence =
		"https://github.com/kubernetes-sigs/lws/blob/6263137faff52293d0161de8eefcc250581e3cb7/pkg/webhooks/leaderworkerset_webhook.go",
	.rejections = &rejections,
	.check_object = rule_check_rejections,
};
