/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that KubeRay rejects: validation.go in
 * ray-operator/controllers/ray/utils at feeaf72f, compared with v1.5.1, v1.6.2
 * and v1.7.0. The CRD's schema checks enums and required fields. UserMode is
 * the name that InteractiveMode had in v1.2.
 */
#include "engine/rule.h"

#define CLUSTER                                                                \
	"RayCluster:spec RayJob:spec.rayClusterSpec "                          \
	"RayService:spec.rayClusterConfig "                                    \
	"RayCronJob:spec.jobTemplate.rayClusterSpec"
#define JOB    "RayJob:spec RayCronJob:spec.jobTemplate"
#define GROUPS .each = "workerGroupSpecs"
#define RULES  .each = "deletionStrategy.deletionRules"
#define NAME   "self.metadata.name"
/* A RayCronJob's annotations are not copied to its jobs. */
#define ANNOTATION(name)                                                       \
	"(object.kind == 'RayCronJob' ? '' :"                                  \
	" object.metadata.?annotations[?'" name "'].orValue(''))"
#define PARAM(name)                                                            \
	"self.headGroupSpec.?rayStartParams[?'" name "'].orValue('')"
#define SCALES(of) of ".?enableInTreeAutoscaling.orValue(false)"
#define V2(of)	   of ".?autoscalerOptions.version.orValue('') == 'v2'"
#define HEAD_ENV(of)                                                           \
	of ".?headGroupSpec.template.spec.containers[?0].env.orValue([])"
#define HEAD_ENV_PATH(key)                                                     \
	"headGroupSpec.template.spec.containers[0].env[" key "]"
#define HEAD_SETS(key) HEAD_ENV("self") ".exists(e, e.name == '" key "')"
#define V2_BY_ENV(of)                                                          \
	HEAD_ENV(of)                                                           \
	".exists(e, e.name == 'RAY_enable_autoscaler_v2' &&"                   \
	" e.?value.orValue('') in ['1', 'true'])"
#define GCS "has(self.gcsFaultToleranceOptions)"
#define ROCKSDB                                                                \
	"self.?gcsFaultToleranceOptions.backend.orValue('redis') == 'rocksdb'"
#define SHUTDOWN "self.?shutdownAfterJobFinishes.orValue(false)"
#define SELECTS	 "self.?clusterSelector.orValue({}).size() > 0"
#define MODE	 "self.?submissionMode.orValue('')"
#define BACKOFF	 "self.?backoffLimit.orValue(0)"
#define ON(event)                                                              \
	"self.?deletionStrategy." event ".policy.orValue('DeleteSelf')"
#define LEGACY                                                                 \
	"(has(self.deletionStrategy.onSuccess) ||"                             \
	" has(self.deletionStrategy.onFailure))"
#define STRATEGY  "has(self.deletionStrategy)"
#define RULE_LIST "owner.deletionStrategy.deletionRules"
#define CONDITION(of)                                                          \
	of ".condition.?jobStatus.orValue('') + '/' +" of                      \
	   ".condition.?jobDeploymentStatus.orValue('')"
#define LATER(first, then)                                                     \
	"!(self.policy == '" then "' && " RULE_LIST                            \
	".exists(r, r.policy == '" first                                       \
	"' && " CONDITION("r") " == " CONDITION(                               \
		"self") " && r.condition.?ttlSeconds.orValue(0) >"             \
			" self.condition.?ttlSeconds.orValue(0)))"
#define OPTIONS "self.upgradeStrategy.?clusterUpgradeOptions"
#define INCREMENTAL                                                            \
	"self.?upgradeStrategy.type.orValue('') !="                            \
	" 'NewClusterWithIncrementalUpgrade' || "
#define RAY_BEFORE(of, minor)                                                  \
	"!" of                                                                 \
	".?rayVersion.orValue('').matches('^v?([3-9]|[0-9]{2,}|2[.](" minor    \
	"))([.]|$)')"
#define COLLECTOR	  "self.historyServerOptions.collectorOptions"
#define COLLECTOR_ENV	  COLLECTOR ".?env.orValue([])"
#define POLICY_MODE	  "self.networkPolicy.?mode.orValue('DenyAll')"
#define OPEN_RULES(which) "(" POLICY_MODE " == 'DenyAll" which "')"
#define DNS_LABEL	  "matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')"

#define LABELS(of)                                                               \
	of ".?labels.orValue({}).all(k, size(k) <= 316 && k.matches('^([a-z0-9]" \
	   "([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}"           \
	   "[A-Za-z0-9])?$') && " of ".labels[k].matches("                       \
	   "'^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$'))"

