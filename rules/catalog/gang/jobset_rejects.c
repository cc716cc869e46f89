/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports JobSets that JobSet's webhook, or a rule of its CRD
 * (depends-on-order), rejects. Source: pkg/webhooks/jobset_webhook.go
 * at 01078527 and of the releases 0.6 to 0.12, ValidateCreate(), after
 * Default() has set defaults (Indexed, one replica). The rule
 * jobset-target-unknown reports names of replicatedJobs that do not exist.
 */
#include "engine/rule.h"

#define JOBS  "self.spec.?replicatedJobs.orValue([])"
#define RULES "self.spec.?failurePolicy.rules.orValue([])"
#define REASONS                                                                \
	"['BackoffLimitExceeded', 'DeadlineExceeded', 'FailedIndexes', 'MaxFailedIndexesExceeded', 'PodFailurePolicy']"
#define RULE_NAME_VALID                                                        \
	"r.?name.orValue('') == '' || (size(r.name) <= 128 && r.name.matches(" \
	"'^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'))"
#define NAME "self.metadata.?name.orValue('')"
#define JOB_NAME                                                               \
	NAME " + '-' + job.name + '-' + string(job.?replicas.orValue(1) - 1)"
#define COORDINATOR                                                            \
	"!has(self.spec.coordinator) || " JOBS ".all(job, job.name != "        \
	"self.spec.coordinator.replicatedJob || "

/* True for a text that is not a DNS-1035 label and has no placeholder. */
#define NO_LABEL(text)                                                         \
	"(!" text ".matches('[$<{]') && "                                      \
	"!" text ".matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$'))"
#define SUBDOMAIN      "self.spec.?network.?subdomain.orValue(" NAME ")"
#define CLAIM_POLICIES "self.spec.?volumeClaimPolicies.orValue([])"
#define CLAIMS	       CLAIM_POLICIES ".map(p, p.?templates.orValue([])).flatten()"
#define CLAIM_NAME     "claim.?metadata.?name.orValue('')"
#define POD	       "job.template.spec.template.spec"

