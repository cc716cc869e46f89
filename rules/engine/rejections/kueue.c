/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that Kueue rejects, at ff69552e: pkg/webhooks,
 * pkg/controller/jobframework/validation.go and tas_validation.go,
 * pkg/controller/jobs/{job,pod,rayjob,raycluster,rayservice}, and the CEL rules
 * of its CRDs (apis/kueue/v1beta2). Topology requests are validated by default
 * since 0.14. Not checked: pod sets formed by two templates of one object, and
 * checks that depend on the cluster.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"

#define K "kueue.x-k8s.io/"
#define JOBS                                                                     \
	"batch/Job /Pod apps/Deployment apps/StatefulSet jobset.x-k8s.io/JobSet" \
	" leaderworkerset.x-k8s.io/LeaderWorkerSet ray.io/RayJob"                \
	" ray.io/RayCluster ray.io/RayService kubeflow.org/PyTorchJob"           \
	" kubeflow.org/TFJob kubeflow.org/MPIJob kubeflow.org/XGBoostJob"        \
	" kubeflow.org/PaddleJob kubeflow.org/JAXJob"                            \
	" trainer.kubeflow.org/TrainJob"
#define GATED JOBS " sparkoperator.k8s.io/SparkApplication"
#define GATES                                                                    \
	"(" NOTE("admission-gated-by") ".orValue('').trim() == '' ? [] : " NOTE( \
		"admission-gated-by") ".orValue('').split(','))"
#define GATE                                                                   \
	"matches('[$<{]|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*" \
	"[a-z0-9])?)*/[A-Za-z0-9/._~%!&()*+,;=:-]+$')"
#define GROUP_NAME                                                             \
	"(" NOTE("pod-group-name") ".orValue('') != '' ? " NOTE(               \
		"pod-group-name") ".orValue('') : " LABEL("pod-group-name") ".orValue(''))"
#define CLUSTERS                                                               \
	"ray.io/RayCluster:spec ray.io/RayJob:spec.rayClusterSpec"             \
	" ray.io/RayService:spec.rayClusterConfig"
#define QUEUES	      "ClusterQueue:spec Cohort:spec"
#define LABEL(key)    "object.metadata.?labels[?'" K key "']"
#define NOTE(key)     "object.metadata.?annotations[?'" K key "']"
#define OF_POD(key)   "self.?metadata.annotations[?'" K "podset-" key "']"
#define HAS_POD(key)  OF_POD(key) ".hasValue()"
#define HAS_NOTE(key) NOTE(key) ".hasValue()"
#define AT(key)	      "metadata.annotations[" K "podset-" key "]"
#define SUBDOMAIN                                                              \
	"matches('[$<{]|^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*" \
	"[a-z0-9])?)*$')"
#define LABEL_KEY                                                              \
	"matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_" \
	".]{0,61}[A-Za-z0-9])?$')"
#define QUEUED LABEL("queue-name") ".orValue('') != ''"
#define PODS                                                                   \
	"(has(object.spec.completions) && object.spec.completions <"           \
	" object.spec.?parallelism.orValue(1) ? object.spec.completions :"     \
	" object.spec.?parallelism.orValue(1))"
#define JOBSETS "jobset.x-k8s.io/JobSet:spec"
#define WORKERS "self.?workerGroupSpecs.orValue([]).size()"
/* Number of pod sets that Kueue makes of a JobSet or of Ray's kinds. */
#define POD_SETS                                                               \
	"(has(self.replicatedJobs) ? self.replicatedJobs.size() : " WORKERS    \
	" + 1 + (object.kind == 'RayJob' && object.spec.?submissionMode"       \
	".orValue('K8sJobMode') == 'K8sJobMode' ? 1 : 0))"
#define HAS_SETS(over, most)                                                   \
	"!(" POD_SETS " > " over " && " POD_SETS " <= " most ") || !(" QUEUED  \
	")"
#define SETS_TEXT(most)                                                        \
	"'Kueue makes ' + string(" POD_SETS                                    \
	") + ' pod sets of the object, but its Workload may have " most "'"