/* True unless a group sets its resources both in rayStartParams and in
 * `resources`: the head group (of = "self.headGroupSpec") or a worker group (of
 * = "self"). */
#define GROUP_RESOURCES(of)                                                    \
	of ".?resources.orValue({}).size() == 0 || ['num-cpus', 'num-gpus',"   \
	   " 'memory', 'resources'].all(k, " of                                \
	   ".?rayStartParams[?k].orValue('') == '')"
#define NEVER(of)                                                              \
	of ".?template.spec.restartPolicy.orValue('') in ['', 'Never']"

static void shut_down(struct rule_run *run, struct finding *f,
		      const struct node *part)
{
	fix_set(finding_fix(run, f, false,
			    "set `shutdownAfterJobFinishes: true`"),
		part, "shutdownAfterJobFinishes",
		edit_bool(rule_arena(run), true));
}

static const struct rejection items[] = {
	REJECTION("runtime-env", NULL, NULL, NULL,
		  "'`runtimeEnvYAML` is not a YAML mapping'"),
	REJECTION("cluster-name-length", "RayCluster", "metadata.name",
		  "size(" NAME ") <= 53",
		  "'`metadata.name` has over 53 characters'"),
	REJECTION("name-length", "RayJob RayService", "metadata.name",
		  "size(" NAME ") <= 47",
		  "'`metadata.name` has over 47 characters'"),
	REJECTION("cron-name-length", "RayCronJob", "metadata.name",
		  "size(" NAME ") <= 36",
		  "'`metadata.name` has over 36 characters'", .since = "1.7"),
	REJECTION("name", "RayCluster RayJob RayService", "metadata.name",
		  NAME ".matches('^$|[$<{]') || " NAME "." DNS_LABEL,
		  "'`metadata.name` is not a DNS-1035 label'"),

	/* Clusters. */
	REJECTION("head-containers", CLUSTER,
		  "headGroupSpec.template.spec.containers",
		  "self.headGroupSpec.template.spec.containers.size() > 0",
		  "'the head has no container'"),
	REJECTION("worker-containers", CLUSTER, "template.spec.containers",
		  "self.template.spec.containers.size() > 0",
		  "'the worker group has no container'", GROUPS),
	REJECTION(
		"head-resources-twice", CLUSTER, "headGroupSpec.resources",
		GROUP_RESOURCES("self.headGroupSpec"),
		"'the head has resources in `rayStartParams` and in `resources`'"),
	REJECTION(
		"resources-twice", CLUSTER, "resources",
		GROUP_RESOURCES("self"),
		"'the group has resources in `rayStartParams` and in `resources`'",
		GROUPS),
	REJECTION("head-labels", CLUSTER, "headGroupSpec.rayStartParams.labels",
		  "!has(self.headGroupSpec.?rayStartParams.orValue({}).labels)",
		  "'`rayStartParams` has `labels`'"),
	REJECTION("labels", CLUSTER, "rayStartParams.labels",
		  "!has(self.?rayStartParams.orValue({}).labels)",
		  "'`rayStartParams` has `labels`'", GROUPS),
	REJECTION("head-label-syntax", CLUSTER, "headGroupSpec.labels",
		  LABELS("self.headGroupSpec"),
		  "'`labels` has a text that no label can have'"),
	REJECTION("label-syntax", CLUSTER, "labels", LABELS("self"),
		  "'`labels` has a text that no label can have'", GROUPS),
	REJECTION("negative-replicas", CLUSTER, NULL,
		  "self.?minReplicas.orValue(0) >= 0 &&"
		  " self.?maxReplicas.orValue(0) >= 0",
		  "'`minReplicas` or `maxReplicas` is negative'", GROUPS,
		  .since = "1.6"),
	REJECTION("replicas-order", CLUSTER, "minReplicas",
		  "!has(self.minReplicas) || !has(self.maxReplicas) ||"
		  " self.minReplicas <= self.maxReplicas",
		  "'`minReplicas` is ' + string(self.minReplicas) +"
		  " ', above `maxReplicas`, ' + string(self.maxReplicas)",
		  GROUPS, .since = "1.6"),
	REJECTION("group-idle-timeout", CLUSTER, "idleTimeoutSeconds",
		  "self.?idleTimeoutSeconds.orValue(0) >= 0",
		  "'`idleTimeoutSeconds` is negative'", GROUPS, .since = "1.6"),
	REJECTION(
		"group-idle-timeout-v1", CLUSTER, "idleTimeoutSeconds",
		"!has(self.idleTimeoutSeconds) || self.idleTimeoutSeconds < 0 || " V2(
			"owner") " || " V2_BY_ENV("owner"),
		"'`idleTimeoutSeconds` is set without autoscaler v2'", GROUPS,
		.since = "1.6"),
	REJECTION("priority-version", CLUSTER, "priority",
		  "self.?priority.orValue(0) == 0 || !" RAY_BEFORE(
			  "owner", "5[6-9]|[6-9][0-9]|[0-9]{3,}"),
		  "'`priority` is set without a rayVersion of 2.56.0 or later'",
		  GROUPS, .since = "1.7"),
	REJECTION("priority-v1", CLUSTER, "priority",
		  "self.?priority.orValue(0) == 0 || " V2(
			  "owner") " || " V2_BY_ENV("owner"),
		  "'`priority` is set without autoscaler v2'", GROUPS,
		  .since = "1.7"),
	REJECTION("suspend-autoscaling", CLUSTER, "suspend",
		  "!" SCALES("owner") " || !self.?suspend.orValue(false)",
		  "'a worker group is suspended while the cluster scales'",
		  GROUPS),
	REJECTION(
		"head-restart", CLUSTER,
		"headGroupSpec.template.spec.restartPolicy",
		"!" SCALES("self") " || !(" V2("self") ") || " NEVER(
			"self.headGroupSpec"),
		"'`restartPolicy` of the head is not Never with autoscaler v2'",
		.absent = true),
	REJECTION(
		"worker-restart", CLUSTER, "template.spec.restartPolicy",
		"!" SCALES("owner") " || !(" V2("owner") ") || " NEVER("self"),
		"'`restartPolicy` is not Never with autoscaler v2'", GROUPS),
	REJECTION("autoscaler-v2-off", CLUSTER,
		  HEAD_ENV_PATH("RAY_enable_autoscaler_v2") ".value",
		  SCALES("self") " || !" V2_BY_ENV("self"),
		  "'RAY_enable_autoscaler_v2 is set without"
		  " `enableInTreeAutoscaling: true`'"),
	REJECTION(
		"autoscaler-version-twice", CLUSTER,
		"autoscalerOptions.version",
		"!" SCALES(
			"self") " || !has(self.autoscalerOptions) ||"
				" !has(self.autoscalerOptions.version) || !" HEAD_SETS(
					"RAY_enable_autoscaler_v2"),
		"'`autoscalerOptions.version` and RAY_enable_autoscaler_v2 are both set'"),
	REJECTION("idle-timeout", CLUSTER,
		  "autoscalerOptions.idleTimeoutSeconds",
		  "self.?autoscalerOptions.idleTimeoutSeconds.orValue(0) >= 0",
		  "'`idleTimeoutSeconds` is negative'", .since = "1.6"),
	REJECTION(
		"autoscaler-command", CLUSTER,
		"autoscalerOptions.env[KUBERAY_GEN_AUTOSCALER_START_CMD]",
		"!self.?autoscalerOptions.env.orValue([])"
		".exists(e, e.name == 'KUBERAY_GEN_AUTOSCALER_START_CMD')",
		"'`autoscalerOptions.env` sets KUBERAY_GEN_AUTOSCALER_START_CMD'",
		.since = "1.7"),

	/* Fault tolerance of the head node. */
	REJECTION(
		"ft-twice", CLUSTER, "gcsFaultToleranceOptions",
		"!" GCS " || " ANNOTATION("ray.io/ft-enabled") " == ''",
		"'the annotation `ray.io/ft-enabled` and `gcsFaultToleranceOptions` are both set'"),
	REJECTION(
		"redis-address", CLUSTER, HEAD_ENV_PATH("RAY_REDIS_ADDRESS"),
		GCS
		" || " ANNOTATION("ray.io/ft-enabled") ".lowerAscii() == 'true' || !" HEAD_SETS(
			"RAY_REDIS_ADDRESS"),
		"'the head sets RAY_REDIS_ADDRESS without"
		" `gcsFaultToleranceOptions`'"),
	REJECTION("redis-address-twice", CLUSTER,
		  HEAD_ENV_PATH("RAY_REDIS_ADDRESS"),
		  "!" GCS " || !" HEAD_SETS("RAY_REDIS_ADDRESS"),
		  "'the head sets RAY_REDIS_ADDRESS and"
		  " `gcsFaultToleranceOptions`'"),
	REJECTION(
		"redis-password", CLUSTER, HEAD_ENV_PATH("REDIS_PASSWORD"),
		"!" GCS " || !" HEAD_SETS("REDIS_PASSWORD"),
		"'the head sets REDIS_PASSWORD and `gcsFaultToleranceOptions`'"),
	REJECTION("redis-password-parameter", CLUSTER,
		  "headGroupSpec.rayStartParams[redis-password]",
		  "!" GCS " || " PARAM("redis-password") " == ''",
		  "'`redis-password` is set beside `gcsFaultToleranceOptions`'",
		  .any_text = true),
	REJECTION("redis-username", CLUSTER, HEAD_ENV_PATH("REDIS_USERNAME"),
		  "!" HEAD_SETS("REDIS_USERNAME"),
		  "'the head sets REDIS_USERNAME instead of `redisUsername`'"),
	REJECTION("redis-username-parameter", CLUSTER,
		  "headGroupSpec.rayStartParams.redis-username",
		  PARAM("redis-username") " == ''",
		  "'`redis-username` is set instead of `redisUsername`'",
		  .any_text = true),
	REJECTION("storage-namespace", CLUSTER, "gcsFaultToleranceOptions",
		  "!" GCS " || " ANNOTATION(
			  "ray.io/external-storage-namespace") " == ''",
		  "'the annotation `ray.io/external-storage-namespace` and"
		  " `gcsFaultToleranceOptions` are both set'",
		  .any_text = true),
	REJECTION("rocksdb", CLUSTER, "gcsFaultToleranceOptions.backend",
		  "!(" ROCKSDB ")", "'the backend is `rocksdb`'",
		  .since = "1.7", .gate = "GCSFaultToleranceEmbeddedStorage"),
	REJECTION("rocksdb-redis", CLUSTER, "gcsFaultToleranceOptions",
		  "!(" ROCKSDB ") || !['redisAddress', 'redisUsername',"
		  " 'redisPassword', 'externalStorageNamespace'].exists(k, k in"
		  " self.gcsFaultToleranceOptions)",
		  "'the backend is `rocksdb` with settings of Redis'",
		  .since = "1.7"),
	REJECTION(
		"rocksdb-claim", CLUSTER, "gcsFaultToleranceOptions.storage",
		"!(" ROCKSDB
		") || self.gcsFaultToleranceOptions.?storage.claimName"
		".orValue('') == '' || !['size', 'storageClassName', 'accessModes']"
		".exists(k, k in self.gcsFaultToleranceOptions.storage)",
		"'`claimName` is set with settings of a new claim'",
		.since = "1.7"),
	REJECTION(
		"rocksdb-managed", CLUSTER, HEAD_ENV_PATH("RAY_GCS_STORAGE"),
		"!(" ROCKSDB ") || !" HEAD_ENV(
			"self") ".exists(e, e.name in ['RAY_GCS_STORAGE', 'RAY_GCS_STORAGE_PATH'])",
		"'the head sets RAY_GCS_STORAGE or RAY_GCS_STORAGE_PATH, which KubeRay sets'",
		.since = "1.7"),
	REJECTION("redis-storage", CLUSTER, "gcsFaultToleranceOptions.storage",
		  "!" GCS " || " ROCKSDB
		  " || !has(self.gcsFaultToleranceOptions.storage)",
		  "'`storage` is set, but the backend is not `rocksdb`'",
		  .since = "1.7"),

	/* Authentication tokens. */
	REJECTION(
		"token-version", CLUSTER, "rayVersion",
		"self.?authOptions.mode.orValue('') != 'token' || !" RAY_BEFORE(
			"self", "5[2-9]|[6-9][0-9]|[0-9]{3,}"),
		"'`authOptions.mode` is token without a rayVersion of 2.52.0 or later'",
		.absent = true),
	REJECTION(
		"k8s-token-version", CLUSTER, "rayVersion",
		"!self.?authOptions.enableK8sTokenAuth.orValue(false) ||"
		" self.authOptions.?mode.orValue('') != 'token' || !" RAY_BEFORE(
			"self", "5[5-9]|[6-9][0-9]|[0-9]{3,}"),
		"'`enableK8sTokenAuth` is set without a rayVersion of 2.55.0 or later'",
		.since = "1.6", .absent = true),
	REJECTION("k8s-token-secret", CLUSTER, "authOptions.secretName",
		  "!self.?authOptions.enableK8sTokenAuth.orValue(false) ||"
		  " self.authOptions.?secretName.orValue('') == ''",
		  "'`enableK8sTokenAuth` and `secretName` are both set'",
		  .since = "1.6"),
	REJECTION("k8s-token-mode", CLUSTER, "authOptions",
		  "!self.?authOptions.enableK8sTokenAuth.orValue(false) ||"
		  " self.authOptions.?mode.orValue('') == 'token'",
		  "'`enableK8sTokenAuth` is set and `mode` is not token'",
		  .since = "1.6"),
	REJECTION("k8s-token-kind",
		  "RayJob:spec.rayClusterSpec RayService:spec.rayClusterConfig "
		  "RayCronJob:spec.jobTemplate.rayClusterSpec",
		  "authOptions.enableK8sTokenAuth",
		  "!self.?authOptions.enableK8sTokenAuth.orValue(false)",
		  "'`enableK8sTokenAuth` is set in a ' + object.kind",
		  .since = "1.6"),

	REJECTION("cluster-upgrade", "RayCluster:spec", "upgradeStrategy.type",
		  "self.?upgradeStrategy.type.orValue('None') in ['None',"
		  " 'Recreate']",
		  "'`upgradeStrategy.type` is not one that KubeRay knows'",
		  .since = "1.6"),

	/* Fields that need a feature gate. */
	REJECTION("network-policy", CLUSTER, "networkPolicy",
		  "!has(self.networkPolicy)", "'`networkPolicy` is set'",
		  .since = "1.7", .gate = "RayClusterNetworkPolicy"),
	REJECTION(
		"network-policy-rules", CLUSTER, "networkPolicy",
		"!has(self.networkPolicy) || ([self.networkPolicy.?head.orValue({}),"
		" self.networkPolicy.?worker.orValue({})] +"
		" self.networkPolicy.?workerGroups.orValue([])).all(g, !(" OPEN_RULES(
			"Egress") " && g.?ingressRules.orValue([]).size() > 0) &&"
				  " !(" OPEN_RULES(
					  "Ingress") " && g.?egressRules.orValue([]).size() > 0))",
		"'`networkPolicy` has rules for a direction that its mode does not deny'",
		.since = "1.7"),
	REJECTION("network-policy-group", CLUSTER, "networkPolicy.workerGroups",
		  "self.?networkPolicy.workerGroups.orValue([]).all(g,"
		  " self.?workerGroupSpecs.orValue([]).exists(w, w.groupName =="
		  " g.groupName))",
		  "'`networkPolicy.workerGroups` names no worker group'",
		  .since = "1.7"),
	REJECTION("tls", CLUSTER, "tlsOptions", "!has(self.tlsOptions)",
		  "'`tlsOptions` is set'", .since = "1.7",
		  .gate = "RayClusterMTLS"),
	REJECTION(
		"tls-managed", CLUSTER,
		"headGroupSpec.template.spec.containers[0].env",
		"!self.?tlsOptions.enabled.orValue(false) || !(" HEAD_ENV(
			"self") " + self.?autoscalerOptions.env.orValue([])).exists(e, e.name in"
				" ['RAY_USE_TLS', 'RAY_TLS_SERVER_CERT', 'RAY_TLS_SERVER_KEY',"
				" 'RAY_TLS_CA_CERT'])",
		"'a variable is set that KubeRay manages with `tlsOptions`'",
		.since = "1.7", .absent = true),
	REJECTION("history", CLUSTER, "historyServerOptions",
		  "!has(self.historyServerOptions)",
		  "'`historyServerOptions` is set'", .since = "1.7",
		  .gate = "RayClusterHistoryServer"),
	REJECTION(
		"history-collector", CLUSTER, "historyServerOptions",
		"!has(self.historyServerOptions) ||"
		" self.historyServerOptions.?collectorOptions.image.orValue('') != ''",
		"'`historyServerOptions` has no `collectorOptions.image`'",
		.since = "1.7"),
	REJECTION("history-backend", CLUSTER,
		  "historyServerOptions.collectorOptions.env",
		  "!has(self.historyServerOptions) || !has(" COLLECTOR
		  ") || " COLLECTOR_ENV
		  ".exists(e, e.name == 'STORAGE_BACKEND' &&"
		  " e.?value.orValue('') != '')",
		  "'`collectorOptions.env` has no STORAGE_BACKEND'",
		  .since = "1.7", .absent = true),

	REJECTION("history-managed", CLUSTER,
		  "historyServerOptions.collectorOptions.env",
		  "!self.?historyServerOptions.collectorOptions.env.orValue([])"
		  ".exists(e, e.name in ['POD_IP', 'FQ_RAY_IP',"
		  " 'RAY_CLUSTER_NAME', 'RAY_CLUSTER_NAMESPACE', 'RAY_ROLE',"
		  " 'OWNER_KIND', 'OWNER_NAME', 'EVENTS_PORT'])",
		  "'`collectorOptions.env` sets a variable of KubeRay'",
		  .since = "1.7"),

	/* Jobs. */
	REJECTION(
		"suspend", JOB, "suspend",
		"!self.?suspend.orValue(false) || " SHUTDOWN,
		"'`suspend` is set without `shutdownAfterJobFinishes: true`'"),
	REJECTION("suspend-selector", JOB, "suspend",
		  "!self.?suspend.orValue(false) || !(" SELECTS ")",
		  "'`suspend` and `clusterSelector` are both set'"),
	REJECTION("ttl-negative", JOB, "ttlSecondsAfterFinished",
		  "self.?ttlSecondsAfterFinished.orValue(0) >= 0",
		  "'`ttlSecondsAfterFinished` is negative'"),
	REJECTION("ttl", JOB, "ttlSecondsAfterFinished",
		  SHUTDOWN " || self.?ttlSecondsAfterFinished.orValue(0) <= 0",
		  "'`ttlSecondsAfterFinished` is set without"
		  " `shutdownAfterJobFinishes: true`'",
		  .repair = shut_down),
	REJECTION("no-cluster", JOB, NULL,
		  "has(self.rayClusterSpec) || " SELECTS,
		  "'`rayClusterSpec` and `clusterSelector` are both unset'"),
	REJECTION("submission-mode", JOB, "submissionMode",
		  MODE ".matches('[$<{]') || " MODE
		       " in ['K8sJobMode', 'HTTPMode', 'InteractiveMode',"
		       " 'SidecarMode', 'UserMode', '']",
		  "'`submissionMode` is `' + " MODE " + '`, which is unknown'",
		  .effect = "KubeRay starts the cluster, but submits no job"),
	REJECTION("selector-name", JOB, "clusterSelector",
		  "!(" SELECTS ") ||"
		  " self.clusterSelector[?'ray.io/cluster'].orValue('') != ''",
		  "'`clusterSelector` has no `ray.io/cluster`'"),
	REJECTION("selector-sidecar", JOB, "submissionMode",
		  "!(" SELECTS ") || " MODE " != 'SidecarMode'",
		  "'`clusterSelector` is set in SidecarMode'"),
	REJECTION("selector-backoff", JOB, "backoffLimit",
		  "!(" SELECTS ") || " BACKOFF " <= 0",
		  "'`backoffLimit` and `clusterSelector` are both set'"),
	REJECTION("interactive-backoff", JOB, "backoffLimit",
		  MODE " != 'InteractiveMode' || " BACKOFF " <= 0",
		  "'`backoffLimit` is set in InteractiveMode'"),
	REJECTION("sidecar-template", JOB, "submitterPodTemplate",
		  MODE " != 'SidecarMode' || !has(self.submitterPodTemplate)",
		  "'`submitterPodTemplate` is set in SidecarMode'"),
	REJECTION("sidecar-config", JOB, "submitterConfig",
		  MODE " != 'SidecarMode' || !has(self.submitterConfig)",
		  "'`submitterConfig` is set in SidecarMode'"),
	REJECTION("sidecar-restart", JOB,
		  "rayClusterSpec.headGroupSpec.template.spec.restartPolicy",
		  MODE " != 'SidecarMode' || " NEVER("self.?rayClusterSpec"
						     ".headGroupSpec"),
		  "'`restartPolicy` of the head is not Never in SidecarMode'"),
	REJECTION("deadline", JOB, "activeDeadlineSeconds",
		  "self.?activeDeadlineSeconds.orValue(1) > 0",
		  "'`activeDeadlineSeconds` is not positive'"),
	REJECTION("pre-running-deadline", JOB, "preRunningDeadlineSeconds",
		  "self.?preRunningDeadlineSeconds.orValue(1) > 0",
		  "'`preRunningDeadlineSeconds` is not positive'",
		  .since = "1.6"),
	REJECTION("backoff-negative", JOB, "backoffLimit", BACKOFF " >= 0",
		  "'`backoffLimit` is negative'"),

	/* Deletion of the cluster after a job. */
	REJECTION(
		"deletion-empty", JOB, "deletionStrategy",
		"!" STRATEGY " || " LEGACY
		" || self.deletionStrategy.?deletionRules.orValue([]).size() > 0",
		"'`deletionStrategy` has no rule'"),
	REJECTION(
		"deletion-shutdown", JOB, "deletionStrategy.deletionRules",
		"!" STRATEGY " || !" SHUTDOWN
		" || self.deletionStrategy.?deletionRules.orValue([]).size() == 0",
		"'`deletionRules` and `shutdownAfterJobFinishes` are both set'"),
	REJECTION(
		"deletion-twice", JOB, "deletionStrategy.deletionRules",
		"!" STRATEGY " || !" LEGACY
		" || self.deletionStrategy.?deletionRules.orValue([]).size() == 0",
		"'`deletionRules` is set with `onSuccess` or `onFailure`'"),
	REJECTION("deletion-half", JOB, "deletionStrategy",
		  "!" STRATEGY " || !" LEGACY " || ["
		  "self.deletionStrategy.?onSuccess.policy.orValue(''),"
		  " self.deletionStrategy.?onFailure.policy.orValue('')]"
		  ".all(p, p != '')",
		  "'one of `onSuccess` and `onFailure` has no `policy`'"),
	REJECTION(
		"deletion-none", JOB, NULL,
		"(" ON("onSuccess") " != 'DeleteNone' && " ON(
			"onFailure") " != 'DeleteNone') || !" SHUTDOWN,
		"'the policy of `' + (" ON(
			"onSuccess") " == 'DeleteNone' ? 'onSuccess' : 'onFailure') + '` is DeleteNone with `shutdownAfterJobFinishes: true`'"),
	REJECTION(
		"deletion-selector", JOB, "deletionStrategy",
		"!(" SELECTS ") || [" ON("onSuccess") ", " ON(
			"onFailure") "].all(p, !(p in ['DeleteCluster', 'DeleteWorkers']))",
		"'the policy deletes a cluster that `clusterSelector` selects'"),
	REJECTION(
		"deletion-workers", JOB, "deletionStrategy",
		"!self.?rayClusterSpec.enableInTreeAutoscaling.orValue(false) ||"
		" !('DeleteWorkers' in [" ON("onSuccess") ", " ON(
			"onFailure") "])",
		"'the policy is DeleteWorkers for a cluster that scales'"),
	REJECTION(
		"rule-selector", JOB, "policy",
		"owner.?clusterSelector.orValue({}).size() == 0 || !(self.policy in"
		" ['DeleteCluster', 'DeleteWorkers'])",
		"'the rule deletes a cluster that `clusterSelector` selects'",
		RULES, .absent = true),
	REJECTION(
		"rule-workers", JOB, "policy",
		"!owner.?rayClusterSpec.enableInTreeAutoscaling.orValue(false) ||"
		" self.policy != 'DeleteWorkers'",
		"'the rule is DeleteWorkers for a cluster that scales'", RULES,
		.absent = true),
	REJECTION("rule-ttl", JOB, "condition.ttlSeconds",
		  "self.condition.?ttlSeconds.orValue(0) >= 0",
		  "'`ttlSeconds` is negative'", RULES),
	REJECTION(
		"rule-condition", JOB, "condition",
		"has(self.condition.jobStatus) !="
		" has(self.condition.jobDeploymentStatus)",
		"'the rule needs one of `jobStatus` and `jobDeploymentStatus`'",
		RULES, .since = "1.6"),
	REJECTION(
		"rule-twice", JOB, "deletionStrategy.deletionRules",
		"!" STRATEGY
		" || self.deletionStrategy.?deletionRules.orValue([]).all(i, a, !"
		"self.deletionStrategy.deletionRules.exists(k, b, k < i &&"
		" a.policy == b.policy && " CONDITION("a") " == " CONDITION(
			"b") "))",
		"'two deletion rules have the same policy and condition'"),
	REJECTION(
		"rule-order", JOB, "condition.ttlSeconds",
		LATER("DeleteWorkers", "DeleteCluster") " && " LATER(
			"DeleteWorkers",
			"DeleteSelf") " && " LATER("DeleteCluster",
						   "DeleteSelf"),
		"'`' + self.policy + '` comes before a policy that it includes'",
		RULES, .absent = true),

	/* Cron jobs. */
	REJECTION("schedule-zone", "RayCronJob", "spec.schedule",
		  "!self.spec.schedule.contains('TZ')",
		  "'`schedule` names a time zone'", .since = "1.7"),
	REJECTION(
		"schedule", "RayCronJob", "spec.schedule",
		"self.spec.schedule.contains('TZ') || self.spec.schedule.matches("
		"'^ *(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|@every"
		" .+|[^ ]+( +[^ ]+){4}) *$')",
		"'`schedule` is not a cron schedule'"),
	REJECTION("zone", "RayCronJob", "spec.timeZone",
		  "self.spec.?timeZone.orValue('UTC') != ''",
		  "'`timeZone` is empty'", .since = "1.7"),

	/* Services. */
	REJECTION(
		"initializing-timeout", "RayService", "metadata.annotations",
		"self.metadata.?annotations[?'ray.io/initializing-timeout']"
		".orValue('') in [''] || self.metadata.annotations"
		"['ray.io/initializing-timeout'].matches('^[+]?(0*[0-9]{1,19}|(("
		"[0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|\\u00b5s|\\u03bcs|ms|s|m|h))+)$') &&"
		" self.metadata.annotations['ray.io/initializing-timeout']"
		".matches('[1-9]')",
		"'`ray.io/initializing-timeout` is not a positive duration'"),
	REJECTION(
		"head-service-name", "RayService:spec.rayClusterConfig",
		"headGroupSpec.headService.metadata.name",
		"self.?headGroupSpec.headService.metadata.name.orValue('') == ''",
		"'`headService` has a name'"),
	REJECTION("service-upgrade", "RayService:spec", "upgradeStrategy.type",
		  "self.?upgradeStrategy.type.orValue('None') in ['None',"
		  " 'NewCluster', 'NewClusterWithIncrementalUpgrade']",
		  "'`upgradeStrategy.type` is not one that KubeRay knows'"),
	REJECTION("deletion-delay", "RayService:spec",
		  "rayClusterDeletionDelaySeconds",
		  "self.?rayClusterDeletionDelaySeconds.orValue(0) >= 0",
		  "'`rayClusterDeletionDelaySeconds` is negative'"),
	REJECTION(
		"incremental-scaling", "RayService:spec",
		"upgradeStrategy.type",
		INCREMENTAL SCALES("self.rayClusterConfig"),
		"'an incremental upgrade without `enableInTreeAutoscaling: true`'",
		.since = "1.7"),
	REJECTION("incremental-options", "RayService:spec",
		  "upgradeStrategy.type", INCREMENTAL OPTIONS ".hasValue()",
		  "'an incremental upgrade without `clusterUpgradeOptions`'",
		  .since = "1.7"),
	REJECTION("incremental-surge", "RayService:spec",
		  "upgradeStrategy.clusterUpgradeOptions.maxSurgePercent",
		  INCREMENTAL OPTIONS
		  ".maxSurgePercent.orValue(100) in"
		  " [100] || (" OPTIONS
		  ".maxSurgePercent.orValue(100) >= 0 && " OPTIONS
		  ".maxSurgePercent.orValue(100) <= 100)",
		  "'`maxSurgePercent` is not between 0 and 100'",
		  .since = "1.7"),
	REJECTION("incremental-step", "RayService:spec",
		  "upgradeStrategy.clusterUpgradeOptions.stepSizePercent",
		  INCREMENTAL "!" OPTIONS ".hasValue() || (" OPTIONS
			      ".stepSizePercent.orValue(-1) >= 0 && " OPTIONS
			      ".stepSizePercent.orValue(-1) <= " OPTIONS
			      ".maxSurgePercent.orValue(100))",
		  "'`stepSizePercent` is not between 0 and `maxSurgePercent`'",
		  .since = "1.7", .absent = true),
	REJECTION("incremental-interval", "RayService:spec",
		  "upgradeStrategy.clusterUpgradeOptions.intervalSeconds",
		  INCREMENTAL "!" OPTIONS ".hasValue() || " OPTIONS
			      ".intervalSeconds.orValue(0) > 0",
		  "'`intervalSeconds` is not positive'", .since = "1.7",
		  .absent = true),
	REJECTION("incremental-gateway", "RayService:spec",
		  "upgradeStrategy.clusterUpgradeOptions.gatewayClassName",
		  INCREMENTAL "!" OPTIONS ".hasValue() || " OPTIONS
			      ".gatewayClassName.orValue('') != ''",
		  "'an incremental upgrade without `gatewayClassName`'",
		  .since = "1.7", .absent = true),
	{0},
};

const struct rejections kuberay_rejections = {
	.by = "KubeRay",
	"ray.io",
	NULL,
	items,
	"1.5 to 1.7",
	.component = OPERATOR_KUBERAY,
};
