/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that kube-apiserver v1.37.2 rejects:
 * pkg/apis/{apps,autoscaling,batch,core,policy,resource,scheduling}/validation.
 * Each rejection was observed on kube-apiserver 1.37.2. The rule checks rows
 * without a CEL expression in C, because nearly every file has their fields,
 * and compiling CEL for each would cost more.
 */
#include "engine/rule.h"

#define JOB	"batch/Job:spec batch/CronJob:spec.jobTemplate.spec"
#define INDEXED "self.?completionMode.orValue('') == 'Indexed'"
#define CLAIM                                                                  \
	"resource.k8s.io/ResourceClaim:spec.devices"                           \
	" resource.k8s.io/ResourceClaimTemplate:spec.spec.devices"
#define REQUESTS "self.?requests.orValue([])"
#define LABEL	 "matches('[$<{]|^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')"
/* True if the text is the name of a request, or REQUEST/ALTERNATIVE. */
#define IS_REQUEST(name, requests)                                             \
	requests ".exists(r, r.name == " name                                  \
		 " || r.?firstAvailable.orValue([]).exists(s,"                 \
		 " r.name + '/' + s.name == " name "))"
#define NOT_REQUESTED                                                          \
	"self.requests.filter(n, !(" IS_REQUEST(                               \
		"n",                                                           \
		"owner.?requests.orValue([])") ")).map(n, '`' + n + '`')[0]"
#define EXACTLY "self.?exactly.orValue(self)"
/* v1alpha1 of Kubernetes 1.35 has other fields. */
#define IS_FIRST_ALPHA "object.apiVersion == 'scheduling.k8s.io/v1alpha1' || "
#define POD_GROUP      "scheduling.k8s.io/PodGroup:spec"
#define WORKLOAD       "scheduling.k8s.io/Workload:spec"
#define TEMPLATES      "self.?podGroupTemplates.orValue([])"
#define ONE_POLICY                                                             \
	IS_FIRST_ALPHA "['basic', 'gang'].filter(k,"                           \
		       " self.?schedulingPolicy.orValue({})[?k].orValue(null)" \
		       " != null).size() == 1"
#define NOT_ONE_POLICY                                                         \
	"'`schedulingPolicy` does not have exactly one of `basic` and `gang`'"
#define HAS_MINIMUM                                                            \
	IS_FIRST_ALPHA "self.?schedulingPolicy.gang.orValue(null) == null ||"  \
		       " self.schedulingPolicy.gang.?minCount.orValue(0) >= 1"
#define NO_MINIMUM "'`gang.minCount` is not positive'"

