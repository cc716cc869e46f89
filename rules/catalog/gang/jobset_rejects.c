/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports JobSets that JobSet's webhook rejects: pkg/webhooks/jobset_webhook.go
 * at 01078527, ValidateCreate(), after Default() has set defaults (Indexed, one
 * replica). The rule jobset-target-unknown reports names of replicatedJobs that
 * do not exist.
 */
#include "engine/rule.h"

#define JOBS  "self.spec.?replicatedJobs.orValue([])"
#define RULES "self.spec.?failurePolicy.rules.orValue([])"
#define REASONS                                                                \
	"['BackoffLimitExceeded', 'DeadlineExceeded', 'FailedIndexes', 'MaxFailedIndexesExceeded', 'PodFailurePolicy']"
#define NAME "self.metadata.?name.orValue('')"
#define JOB_NAME                                                               \
	NAME " + '-' + job.name + '-' + string(job.?replicas.orValue(1) - 1)"
#define COORDINATOR                                                            \
	"!has(self.spec.coordinator) || " JOBS ".all(job, job.name != "        \
	"self.spec.coordinator.replicatedJob || "

static const struct rejection items[] = {
	REJECTION("depends-on-first", "JobSet", NULL,
		  JOBS ".size() == 0 || " JOBS
		       "[0].?dependsOn.orValue(null) == null",
		  "'`dependsOn` is set in the first replicatedJob'"),
	REJECTION(
		"depends-on-later", "JobSet", NULL,
		JOBS
		".all(i, job, i == 0 || job.?dependsOn.orValue([]).size() == 0"
		" || job.dependsOn.all(d, !" JOBS
		".exists(k, other, k > i && other.name == d.name)))",
		"'`dependsOn` names a later replicatedJob'"),
	REJECTION("job-name-length", "JobSet", "metadata.name",
		  NAME " == '' || " JOBS ".all(job, size(" JOB_NAME ") <= 63)",
		  "'the names of its Jobs are longer than 63 characters'",
		  .absent = true),
	REJECTION(
		"pod-name-length", "JobSet", "metadata.name",
		NAME
		" == '' || " JOBS ".all(job, size(" JOB_NAME ") > 63 ||"
		" job.template.spec.?completionMode.orValue('Indexed') != 'Indexed' ||"
		" !has(job.template.spec.completions) || size(" JOB_NAME ") +"
		" size(string(job.template.spec.completions - 1)) + 7 <= 63)",
		"'the names of its pods are longer than 63 characters'",
		.absent = true),
	REJECTION("replicated-job-name", "JobSet", NULL,
		  JOBS ".all(job, job.name.matches('[$<{]|^[-a-z0-9]*$'))",
		  "'the name of a replicatedJob is not a DNS-1035 label'"),
	REJECTION("job-name", "JobSet", "metadata.name",
		  JOBS ".size() == 0 || !" NAME ".matches('^[0-9]|[.]')",
		  "'its Jobs cannot be named after `' + " NAME
		  " + '`, which is not a DNS-1035 label'",
		  .absent = true),
	REJECTION(
		"failure-reason", "JobSet", NULL,
		RULES
		".all(r, r.?onJobFailureReasons.orValue([]).all(reason, reason"
		" in " REASONS "))",
		"'`onJobFailureReasons` has `' + " RULES
		".map(r, r.?onJobFailureReasons.orValue([]).filter(reason, !(reason in " REASONS
		"))).flatten()[0] + '`, not one of BackoffLimitExceeded, DeadlineExceeded, FailedIndexes, MaxFailedIndexesExceeded and PodFailurePolicy'"),
	REJECTION("rule-name", "JobSet", NULL,
		  RULES
		  ".all(r, r.?name.orValue('') == '' || (size(r.name) <= 128 &&"
		  " r.name.matches("
		  "'^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$')))",
		  "'the name of a rule of `failurePolicy` is not valid'"),
	REJECTION(
		"rule-name-twice", "JobSet", NULL,
		RULES
		".all(i, r, r.?name.orValue('') == '' || !" RULES
		".exists(k, other, k < i && other.?name.orValue('') == r.name))",
		"'two rules of `failurePolicy` have the same name'"),
	REJECTION("coordinator-job", "JobSet", "spec.coordinator.jobIndex",
		  COORDINATOR "self.spec.coordinator.?jobIndex.orValue(0) <"
			      " job.?replicas.orValue(1))",
		  "'`coordinator.jobIndex` is ' + string("
		  "self.spec.coordinator.jobIndex) + ', beyond the Jobs of `' +"
		  " self.spec.coordinator.replicatedJob + '`'",
		  .absent = true),
	REJECTION(
		"coordinator-pod", "JobSet", "spec.coordinator.podIndex",
		COORDINATOR "!has(job.template.spec.completions) ||"
			    " self.spec.coordinator.?podIndex.orValue(0) <"
			    " job.template.spec.completions)",
		"'`coordinator.podIndex` is ' + string("
		"self.spec.coordinator.podIndex) + ', beyond the pods of a Job of `' +"
		" self.spec.coordinator.replicatedJob + '`'",
		.absent = true),
	REJECTION("coordinator-negative", "JobSet", NULL,
		  "!has(self.spec.coordinator) || (self.spec.coordinator"
		  ".?podIndex.orValue(0) >= 0 && self.spec.coordinator"
		  ".?jobIndex.orValue(0) >= 0)",
		  "'an index of `coordinator` is negative'"),
	REJECTION("coordinator-mode", "JobSet",
		  "spec.coordinator.replicatedJob",
		  COORDINATOR
		  "job.template.spec.?completionMode.orValue('Indexed') =="
		  " 'Indexed')",
		  "'the Jobs of the coordinator are not `Indexed`'",
		  .absent = true),
	{0},
};

static const struct rejections rejections = {
	.by = "the JobSet webhook",
	"jobset.x-k8s.io",
	NULL,
	items,
	.versions = "0.12",
	.component = OPERATOR_JOBSET,
};

const struct rule rule_jobset_rejects = {
	.name = "jobset-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.since = "1.0",
	.summary = "a JobSet that its webhook rejects",
	.why = "The webhook of JobSet rejects names that are too long for the Jobs or pods, a `dependsOn` that points forward, and indexes beyond the Jobs or pods.",
	.remedy = "Correct or remove the field that the message names.",
	.evidence =
		"https://github.com/kubernetes-sigs/jobset/blob/01078527ec4383c3d7289b5af3e0a788324e14ec/pkg/webhooks/jobset_webhook.go",
	.rejections = &rejections,
	.check_object = rule_check_rejections,
};