#define MOUNTED                                                                \
	JOBS ".exists(job, (" POD ".?containers.orValue([]) + " POD            \
	     ".?initContainers.orValue([])).exists(c,"                         \
	     " c.?volumeMounts.orValue([]).exists(m, m.name == " CLAIM_NAME    \
	     ")))"

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
	/* A rule of the CRD (api/jobset/v1alpha2/jobset_types.go). */
	REJECTION(
		"depends-on-order", "JobSet:spec",
		"startupPolicy.startupPolicyOrder",
		"self.?startupPolicy.startupPolicyOrder.orValue('') != 'InOrder' ||"
		" !self.?replicatedJobs.orValue([]).exists(job,"
		" job.?dependsOn.orValue(null) != null)",
		"'`startupPolicyOrder` is InOrder, and a replicatedJob has"
		" `dependsOn`'"),
	REJECTION("job-name-length", "JobSet", "metadata.name",
		  NAME " == '' || " JOBS ".all(job, size(" JOB_NAME ") <= 63)",
		  "'the names of the Jobs are longer than 63 characters'",
		  .absent = true),
	REJECTION(
		"pod-name-length", "JobSet", "metadata.name",
		NAME
		" == '' || " JOBS ".all(job, size(" JOB_NAME ") > 63 ||"
		" job.template.spec.?completionMode.orValue('Indexed') != 'Indexed' ||"
		" !has(job.template.spec.completions) || size(" JOB_NAME ") +"
		" size(string(job.template.spec.completions - 1)) + 7 <= 63)",
		"'the names of the pods are longer than 63 characters'",
		.absent = true),
	REJECTION("replicated-job-name", "JobSet", NULL,
		  JOBS ".all(job, job.name.matches('[$<{]|^[-a-z0-9]*$'))",
		  "'the name of a replicatedJob is not a DNS-1035 label'"),
	REJECTION("job-name", "JobSet", "metadata.name",
		  JOBS ".size() == 0 || !" NAME ".matches('^[0-9]|[.]')",
		  "'the Jobs cannot be named after `' + " NAME
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
		  RULES ".all(r, " RULE_NAME_VALID ")",
		  "'`failurePolicy` has the rule name `' + " RULES ".filter(r,"
		  " !(" RULE_NAME_VALID "))[0].name + '`, which does not begin"
		  " with a letter, ends in `,` or `:`, has other characters"
		  " than letters, digits, `_`, `,` and `:`, or is longer than"
		  " 128'"),
	REJECTION(
		"rule-name-twice", "JobSet", NULL,
		RULES
		".all(i, r, r.?name.orValue('') == '' || !" RULES
		".exists(k, other, k < i && other.?name.orValue('') == r.name))",
		"'two rules of `failurePolicy` have the same name'"),
	REJECTION(
		"subdomain", "JobSet", "spec.network.subdomain",
		"self.spec.network.subdomain == '' || !" NO_LABEL(
			"self.spec.network.subdomain"),
		"'`network.subdomain` is not a DNS-1035 label of at most 63 characters'"),
	REJECTION(
		"managed-by", "JobSet", "spec.managedBy",
		"self.spec.managedBy.matches('[$<{]') ||"
		" (size(self.spec.managedBy) <= 63 &&"
		" self.spec.managedBy.matches("
		"'^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[^ ?#]+$'))",
		"'`managedBy` is not a path with a domain (acme.example/name) of at most 63 characters'"),
	REJECTION(
		"group-name", "JobSet", NULL,
		JOBS ".all(job, !has(job.groupName) || !" NO_LABEL(
			"job.groupName") ")",
		"'the `groupName` of a replicatedJob is not a DNS-1035 label of at most 63 characters'"),
	REJECTION(
		"pods-of-jobs", "JobSet", NULL,
		JOBS
		".all(job, job.?replicas.orValue(1) *"
		" job.template.spec.?parallelism.orValue(1) <= 2147483647)",
		"'replicas times parallelism of a replicatedJob is over 2147483647'"),
	REJECTION("claim-templates", "JobSet:spec", "templates",
		  "has(self.templates)",
		  "'an item of `volumeClaimPolicies` has no `templates`'",
		  .each = "volumeClaimPolicies", .absent = true,
		  .since = "0.11"),
	REJECTION(
		"claim-name", "JobSet", NULL,
		CLAIMS ".all(claim, " CLAIM_NAME ".matches('[$<{]|^[a-z0-9]"
		       "([-a-z0-9.]*[a-z0-9])?$'))",
		"'the name of a template of `volumeClaimPolicies` is not a DNS-1123 subdomain'"),
	REJECTION(
		"claim-name-length", "JobSet", "metadata.name",
		CLAIMS ".all(claim, size(" CLAIM_NAME ") + size(" NAME
		       ") < 63)",
		"'the names of the PersistentVolumeClaims of `volumeClaimPolicies` are longer than 63 characters'",
		.absent = true),
	REJECTION(
		"claim-name-twice", "JobSet", NULL,
		CLAIMS ".all(i, claim, !" CLAIMS ".exists(k, other, k < i && "
		       "other.?metadata.?name.orValue('') == " CLAIM_NAME "))",
		"'two templates of `volumeClaimPolicies` have the same name'"),
	REJECTION(
		"claim-volume", "JobSet", NULL,
		CLAIMS ".all(claim, " JOBS ".all(job, " POD
		       ".?volumes.orValue([]).all(v, v.name != " CLAIM_NAME
		       ")))",
		"'a volume of a replicatedJob has the name of a template of `volumeClaimPolicies`'"),
	REJECTION("claim-unmounted", "JobSet", "spec.volumeClaimPolicies",
		  CLAIMS ".all(claim, " MOUNTED ")",
		  "'no container mounts the claim `' + " CLAIMS
		  ".filter(claim, !" MOUNTED ")[0].?metadata.?name.orValue('')"
		  " + '` of `volumeClaimPolicies`'"),
	REJECTION("restart-in-place", "JobSet",
		  "spec.failurePolicy.restartStrategy",
		  "self.spec.failurePolicy.restartStrategy != 'InPlaceRestart'",
		  "'`restartStrategy` is `InPlaceRestart`'",
		  .gate = "InPlaceRestart"),
	REJECTION("restart-job", "JobSet", NULL,
		  RULES ".all(r, !(r.?action.orValue('') in ['RestartJob',"
			" 'RestartJobAndIgnoreMaxRestarts']))",
		  "'`failurePolicy` restarts single Jobs'",
		  .gate = "RestartJob"),
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
		  .absent = true, .since = "0.8"),
	REJECTION("coordinator-completions", "JobSet",
		  "spec.coordinator.replicatedJob",
		  COORDINATOR "has(job.template.spec.completions))",
		  "'the Jobs of the coordinator have no `completions`'",
		  .absent = true, .since = "0.8"),
	REJECTION(
		"coordinator-label", "JobSet", "spec.coordinator",
		NAME
		" == '' || size(" NAME
		" + self.spec.coordinator.replicatedJob +"
		" string(self.spec.coordinator.?jobIndex.orValue(0)) +"
		" string(self.spec.coordinator.?podIndex.orValue(0)) + " SUBDOMAIN
		") + 4 <= 63",
		"'the address of the coordinator, which is the value of a label, is longer than 63 characters'",
		.absent = true, .since = "0.11"),
	{0},
};

static const struct rejections rejections = {
	.by = "JobSet",
	"jobset.x-k8s.io",
	NULL,
	items,
	.versions = "0.6 to 0.12",
	.component = OPERATOR_JOBSET,
};

const struct rule rule_jobset_rejects = {
	.name = "jobset-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary = "a JobSet that its webhook or its definition rejects",
	.why = "JobSet rejects, for example, invalid or too long names, a `dependsOn` that points forward, invalid rules of `failurePolicy`, and a `coordinator` that is not one of the pods.",
	.evidence =
		"https://github.com/kubernetes-sigs/jobset/blob/01078527ec4383c3d7289b5af3e0a788324e14ec/pkg/webhooks/jobset_webhook.go",
	.rejections = &rejections,
	.check_object = rule_check_rejections,
};
