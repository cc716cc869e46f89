/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Experiments that Katib's webhook rejects. Source:
 * pkg/webhook/v1beta1/experiment/validator/validator.go at 33c8ff4e,
 * ValidateExperiment() and validateTrialTemplate(), after SetDefault() has set
 * parallelTrialCount to 3. Compared with v0.15.0, v0.17.0 and v0.19.0.
 */
#include "engine/rule.h"

#define EXPERIMENT "Experiment:spec"
#define PARALLEL   "self.?parallelTrialCount.orValue(3)"
#define PARAMETERS "owner.?parameters.orValue([])"
#define OTHERS	   "owner.trialTemplate.trialParameters"

static const struct rejection items[] = {
	REJECTION(
		"name", "Experiment", "metadata.name",
		"size(self.metadata.name) <= 40 &&"
		" self.metadata.name.matches('^[a-z$<{]')",
		"'the name does not begin with a lower-case letter, or is longer than 40"
		" characters'",
		.since = "0.18"),
	REJECTION("trials", EXPERIMENT, "maxTrialCount",
		  "self.maxTrialCount > 0",
		  "'`maxTrialCount` is not positive'"),
	REJECTION("parallel", EXPERIMENT, "parallelTrialCount",
		  "self.parallelTrialCount > 0",
		  "'`parallelTrialCount` is not positive'"),
	REJECTION("failed", EXPERIMENT, "maxFailedTrialCount",
		  "self.maxFailedTrialCount >= 0",
		  "'`maxFailedTrialCount` is negative'"),
	REJECTION(
		"parallel-above", EXPERIMENT, "maxTrialCount",
		"!has(self.maxTrialCount) || self.maxTrialCount <= 0 || " PARALLEL
		" <= self.maxTrialCount",
		"'`parallelTrialCount` is ' + string(" PARALLEL
		") + (has(self.parallelTrialCount) ? '' : ' by default') +"
		" ', above `maxTrialCount` ' + string(self.maxTrialCount)"),
	REJECTION(
		"failed-above", EXPERIMENT, "maxFailedTrialCount",
		"!has(self.maxFailedTrialCount) || !has(self.maxTrialCount) ||"
		" self.maxTrialCount <= 0 ||"
		" self.maxFailedTrialCount <= self.maxTrialCount",
		"'`maxFailedTrialCount` is ' +"
		" string(self.maxFailedTrialCount) + ', above"
		" `maxTrialCount` ' + string(self.maxTrialCount)"),
	REJECTION("parameter-twice", EXPERIMENT, "name",
		  "!has(self.name) || " OTHERS
		  ".filter(p, p.name == self.name).size() == 1",
		  "'two parameters of the trial have the name `' + self.name"
		  " + '`'",
		  .each = "trialTemplate.trialParameters"),
	REJECTION("reference", EXPERIMENT, "reference",
		  "!has(self.reference) || " PARAMETERS ".size() == 0 ||"
		  " self.reference.matches('[$<{]') || " PARAMETERS
		  ".exists(p, p.name == self.reference)",
		  "'the trial refers to `' + self.reference + '`, which is not"
		  " in `parameters`'",
		  .each = "trialTemplate.trialParameters"),
	{0},
};

static const struct rejections rejections = {
	.by = "Katib",
	.group = "kubeflow.org",
	.version = "v1beta1",
	.items = items,
	.versions = "0.15 to 0.19",
	.component = OPERATOR_KATIB,
};

const struct rule rule_katib_rejects = {
	.name = "katib-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary = "an Experiment that Katib rejects",
	.why = "The webhook of Katib rejects an invalid name, numbers of trials that are out of range or contradict each other, and parameters of the trial that are defined twice or refer to a parameter that does not exist.",
	.evidence =
		"https://github.com/kubeflow/katib/blob/33c8ff4e5/pkg/webhook/v1beta1/experiment/validator/validator.go",
	.rejections = &rejections,
	.check_object = rule_check_rejections,
};