#define GROUPS	"self.?resourceGroups.orValue([])"
#define FLAVORS GROUPS ".all(g, g.?flavors.orValue([]).all(f, "
/* flavor-resources reports another number of resources. */
#define IN_ORDER                                                               \
	"f.?resources.orValue([]).size() != g.?coveredResources.orValue([])"   \
	".size() || f.?resources.orValue([]).all(i, r, r.name =="              \
	" g.coveredResources[i])"
#define RESOURCES FLAVORS "f.?resources.orValue([]).all(r, "
#define Q(value)  "quantity(string(" value "))"
#define HAS_PARENT                                                             \
	"['cohort', 'cohortName', 'parent', 'parentName'].exists(k,"           \
	" self[?k].orValue('') != '')"
#define NOT_NEGATIVE(key)                                                      \
	"(!has(r." key ") || " Q("r." key) ".compareTo(quantity('0')) >= 0)"
#define NOT_NEGATIVES                                                          \
	NOT_NEGATIVE("nominalQuota")                                           \
	" && " NOT_NEGATIVE("borrowingLimit") " && " NOT_NEGATIVE(             \
		"lendingLimit")
#define LENDS_ITS_OWN                                                          \
	"!has(r.lendingLimit) || " Q("r.lendingLimit") ".compareTo(" Q(        \
		"r.nominalQuota") ") <= 0"
/* Names the first quota for which the condition is true. */
#define FIRST_QUOTA(condition)                                                                       \
	GROUPS ".map(g, g.?flavors.orValue([]).map(f, f.?resources.orValue([]).filter(r, " condition \
	       ").map(r, '`' + r.name + '` in flavor `' + f.name + '`'))).flatten(2)[0]"
#define TWICE(list, key)                                                       \
	list ".all(i, a, !" list ".exists(k, b, k < i && b" key " == a" key "))"
#define TAINTS	    "self.?nodeTaints.orValue([])"
#define TOLERATIONS "self.?tolerations.orValue([])"
#define LABEL_VALUE                                                            \
	"matches('^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$')"
#define SELECTOR "self.?namespaceSelector"
#define EFFECTS	 "['NoSchedule', 'PreferNoSchedule', 'NoExecute']"

/* Adds a fix that sets shutdownAfterJobFinishes, unless the job has a deletion
 * strategy. If no ttlSecondsAfterFinished is set, the fix makes it ten minutes,
 * so that logs can be read. */
static void shut_down(struct rule_run *run, struct finding *f,
		      const struct node *part)
{
	struct fix *fix;

	if (!node_is_unset(node_get(part, "deletionStrategy")) ||
	    !node_is_unset(node_get(part, "deletionPolicy")))
		return;
	fix = finding_fix(run, f, false,
			  "set `shutdownAfterJobFinishes: true`");
	fix_set(fix, part, "shutdownAfterJobFinishes",
		edit_bool(rule_arena(run), true));
	if (node_is_unset(node_get(part, "ttlSecondsAfterFinished")))
		fix_set(fix, part, "ttlSecondsAfterFinished",
			edit_int(rule_arena(run), 600));
}