static const struct rejection items[] = {
	REJECTION("hpa-replicas", NULL, NULL, NULL,
		  "'`maxReplicas` is below `minReplicas`'"),
	REJECTION("pdb-both", NULL, NULL, NULL,
		  "'`minAvailable` and `maxUnavailable` are both set'"),
	REJECTION("selector", NULL, NULL, NULL,
		  "'`selector` does not match the labels of the template'"),
	REJECTION("selector-empty", NULL, NULL, NULL, "'`selector` is empty'"),
	REJECTION("recreate", NULL, NULL, NULL,
		  "'`rollingUpdate` is set with strategy Recreate'"),
	REJECTION("no-rollout", NULL, NULL, NULL,
		  "'`maxSurge` and `maxUnavailable` are both 0'"),
	REJECTION("schedule", NULL, NULL, NULL,
		  "'`schedule` does not have the five fields of cron'"),
	REJECTION("host-port-twice", NULL, NULL, NULL,
		  "'two ports of the pod have the same `hostPort`'"),
	REJECTION("host-network-port", NULL, NULL, NULL,
		  "'`hostPort` differs from `containerPort` in a pod with"
		  " hostNetwork'"),

	/* Pods. */
	REJECTION("no-containers", NULL, NULL, NULL, "'`containers` is empty'"),
	REJECTION(
		"host-users", NULL, "spec.hostUsers",
		"self.spec.?hostUsers.orValue(true) || !['hostNetwork', 'hostPID',"
		" 'hostIPC'].exists(k, self.spec[?k].orValue(false))",
		"'`hostUsers` is false and the pod uses a namespace of the host'"),

	REJECTION("process-namespace", NULL, "spec.shareProcessNamespace",
		  "!self.spec.?shareProcessNamespace.orValue(false) ||"
		  " !self.spec.?hostPID.orValue(false)",
		  "'`shareProcessNamespace` and `hostPID` are both true'"),
	REJECTION(
		"host-alias", NULL, "spec.hostAliases",
		"self.spec.?hostAliases.orValue([]).all(a, a.?ip.orValue('').matches("
		"'[$<{:]|^[A-Z_]+$|^([0-9]+[.]){3}[0-9]+$'))",
		"'the `ip` of a host alias is not an IP address'"),
	/* A live Pod may have them: kubectl debug adds them later. */
	REJECTION(
		"ephemeral-containers", NULL, "spec.ephemeralContainers",
		"self.spec.?ephemeralContainers.orValue([]).size() == 0 ? true :"
		" self.?metadata.uid.hasValue()",
		"'`ephemeralContainers` is set'"),

	/* Jobs. */
	REJECTION("indexed-completions", JOB, "completionMode",
		  "!(" INDEXED ") || has(self.completions) ||"
		  " !has(self.parallelism)",
		  "'`completionMode` is Indexed, `parallelism` is set and"
		  " `completions` is not set'"),
	REJECTION("not-indexed-backoff", JOB, "backoffLimitPerIndex",
		  "!has(self.backoffLimitPerIndex) || " INDEXED,
		  "'`backoffLimitPerIndex` is set and `completionMode` is not"
		  " Indexed'"),
	REJECTION("not-indexed-failures", JOB, "maxFailedIndexes",
		  "!has(self.maxFailedIndexes) || " INDEXED,
		  "'`maxFailedIndexes` is set and `completionMode` is not"
		  " Indexed'"),
	REJECTION(
		"not-indexed-success", JOB, "successPolicy",
		"!has(self.successPolicy) || " INDEXED,
		"'`successPolicy` is set and `completionMode` is not Indexed'"),
	REJECTION("failures-of-no-index", JOB, "maxFailedIndexes",
		  "!has(self.maxFailedIndexes) ||"
		  " has(self.backoffLimitPerIndex)",
		  "'`maxFailedIndexes` is set without `backoffLimitPerIndex`'"),
	REJECTION("managed-by", JOB, "managedBy",
		  "self.managedBy.matches('[$<{]|^[a-z0-9]([-a-z0-9.]*"
		  "[a-z0-9])?/[A-Za-z0-9/._~%!&()*+,;=:-]+$')",
		  "'`managedBy` is not a name with a domain'"),
	REJECTION(
		"job-selector", JOB, "selector",
		"!has(self.selector) || self.?manualSelector.orValue(false) ||"
		" self.selector.?matchLabels.orValue({}).exists(k, k in"
		" ['controller-uid', 'batch.kubernetes.io/controller-uid'])",
		"'`selector` is set without `manualSelector`'"),
	REJECTION("failure-exit-zero", JOB, "onExitCodes.values",
		  "self.onExitCodes.?operator.orValue('') != 'In' ||"
		  " !(0 in self.onExitCodes.?values.orValue([]))",
		  "'a rule of `podFailurePolicy` has exit code 0'",
		  .each = "podFailurePolicy.rules"),
	REJECTION(
		"failure-container", JOB, "onExitCodes.containerName",
		"!self.?onExitCodes.containerName.hasValue() ||"
		" ['containers', 'initContainers'].exists(l,"
		" owner.template.spec[?l].orValue([]).exists(c, c.name =="
		" self.onExitCodes.containerName))",
		"'a rule of `podFailurePolicy` names no container of the pod'",
		.each = "podFailurePolicy.rules"),
	REJECTION("failure-index", JOB, "action",
		  "self.action != 'FailIndex' ||"
		  " has(owner.backoffLimitPerIndex)",
		  "'the action of a rule is FailIndex without"
		  " `backoffLimitPerIndex`'",
		  .each = "podFailurePolicy.rules", .absent = true),
	REJECTION("gang-minimum", JOB,
		  "scheduling.schedulingPolicy.gang.minCount",
		  "!self.?scheduling.?schedulingPolicy.?gang.?minCount"
		  ".hasValue() ||"
		  " self.scheduling.schedulingPolicy.gang.minCount <="
		  " self.?parallelism.orValue(1)",
		  "'`gang.minCount` is ' + string("
		  "self.scheduling.schedulingPolicy.gang.minCount) + ', above"
		  " `parallelism` (' + string(self.?parallelism.orValue(1))"
		  " + ')'",
		  .gate = "WorkloadWithJob", .gate_on = true),

	/* Claims for devices. */
	REJECTION("request-twice", CLAIM, "requests",
		  REQUESTS ".all(i, a, !" REQUESTS
			   ".exists(k, b, k < i && a.name == b.name))",
		  "'two requests have the same name'"),
	REJECTION("request-name", CLAIM, "name", "self.name." LABEL,
		  "'the name of a request is not a DNS label'",
		  .each = "requests"),
	REJECTION("request-both", CLAIM, "firstAvailable",
		  "!has(self.firstAvailable) || (!has(self.exactly) &&"
		  " !has(self.deviceClassName))",
		  "'a request has `firstAvailable` and also `exactly` or"
		  " `deviceClassName`'",
		  .each = "requests"),
	REJECTION("count-of-all", CLAIM, NULL,
		  EXACTLY ".?allocationMode.orValue('') != 'All' || " EXACTLY
			  ".?count.orValue(0) == 0",
		  "'`count` is set with allocationMode All'",
		  .each = "requests"),
	REJECTION("toleration-value", CLAIM, NULL,
		  EXACTLY ".?tolerations.orValue([]).all(t, t.?operator"
			  ".orValue('') != 'Exists' || t.?value.orValue('') =="
			  " '')",
		  "'a toleration with the operator Exists has a value'",
		  .each = "requests"),
	REJECTION("negative-count", CLAIM, NULL,
		  EXACTLY ".?count.orValue(0) >= 0", "'`count` is negative'",
		  .each = "requests"),
	REJECTION("constraint-request", CLAIM, "requests",
		  "self.requests.all(n, " IS_REQUEST(
			  "n", "owner.?requests.orValue([])") ")",
		  "'a constraint names ' + " NOT_REQUESTED
		  " + ', a request that the claim does not have'",
		  .each = "constraints"),
	REJECTION("config-request", CLAIM, "requests",
		  "self.requests.all(n, " IS_REQUEST(
			  "n", "owner.?requests.orValue([])") ")",
		  "'`config` names ' + " NOT_REQUESTED
		  " + ', a request that the claim does not have'",
		  .each = "config"),
	REJECTION("attribute", CLAIM, "matchAttribute",
		  "self.matchAttribute.matches('[$<{]|^[^/]+/[^/]+$')",
		  "'`matchAttribute` is not a name with a domain'",
		  .each = "constraints"),

	/* Workloads and PodGroups of gang scheduling. */
	REJECTION("workload-templates", WORKLOAD, "podGroupTemplates",
		  IS_FIRST_ALPHA "has(self.podGroupTemplates) ||"
				 " has(self.compositePodGroupTemplates)",
		  "'`podGroupTemplates` is not set'", .absent = true),
	REJECTION("workload-template-count", WORKLOAD, "podGroupTemplates",
		  TEMPLATES ".size() <= 8",
		  "'`podGroupTemplates` has more than 8 items'"),
	REJECTION("workload-template-twice", WORKLOAD, "podGroupTemplates",
		  TEMPLATES ".all(i, a, !" TEMPLATES
			    ".exists(k, b, k < i && a.name == b.name))",
		  "'two templates have the same name'"),
	REJECTION("workload-policy", WORKLOAD, "schedulingPolicy", ONE_POLICY,
		  NOT_ONE_POLICY, .each = "podGroupTemplates", .absent = true),
	REJECTION("workload-minimum", WORKLOAD,
		  "schedulingPolicy.gang.minCount", HAS_MINIMUM, NO_MINIMUM,
		  .each = "podGroupTemplates", .absent = true),
	REJECTION("pod-group-policy", POD_GROUP, "schedulingPolicy", ONE_POLICY,
		  NOT_ONE_POLICY, .absent = true),
	REJECTION("pod-group-minimum", POD_GROUP,
		  "schedulingPolicy.gang.minCount", HAS_MINIMUM, NO_MINIMUM,
		  .absent = true),
	{0},
};

const struct rejections server_rejections = {
	.by = "the API server",
	.items = items,
	.versions = "1.37",
	.groups = true,
};