static const struct rejection items[] = {
	/* Topology requests of pods. */
	REJECTION(
		"topology-twice", NULL, AT("preferred-topology"),
		"!" HAS_POD("required-topology") " || !" HAS_POD(
			"preferred-topology"),
		"'`podset-required-topology` and `podset-preferred-topology` are"
		" both set'"),
	REJECTION(
		"topology-unconstrained", NULL, AT("unconstrained-topology"),
		"!" HAS_POD("unconstrained-topology") " || !(" HAS_POD(
			"required-topology") " || " HAS_POD("preferred-topology") ")",
		"'`podset-unconstrained-topology` is set with another"
		" topology'"),
	REJECTION(
		"unconstrained", NULL, AT("unconstrained-topology"),
		OF_POD("unconstrained-topology") ".orValue('true').matches('^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$')",
		"'`podset-unconstrained-topology` is not a boolean'"),
	REJECTION("required-topology", NULL, AT("required-topology"),
		  OF_POD("required-topology") ".orValue('a')." LABEL_KEY,
		  "'`podset-required-topology` is not the name of a label'"),
	REJECTION("preferred-topology", NULL, AT("preferred-topology"),
		  OF_POD("preferred-topology") ".orValue('a')." LABEL_KEY,
		  "'`podset-preferred-topology` is not the name of a label'"),
	REJECTION(
		"slice-topology", NULL, AT("slice-required-topology"),
		OF_POD("slice-required-topology") ".orValue('a')." LABEL_KEY,
		"'`podset-slice-required-topology` is not the name of a label'"),
	REJECTION("slice-size-missing", NULL, AT("slice-required-topology"),
		  "!" HAS_POD("slice-required-topology") " || " HAS_POD(
			  "slice-size"),
		  "'`podset-slice-required-topology` is set without"
		  " `podset-slice-size`'"),
	REJECTION("slice-topology-missing", NULL, AT("slice-size"),
		  "!" HAS_POD("slice-size") " || " HAS_POD(
			  "slice-required-topology"),
		  "'`podset-slice-size` is set without"
		  " `podset-slice-required-topology`'"),
	REJECTION(
		"slice-size", NULL, AT("slice-size"),
		OF_POD("slice-size") ".orValue('1').matches('^[+]?0*[1-9][0-9]{0,9}$')",
		"'`podset-slice-size` is `' + " OF_POD(
			"slice-size") ".orValue('') + '`, not a positive integer'"),
	REJECTION(
		"slice-above-pods", NULL, NULL, NULL,
		"'`podset-slice-size` is above the number of pods of the pod set'"),
	REJECTION("group-pod-sets", NULL, NULL, NULL,
		  "'`podset-group-name` is set in one or more than two pod sets"
		  " of an object'"),
	REJECTION("group-replicas", NULL, NULL, NULL,
		  "'both pod sets of a group have more than one pod'"),
	REJECTION("group-topologies", NULL, NULL, NULL,
		  "'the pod sets of a group request different topologies'"),
	REJECTION(
		"elastic-topology", NULL, "metadata.annotations",
		"object.kind != 'Job' || " NOTE("elastic-job") ".orValue('') != 'true' || !(" HAS_POD(
			"required-topology") " || " HAS_POD("preferred-topology") ")",
		"'an elastic job requests a required or preferred topology'",
		.since = "0.18"),
	REJECTION(
		"group-number", NULL, AT("group-name"),
		"!" OF_POD(
			"group-name") ".orValue('a').matches('^[0-9]{1,19}$')",
		"'`podset-group-name` is a number'"),
	REJECTION(
		"group-slices", NULL, AT("group-name"),
		"!" HAS_POD("group-name") " || (!" HAS_POD(
			"slice-size") " && !" HAS_POD("slice-required-topology") ")",
		"'`podset-group-name` and an annotation for slices are both set'"),
	REJECTION(
		"group-topology", NULL, AT("group-name"),
		"!" HAS_POD("group-name") " || " HAS_POD(
			"required-topology") " || " HAS_POD("preferred-topology"),
		"'`podset-group-name` is set without"
		" `podset-required-topology` or `podset-preferred-topology`'"),

	/* Jobs of all integrations. */
	REJECTION("queue-name", JOBS, "metadata.labels[" K "queue-name]",
		  LABEL("queue-name") ".orValue('a')." SUBDOMAIN,
		  "'the label `queue-name` is not a DNS subdomain'"),
	REJECTION("gated-by", GATED,
		  "metadata.annotations[" K "admission-gated-by]",
		  GATES ".all(i, g, g.trim().size() <= 63 && g.trim()." GATE
			" && !" GATES ".exists(k, h, k < i && h.trim() =="
			" g.trim()))",
		  "'`admission-gated-by` is not a list of names with a domain,"
		  " or lists one of them twice'",
		  .since = "0.19"),
	REJECTION("prebuilt-annotation", JOBS,
		  "metadata.annotations[" K "prebuilt-workload-name]",
		  NOTE("prebuilt-workload-name") ".orValue('a')." SUBDOMAIN,
		  "'`prebuilt-workload-name` is not a DNS subdomain'",
		  .since = "0.18"),
	REJECTION("prebuilt-workload", JOBS,
		  "metadata.labels[" K "prebuilt-workload-name]",
		  LABEL("prebuilt-workload-name") ".orValue('a')." SUBDOMAIN,
		  "'`prebuilt-workload-name` is not a DNS subdomain'"),
	REJECTION(
		"max-exec-time", JOBS,
		"metadata.labels[" K "max-exec-time-seconds]",
		LABEL("max-exec-time-seconds") ".orValue('1').matches('[$<{]|^[+]?0*[1-9][0-9]{0,18}$')",
		"'`max-exec-time-seconds` is `' + " LABEL(
			"max-exec-time-seconds") ".orValue('') + '`, not a positive integer'"),
	REJECTION(
		"min-parallelism", "batch/Job",
		"metadata.annotations[" K "job-min-parallelism]",
		NOTE("job-min-parallelism") ".orValue('1').matches('[$<{]|^[+]?0*[1-9][0-9]{0,9}$')",
		"'`job-min-parallelism` is `' + " NOTE(
			"job-min-parallelism") ".orValue('') + '`, not a positive integer'"),
	REJECTION(
		"min-parallelism-pods", "batch/Job",
		"metadata.annotations[" K "job-min-parallelism]",
		"!" NOTE("job-min-parallelism") ".orValue('').matches('^[1-9][0-9]{0,8}$') || int(" NOTE(
			"job-min-parallelism") ".orValue('0')) < " PODS,
		"'`job-min-parallelism` is ' + " NOTE(
			"job-min-parallelism") ".orValue('') + ', not less"
					       " than the ' + string(" PODS
					       ") + ' pods at once'"),
	REJECTION("min-parallelism-elastic", "batch/Job",
		  "metadata.annotations[" K "job-min-parallelism]",
		  "!" HAS_NOTE("job-min-parallelism") " || " NOTE(
			  "elastic-job") ".orValue('') != 'true'",
		  "'`job-min-parallelism` is set for an elastic job'",
		  .since = "0.18"),
	REJECTION(
		"equal-completions", "batch/Job",
		"metadata.annotations[" K "job-completions-equal-parallelism]",
		NOTE("job-completions-equal-parallelism") ".orValue('true').matches('[$<{]|^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$')",
		"'`job-completions-equal-parallelism` is not a boolean'"),
	REJECTION(
		"equal-completions-mode", "batch/Job",
		"metadata.annotations[" K "job-completions-equal-parallelism]",
		NOTE("job-completions-equal-parallelism") ".orValue('') != 'true' || object.spec.?completionMode"
							  ".orValue('NonIndexed') == 'Indexed'",
		"'`job-completions-equal-parallelism` is set and the Job is not"
		" Indexed'"),
	REJECTION(
		"equal-completions-number", "batch/Job",
		"metadata.annotations[" K "job-completions-equal-parallelism]",
		NOTE("job-completions-equal-parallelism") ".orValue('') != 'true' ||"
							  " object.spec.?completions.orValue(1) =="
							  " object.spec.?parallelism.orValue(1)",
		"'`job-completions-equal-parallelism` is set and `completions`"
		" differs from `parallelism`'"),
	REJECTION("elastic-kind",
		  "/Pod apps/Deployment apps/StatefulSet jobset.x-k8s.io/JobSet"
		  " leaderworkerset.x-k8s.io/LeaderWorkerSet"
		  " kubeflow.org/PyTorchJob kubeflow.org/TFJob"
		  " kubeflow.org/MPIJob kubeflow.org/XGBoostJob"
		  " kubeflow.org/PaddleJob kubeflow.org/JAXJob"
		  " trainer.kubeflow.org/TrainJob",
		  "metadata.annotations[" K "elastic-job]",
		  NOTE("elastic-job") ".orValue('') != 'true'",
		  "'a ' + object.kind + ' cannot be an elastic job'",
		  .since = "0.18"),

	REJECTION("lws-replicas", "leaderworkerset.x-k8s.io/LeaderWorkerSet",
		  "spec.replicas", "self.spec.?replicas.orValue(1) <= 1000000",
		  "'`replicas` is above 1000000'", .since = "0.19"),

	/* Ray jobs in a queue. */
	REJECTION("ray-selector", "ray.io/RayJob:spec", "clusterSelector",
		  "!(" QUEUED ") ||"
		  " self.?clusterSelector.orValue({}).size() == 0 ||"
		  " self.?rayClusterSpec.orValue({}).size() == 0",
		  "'`clusterSelector` and `rayClusterSpec` are both set'"),
	REJECTION("ray-shutdown", "ray.io/RayJob:spec",
		  "shutdownAfterJobFinishes",
		  "!(" QUEUED ") ||"
		  " self.?clusterSelector.orValue({}).size() > 0 ||"
		  " self.?shutdownAfterJobFinishes.orValue(false)",
		  "'`shutdownAfterJobFinishes` is not true'", .absent = true,
		  .repair = shut_down),
	REJECTION("ray-autoscaling", CLUSTERS, "enableInTreeAutoscaling",
		  "!(" QUEUED ") ||"
		  " !self.?enableInTreeAutoscaling.orValue(false) || " NOTE(
			  "elastic-job") ".orValue('') == 'true'",
		  "'`enableInTreeAutoscaling` is set without the annotation"
		  " `elastic-job: \"true\"`'"),
	REJECTION("ray-head-group", CLUSTERS, "groupName",
		  "!(" QUEUED ") || self.?groupName.orValue('') != 'head'",
		  "'a worker group is named `head`'",
		  .each = "workerGroupSpecs"),

	REJECTION("ray-groups", CLUSTERS, "workerGroupSpecs",
		  "!(" QUEUED ") || self.?workerGroupSpecs.orValue([]).size()"
		  " <= 17",
		  "'the cluster has more than 17 worker groups'"),
	REJECTION("pod-sets", JOBSETS " ray.io/RayJob:spec.rayClusterSpec",
		  NULL, HAS_SETS("18", "1000") " || " WORKERS " > 17",
		  SETS_TEXT("18"), .effect = "Kueue never starts it"),
	REJECTION("pod-sets-over-10", JOBSETS " " CLUSTERS, NULL,
		  HAS_SETS("10", "18"), SETS_TEXT("10"), .until = "0.18",
		  .effect = "Kueue 0.18 and earlier never start it"),
	REJECTION("pod-sets-over-8", JOBSETS " " CLUSTERS, NULL,
		  HAS_SETS("8", "10"), SETS_TEXT("8"), .until = "0.17",
		  .effect = "Kueue 0.17 and earlier never start it"),

	/* Pods of a group. */
	REJECTION("pod-group-annotation", "/Pod",
		  "metadata.annotations[" K "pod-group-name]",
		  NOTE("pod-group-name") ".orValue('a')." SUBDOMAIN,
		  "'`pod-group-name` is not a DNS subdomain'", .since = "0.18"),
	REJECTION(
		"pod-group-workload", "/Pod",
		"metadata.annotations[" K "prebuilt-workload-name]",
		GROUP_NAME " == '' || " NOTE(
			"prebuilt-workload-name") ".orValue('') in ['', " GROUP_NAME
						  "]",
		"'`prebuilt-workload-name` and `pod-group-name` differ'",
		.since = "0.18"),
	REJECTION(
		"pod-group-of-annotation", "/Pod",
		"metadata.annotations[" K "pod-group-name]",
		GROUP_NAME
		" == '' || " HAS_NOTE("prebuilt-workload-name") " || " LABEL(
			"prebuilt-workload-name") ".orValue('') in ['', " GROUP_NAME
						  "]",
		"'`prebuilt-workload-name` and `pod-group-name` differ'",
		.since = "0.18"),
	REJECTION(
		"pod-group-total", "/Pod",
		"metadata.labels[" K "pod-group-name]",
		LABEL("pod-group-name") ".orValue('') == '' || " HAS_NOTE(
			"pod-group-total-count"),
		"'the pod has the label `pod-group-name` but not the annotation"
		" `pod-group-total-count`'"),
	REJECTION(
		"pod-group-name", "/Pod",
		"metadata.annotations[" K "pod-group-total-count]",
		"!" HAS_NOTE("pod-group-total-count") " || " LABEL(
			"pod-group-name") ".orValue('') != '' || " HAS_NOTE("pod-group-name"),
		"'the pod has the annotation `pod-group-total-count` but not"
		" the label `pod-group-name`'"),
	REJECTION(
		"pod-group-count", "/Pod",
		"metadata.annotations[" K "pod-group-total-count]",
		NOTE("pod-group-total-count") ".orValue('1').matches('[$<{]|^[+]?0*[1-9][0-9]{0,18}$')",
		"'`pod-group-total-count` is `' + " NOTE(
			"pod-group-total-count") ".orValue('') + '`, not a positive integer'"),
	REJECTION("pod-group-subdomain", "/Pod",
		  "metadata.labels[" K "pod-group-name]",
		  LABEL("pod-group-name") ".orValue('a')." SUBDOMAIN,
		  "'`pod-group-name` is not a DNS subdomain'"),
	REJECTION(
		"pod-group-prebuilt", "/Pod",
		"metadata.labels[" K "prebuilt-workload-name]",
		LABEL("pod-group-name") ".orValue('') == '' || " LABEL(
			"prebuilt-workload-name") ".orValue('') in ['', " LABEL("pod-group-name") ".orValue('')]",
		"'`prebuilt-workload-name` and `pod-group-name` differ'"),
	REJECTION("managed-label", "/Pod", "metadata.labels[" K "managed]",
		  LABEL("managed") ".orValue('true') == 'true'",
		  "'the label `managed` is not \"true\"'"),

	/* Quotas. */
	REJECTION("resource-name", QUEUES, "resourceGroups",
		  GROUPS
		  ".all(g, g.?coveredResources.orValue([]).all(r, r." LABEL_KEY
		  "))",
		  "'the name of a resource is not a name such as"
		  " `example.com/gpu`'"),
	REJECTION("flavors", QUEUES, "resourceGroups",
		  GROUPS ".map(g, g.?flavors.orValue([]).size()).sum() <= 256",
		  "'the queue has more than 256 flavors'"),
	REJECTION(
		"resources", QUEUES, "resourceGroups",
		GROUPS
		".map(g, g.?coveredResources.orValue([]).size()).sum() <= 256",
		"'the queue covers more than 256 resources'"),
	REJECTION(
		"quotas", QUEUES, "resourceGroups",
		GROUPS
		".all(g, g.?flavors.orValue([]).map(f, f.?resources.orValue([]).size()).sum() <= 512)",
		"'a resource group has more than 512 quotas'"),
	REJECTION("selector-label", "ClusterQueue:spec", "namespaceSelector",
		  SELECTOR ".matchLabels.orValue({}).all(k, k." LABEL_KEY
			   " && " SELECTOR
			   ".matchLabels.orValue({})[k]." LABEL_VALUE ")",
		  "'`namespaceSelector` has a key or value that no label can"
		  " have'"),
	REJECTION(
		"selector-values", "ClusterQueue:spec", "namespaceSelector",
		SELECTOR
		".matchExpressions.orValue([]).all(e, e.operator in ['In', 'NotIn'] ? e.?values.orValue([]).size() > 0 : e.operator in ['Exists', 'DoesNotExist'] && e.?values.orValue([]).size() == 0)",
		"'an expression of `namespaceSelector` has an unknown operator,"
		" or values that its operator does not take'"),
	REJECTION("resource-twice", QUEUES, NULL,
		  GROUPS ".all(i, g, g.?coveredResources.orValue([]).all(j, r,"
			 " !" GROUPS ".exists(k, h, h.?coveredResources"
			 ".orValue([]).exists(l, s, s == r && (k < i || (k == i"
			 " && l < j))))))",
		  "'two resource groups cover the same resource'"),
	REJECTION("flavor-twice", QUEUES, NULL,
		  GROUPS
		  ".all(i, g, g.?flavors.orValue([]).all(j, f, !" GROUPS
		  ".exists(k, h, h.?flavors.orValue([]).exists(l, e,"
		  " e.name == f.name && (k < i || (k == i && l < j))))))",
		  "'flavor `' + " GROUPS ".map(g, g.?flavors.orValue([])"
		  ".map(f, f.name)).flatten().filter(n, " GROUPS
		  ".map(g, g.?flavors.orValue([]).map(f, f.name)).flatten()"
		  ".filter(o, o == n).size() > 1)[0] + '` is listed twice'"),
	REJECTION("flavor-resources", QUEUES, "resourceGroups",
		  FLAVORS "f.?resources.orValue([]).size() =="
			  " g.?coveredResources.orValue([]).size()))",
		  "'a flavor and `coveredResources` differ in the number of"
		  " resources'"),
	REJECTION("flavor-order", QUEUES, "resourceGroups",
		  FLAVORS IN_ORDER "))",
		  "'flavor `' + " GROUPS ".map(g, g.?flavors.orValue([])"
		  ".filter(f, !(" IN_ORDER "))).flatten()[0].name + '` does not"
		  " list the resources in the order of `coveredResources`'"),
	REJECTION("negative-quota", QUEUES, NULL, RESOURCES NOT_NEGATIVES ")))",
		  "'a quota of ' + " FIRST_QUOTA("!(" NOT_NEGATIVES
						 ")") " + ' is negative'"),
	REJECTION(
		"borrowing-alone", QUEUES, NULL,
		RESOURCES "!has(r.borrowingLimit)))) || " HAS_PARENT,
		"'`borrowingLimit` of ' + " FIRST_QUOTA(
			"has(r.borrowingLimit)") " + ' is set without a cohort'"),
	REJECTION(
		"lending-alone", QUEUES, NULL,
		RESOURCES "!has(r.lendingLimit)))) || " HAS_PARENT,
		"'`lendingLimit` of ' + " FIRST_QUOTA(
			"has(r.lendingLimit)") " + ' is set without a cohort'"),
	REJECTION("lending-above-quota", "ClusterQueue:spec", NULL,
		  RESOURCES LENDS_ITS_OWN ")))",
		  "'`lendingLimit` of ' + " FIRST_QUOTA(
			  "!(" LENDS_ITS_OWN
			  ")") " + ' is above its `nominalQuota`'"),
	REJECTION("preemption", "ClusterQueue:spec", "preemption",
		  "self.?preemption.borrowWithinCohort.policy.orValue('Never')"
		  " == 'Never' || self.preemption.?reclaimWithinCohort"
		  ".orValue('Never') != 'Never'",
		  "'`borrowWithinCohort` preempts and `reclaimWithinCohort` is"
		  " Never'"),
	REJECTION("fungibility", "ClusterQueue:spec", "flavorFungibility",
		  "!self.?flavorFungibility.preference.hasValue() ||"
		  " (self.flavorFungibility.?whenCanBorrow.orValue('Borrow') =="
		  " 'TryNextFlavor' && self.flavorFungibility.?whenCanPreempt"
		  ".orValue('TryNextFlavor') == 'TryNextFlavor')",
		  "'`preference` is set and `whenCanBorrow` or"
		  " `whenCanPreempt` is not TryNextFlavor'",
		  .since = "0.15"),
	REJECTION("check-flavor", "ClusterQueue:spec",
		  "admissionChecksStrategy",
		  "self.?admissionChecksStrategy.admissionChecks.orValue([])"
		  ".all(c, c.?onFlavors.orValue([]).all(n, " GROUPS
		  ".exists(g, g.?flavors.orValue([]).exists(f, f.name =="
		  " n))))",
		  "'`onFlavors` names `' +"
		  " self.admissionChecksStrategy.admissionChecks.map(c,"
		  " c.?onFlavors.orValue([]).filter(n, !" GROUPS
		  ".exists(g, g.?flavors.orValue([]).exists(f, f.name =="
		  " n)))).flatten()[0] + '`, a flavor that the queue does not"
		  " have'",
		  .since = "0.17.3"),
	REJECTION(
		"weight", QUEUES, "fairSharing.weight",
		Q("self.?fairSharing.weight.orValue(1)") ".compareTo(quantity('0')) >= 0",
		"'`fairSharing.weight` is negative'"),
	REJECTION("flavor-labels", "ResourceFlavor:spec", "topologyName",
		  "self.?topologyName.orValue('') == '' ||"
		  " self.?nodeLabels.orValue({}).size() > 0",
		  "'`topologyName` is set without `nodeLabels`'"),
	REJECTION("node-label", "ResourceFlavor:spec", "nodeLabels",
		  "self.?nodeLabels.orValue({}).all(k, k." LABEL_KEY
		  " && self.nodeLabels[k]." LABEL_VALUE ")",
		  "'`nodeLabels` has a key or value that no label can have'"),
	REJECTION("taint-twice", "ResourceFlavor:spec", "nodeTaints",
		  TAINTS ".all(i, a, !" TAINTS
			 ".exists(k, b, k < i && a.key == b.key && a.effect =="
			 " b.effect))",
		  "'two taints have the same key and effect'"),
	REJECTION(
		"taint-key", "ResourceFlavor:spec", "nodeTaints",
		TAINTS ".all(t, t.?key.orValue('')." LABEL_KEY ")",
		"'the key of a taint is not a name such as `example.com/gpu`'"),
	REJECTION("taint-value", "ResourceFlavor:spec", "nodeTaints",
		  TAINTS ".all(t, t.?value.orValue('')." LABEL_VALUE ")",
		  "'the value of a taint is not the value of a label'"),
	REJECTION(
		"taint-effect", "ResourceFlavor:spec", "nodeTaints",
		TAINTS ".all(t, t.effect in " EFFECTS ")",
		"'the effect of a taint is not NoSchedule, PreferNoSchedule or"
		" NoExecute'"),
	REJECTION(
		"toleration", "ResourceFlavor:spec", "tolerations",
		TOLERATIONS ".all(t, t.?operator.orValue('Equal') in"
			    " ['Equal', 'Exists'] && (t.?key.orValue('') !="
			    " '' ? t.key." LABEL_KEY
			    " : t.?operator.orValue('') == 'Exists') &&"
			    " (!has(t.tolerationSeconds) ||"
			    " t.?effect.orValue('') == 'NoExecute') &&"
			    " (t.?operator.orValue('') != 'Exists' ||"
			    " t.?value.orValue('') == '') &&"
			    " t.?effect.orValue('NoExecute') in " EFFECTS ")",
		"'a toleration has an unknown operator or effect, a key that no"
		" taint can have, neither a key nor the operator Exists, both a"
		" value and the operator Exists, or `tolerationSeconds` without"
		" the effect NoExecute'"),
	REJECTION("level-twice", "Topology:spec", "levels",
		  TWICE("self.?levels.orValue([])", ".nodeLabel"),
		  "'two levels have the same `nodeLabel`'"),
	REJECTION("hostname-level", "Topology:spec", "levels",
		  "self.?levels.orValue([]).all(i, l, i =="
		  " self.levels.size() - 1 || l.nodeLabel !="
		  " 'kubernetes.io/hostname')",
		  "'`kubernetes.io/hostname` is not the lowest level'"),
	{0},
};

bool kueue_has_pod_sets(const struct object *object, bool grouped)
{
	static const char *const kinds[] = {
		"JobSet",     "LeaderWorkerSet", "RayCluster", "RayJob",
		"RayService", "MPIJob",		 "Job",	       "PyTorchJob",
		"TFJob",      "XGBoostJob",	 "PaddleJob",  "JAXJob"};
	size_t n = grouped ? 6 : ARRAY_SIZE(kinds);

	if (text_eq(object->group, "batch.volcano.sh"))
		return false;
	for (size_t i = 0; i < n; i++)
		if (text_eq(object->kind, kinds[i]))
			return true;
	return false;
}

static bool rejects_object(const struct object *object)
{
	return kueue_has_pod_sets(object, false);
}

const struct rejections kueue_rejections = {
	.by = "Kueue",
	.group = "kueue.x-k8s.io",
	.groups = true,
	.items = items,
	.versions = "0.17 to 0.19",
	.component = OPERATOR_KUEUE,
	.rejects_object = rejects_object,
};
