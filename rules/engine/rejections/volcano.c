/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that Volcano rejects:
 * pkg/webhooks/admission/{jobs,cronjobs,queues,podgroups}/validate at ed72c7c8,
 * compared with v1.13.1, v1.14.4 and v1.15.1, after jobs/mutate has set
 * defaults (a task without a name is called `default` and its index). Other
 * rules check minAvailable above the replicas (volcano-min-available-exceeds)
 * and the pods. Checks that depend on the queues of the cluster are left out.
 */
#include "engine/rule.h"

/* The webhook for CronJobs does not check the template; that for the Jobs made
 * from it does. */
#define JOB   "Job:spec CronJob:spec.jobTemplate.spec"
#define TASKS "self.?tasks.orValue([])"
#define TASK  .each = "tasks"
#define QUEUE "scheduling.volcano.sh/Queue"
#define EVENTS                                                                 \
	"(p.?events.orValue([]) + (p.?event.orValue('') == '' ? [] : [p.event]))"
#define POLICIES "self.?policies.orValue([])"
/* 0 for a policy without an exitCode, because policy-exit-zero reports a 0. */
#define EXIT(p) p ".?exitCode.orValue(0)"
#define EVENT_NAMES                                                            \
	"['*', 'PodFailed', 'PodEvicted', 'PodPending', 'Unknown', 'TaskCompleted', 'TaskFailed', 'JobUpdated']"
/* Checks of `policies`, which jobs and tasks have. */
#define POLICY(id, rule, message)                                              \
	REJECTION("job-" id, JOB, NULL, rule, message),                        \
		REJECTION("task-" id, JOB, NULL, rule, message, TASK)
#define NEGATIVE(id, key, ...)                                                 \
	REJECTION(id, JOB, key, "self.?" key ".orValue(0) >= 0",               \
		  "'`" key "` is negative'", ##__VA_ARGS__)
#define MPI "self.plugins.mpi"
#define MPI_TASK(role)                                                         \
	"!self.?plugins.mpi.hasValue() || " TASKS ".exists(t, " MPI            \
	".exists(a, a.matches('^--?" role "(=|$)')) ? " MPI ".exists(i, a,"    \
	" a.matches('^--?" role "=') && a.endsWith('" role "=' +"              \
	" t.?name.orValue('')) || a.matches('^--?" role "$') &&"               \
	" i + 1 < size(" MPI ") && " MPI "[i + 1] == t.?name.orValue('')) :"   \
	" t.?name.orValue('') == '" role "')"
#define TIERS(of)                                                              \
	of ".all(t, !has(t.highestTierAllowed) ||"                             \
	   " t.?highestTierName.orValue('') == '')"
#define PARTITION "self.?partitionPolicy"
#define QUANTITY_ABOVE(less, more)                                             \
	"self.spec.?" less ".orValue({}).all(k, !(k in self.spec.?" more       \
	".orValue({})) || quantity(string(self.spec." less "[k]))"             \
	".compareTo(quantity(string(self.spec." more "[k]))) <= 0)"
#define HIERARCHY(key)                                                         \
	"self.metadata.?annotations[?'volcano.sh/hierarchy" key "'].orValue('')"
#define CPUS                                                                   \
	"(c.?resources.requests.orValue({}).size() > 0 ?"                      \
	" c.resources.requests : c.?resources.limits.orValue({}))"

#define CPU                                                                    \
	"quantity(string(" CPUS "[?'cpu'].orValue('0'))).asApproximateFloat()"

/* True if task a does not depend on itself, directly or through one or two
 * others. */
#define NO_CYCLE                                                                                         \
	"a.?dependsOn.name.orValue([]).all(n, n != a.name && " TASKS                                     \
	".all(b, b.?name.orValue('') != n || b.?dependsOn.name.orValue([]).all(m, m != a.name && " TASKS \
	".all(c, c.?name.orValue('') != m || !(a.name in c.?dependsOn.name.orValue([]))))))"

#define PLUGINS                                                                \
	"['env', 'hcclrank', 'mpi', 'pytorch', 'ray', 'ssh', 'svc',"           \
	" 'tensorflow']"

static const struct rejection items[] = {
	REJECTION("no-tasks", JOB, "tasks", TASKS ".size() > 0",
		  "'the job has no task'", .absent = true),
	REJECTION("mpi-master", JOB, "plugins.mpi", MPI_TASK("master"),
		  "'no task has the name of the master in the plugin `mpi`'"),
	REJECTION("mpi-worker", JOB, "plugins.mpi", MPI_TASK("worker"),
		  "'no task has the name of the worker in the plugin `mpi`'",
		  .until = "1.14"),
	/* Rejected by the webhook, and since 1.14 (1f683c27) by the CRD. */
	NEGATIVE("max-retry", "maxRetry"),
	NEGATIVE("ttl", "ttlSecondsAfterFinished"),
	NEGATIVE("min-available", "minAvailable"),
	NEGATIVE("task-min-available", "minAvailable", TASK),
	REJECTION("plugin", JOB, "plugins",
		  "self.?plugins.orValue({}).all(k, k in " PLUGINS ")",
		  "'`plugins` has `' + self.plugins.map(k, k).filter(k,"
		  " !(k in " PLUGINS
		  "))[0] + '`, which Volcano does not know'"),
	REJECTION("network-topology", JOB, "networkTopology",
		  TIERS("(has(self.networkTopology) ? [self.networkTopology]"
			" : [])"),
		  "'`highestTierAllowed` and `highestTierName` are both set'",
		  .since = "1.14"),
	REJECTION("task-network-topology", JOB,
		  "partitionPolicy.networkTopology",
		  TIERS("(" PARTITION ".networkTopology.hasValue() ?"
			" [self.partitionPolicy.networkTopology] : [])"),
		  "'`highestTierAllowed` and `highestTierName` are both set'",
		  TASK, .since = "1.14"),
	REJECTION("task-name-twice", JOB, NULL,
		  TASKS ".all(i, t, !" TASKS
			".exists(k, o, k < i && o.?name.orValue('') != '' &&"
			" o.name == t.?name.orValue('')))",
		  "'two tasks have the name `' + " TASKS
		  ".map(t, t.?name.orValue('')).filter(n, n != '' && " TASKS
		  ".filter(o, o.?name.orValue('') == n).size() > 1)[0] + '`'"),
	REJECTION("pod-name-length", JOB, "tasks",
		  TASKS ".all(i, t, size(object.metadata.?name.orValue('') +"
			" '-' + t.?name.orValue('') + '-' + string(i)) <= 63)",
		  "'the names of the pods are longer than 63 characters'"),
	POLICY("policy-both",
	       POLICIES ".all(p, " EVENTS ".size() == 0 ||"
			" !has(p.exitCode))",
	       "'the policy for `' + " POLICIES ".filter(p, " EVENTS
	       ".size() > 0 && has(p.exitCode)).map(p, " EVENTS
	       "[0])[0] + '` also has an exitCode'"),
	POLICY("policy-neither",
	       POLICIES ".all(p, " EVENTS ".size() > 0 || has(p.exitCode))",
	       "'a policy has neither an event nor an exitCode'"),
	POLICY("policy-event",
	       POLICIES ".all(p, " EVENTS ".all(e, e in " EVENT_NAMES "))",
	       "'a policy is for the event `' + " POLICIES ".map(p, " EVENTS
	       ".filter(e, !(e in " EVENT_NAMES
	       "))).flatten()[0] + '`, which jobs cannot name'"),
	POLICY("policy-action",
	       POLICIES ".all(p, " EVENTS ".size() == 0 || p.?action"
			".orValue('') in ['AbortJob', 'RestartJob',"
			" 'RestartTask', 'RestartPod', 'RestartPartition',"
			" 'TerminateJob', 'CompleteJob', 'ResumeJob'])",
	       "'the action of a policy is not one that jobs can name'"),
	POLICY("policy-event-twice",
	       POLICIES ".all(i, p, " EVENTS ".all(e, !" POLICIES
			".exists(k, q, k < i && (e == q.?event.orValue('') ||"
			" e in q.?events.orValue([])))))",
	       "'two policies are for the event `' + " POLICIES
	       ".transformList(i, p, " EVENTS ".filter(e, " POLICIES
	       ".exists(k, q, k < i && (e == q.?event.orValue('') || e in q.?events.orValue([]))))).flatten()[0] + '`'"),
	POLICY("policy-any",
	       POLICIES ".all(p, !('*' in " EVENTS ")) || " POLICIES
			".all(p, " EVENTS ".all(e, e == '*'))",
	       "'a policy for `*` is set with others'"),
	POLICY("policy-exit-zero",
	       POLICIES ".all(p, p.?exitCode.orValue(1) != 0)",
	       "'a policy is for the exitCode 0'"),
	POLICY("policy-exit-twice",
	       POLICIES
	       ".all(i, p, " EXIT("p") " == 0 || !" POLICIES
				       ".exists(k, q, k < i && " EXIT(
					       "q") " == " EXIT("p") "))",
	       "'two policies are for the exitCode ' + string(" POLICIES
	       ".filter(p, " EXIT("p") " != 0 && " POLICIES ".filter(q, " EXIT(
		       "q") " == " EXIT("p") ").size() > 1)[0].exitCode)"),
	REJECTION("volume-path", JOB, "volumes",
		  "self.?volumes.orValue([]).all(v, v.?mountPath.orValue('')"
		  " != '')",
		  "'a volume has no `mountPath`'"),
	REJECTION("volume-path-twice", JOB, "volumes",
		  "self.?volumes.orValue([]).all(i, v, !self.volumes.exists(k,"
		  " o, k < i && o.?mountPath.orValue('') == v.?mountPath"
		  ".orValue('-')))",
		  "'two volumes have the same `mountPath`'"),
	REJECTION("volume-claim", JOB, "volumes",
		  "self.?volumes.orValue([]).all(v, has(v.volumeClaim) !="
		  " (v.?volumeClaimName.orValue('') != ''))",
		  "'a volume does not have exactly one of `volumeClaim` and"
		  " `volumeClaimName`'"),
	REJECTION("queue-root", JOB, "queue",
		  "self.?queue.orValue('default') != 'root'",
		  "'`queue` is `root`, which accepts no jobs'"),
	REJECTION(
		"depends-on", JOB, NULL,
		TASKS ".all(t, t.?dependsOn.name.orValue([]).all(n, " TASKS
		      ".exists(o, o.?name.orValue('') == n)))",
		"'`dependsOn` names task `' + " TASKS
		".map(t, t.?dependsOn.name.orValue([]).filter(n, !" TASKS
		".exists(o, o.?name.orValue('') == n))).flatten()[0] + '`, which does not exist'"),
	REJECTION("depends-on-cycle", JOB, NULL, TASKS ".all(a, " NO_CYCLE ")",
		  "'a cycle of `dependsOn` has the tasks `' + " TASKS
		  ".filter(a, !(" NO_CYCLE
		  ")).map(a, a.name).join('`, `') + '`'"),
	REJECTION("partitions", JOB, "partitionPolicy",
		  PARTITION ".totalPartitions.orValue(1) > 0 && " PARTITION
			    ".partitionSize.orValue(1) > 0",
		  "'`totalPartitions` or `partitionSize` is not positive'",
		  TASK, .since = "1.14"),
	REJECTION("partition-replicas", JOB, "replicas",
		  "!has(self.partitionPolicy) || !has(self.replicas) ||"
		  " self.partitionPolicy.totalPartitions <= 0 ||"
		  " self.partitionPolicy.partitionSize <= 0 ||"
		  " self.replicas == self.partitionPolicy.totalPartitions *"
		  " self.partitionPolicy.partitionSize",
		  "'`replicas` is ' + string(self.replicas) + ', not"
		  " `totalPartitions` times `partitionSize`'",
		  TASK, .since = "1.14"),
	REJECTION("partition-min", JOB, "minAvailable",
		  "!has(self.partitionPolicy) || !has(self.minAvailable) ||"
		  " self.partitionPolicy.?minPartitions.orValue(0) <= 0 ||"
		  " self.minAvailable == self.partitionPolicy.minPartitions *"
		  " self.partitionPolicy.partitionSize",
		  "'`minAvailable` is ' + string(self.minAvailable) + ', not"
		  " `minPartitions` times `partitionSize`'",
		  TASK, .since = "1.14"),
	REJECTION("partition-no-min", JOB, "minAvailable",
		  "!has(self.partitionPolicy) || !has(self.minAvailable) ||"
		  " self.partitionPolicy.?minPartitions.orValue(0) != 0 ||"
		  " self.minAvailable == 0",
		  "'`minAvailable` is set and `minPartitions` is not'", TASK,
		  .since = "1.14", .until = "1.14"),
	REJECTION("topology-cpu", JOB, "topologyPolicy",
		  "self.?topologyPolicy.orValue('none') in ['', 'none'] ||"
		  " (self.template.spec.containers +"
		  " self.template.spec.?initContainers.orValue([])).all(c, " CPU
		  " >= 1.0 && double(int(" CPU ")) == " CPU ")",
		  "'`topologyPolicy` is set and the CPUs of a container are"
		  " not a whole number'",
		  TASK),

	REJECTION("cron-name-length", "CronJob", "metadata.name",
		  "size(self.metadata.?name.orValue('')) <= 52",
		  "'the name has more than 52 characters'"),
	REJECTION("schedule-zone", "CronJob", "spec.schedule",
		  "!self.spec.schedule.contains('TZ')",
		  "'`schedule` names a time zone'"),
	REJECTION("schedule", "CronJob", "spec.schedule",
		  "self.spec.schedule.contains('TZ') ||"
		  " self.spec.schedule.matches('^ *(@(yearly|annually|monthly|"
		  "weekly|daily|midnight|hourly)|@every .+|[^ ]+( +[^ ]+){4})"
		  " *$')",
		  "'`schedule` is not a cron schedule'"),
	REJECTION("zone", "CronJob", "spec.timeZone",
		  "!(self.spec.?timeZone.orValue('UTC').lowerAscii() in ['',"
		  " 'local'])",
		  "'`timeZone` is empty or Local'"),
	REJECTION("zone-name", "CronJob", "spec.timeZone",
		  "self.spec.?timeZone.orValue('') == '' ||"
		  " self.spec.timeZone.matches('[$<{]') ||"
		  " self.spec.timeZone.split('/').all(p, p != '.' && p != '..'"
		  " && p.matches('^[A-Za-z._0-9+][-A-Za-z._0-9+]{0,13}$'))",
		  "'`timeZone` is not a name of a time zone'"),

	REJECTION("guarantee-alone", QUEUE, "spec.guarantee.resource",
		  "self.spec.?guarantee.resource.orValue({}).all(k, k in"
		  " self.spec.?deserved.orValue({}))",
		  "'`guarantee` has a resource that `deserved` does not have'",
		  .since = "1.14"),
	REJECTION("guarantee", QUEUE, "spec.guarantee.resource",
		  "self.spec.?guarantee.resource.orValue({}).all(k, !(k in"
		  " self.spec.?deserved.orValue({})) || quantity(string("
		  "self.spec.guarantee.resource[k])).compareTo(quantity("
		  "string(self.spec.deserved[k]))) <= 0)",
		  "'`guarantee` has more of a resource than `deserved`'",
		  .since = "1.14"),
	REJECTION("deserved", QUEUE, "spec.deserved",
		  QUANTITY_ABOVE("deserved", "capability"),
		  "'`deserved` has more of a resource than `capability`'",
		  .since = "1.14"),
	REJECTION("deserved-uncapped", QUEUE, "spec.deserved",
		  "self.spec.?capability.orValue({}).size() == 0 ||"
		  " self.spec.?deserved.orValue({}).all(k, k in"
		  " self.spec.capability || quantity(string("
		  "self.spec.deserved[k])).compareTo(quantity('0')) <= 0)",
		  "'`deserved` has a resource that `capability` does not have'",
		  .since = "1.14", .until = "1.14"),
	REJECTION("whole-quantity", QUEUE, "spec",
		  "[self.spec.?capability.orValue({}),"
		  " self.spec.?deserved.orValue({}),"
		  " self.spec.?guarantee.resource.orValue({})].all(m, m.all(k,"
		  " !k.contains('/') || k.contains('kubernetes.io/') ||"
		  " quantity(string(m[k])).isInteger()))",
		  "'a quantity of devices is not a whole number'"),
	REJECTION("negative-quantity", QUEUE, "spec",
		  "[self.spec.?capability.orValue({}),"
		  " self.spec.?deserved.orValue({}),"
		  " self.spec.?guarantee.resource.orValue({})].all(m, m.all(k,"
		  " quantity(string(m[k])).compareTo(quantity('0')) >= 0))",
		  "'a quantity is negative'"),
	REJECTION("parent-self", QUEUE, "spec.parent",
		  "self.metadata.?name.orValue('') == '' ||"
		  " self.spec.?parent.orValue('') != self.metadata.name ||"
		  " self.metadata.name == 'root'",
		  "'the queue is its own parent'", .since = "1.14",
		  .absent = true),
	REJECTION("hierarchy", QUEUE, "metadata.annotations",
		  HIERARCHY("") ".split('/').size() == " HIERARCHY(
			  "-weights") ".split('/').size()",
		  "'`volcano.sh/hierarchy` and `volcano.sh/hierarchy-weights`"
		  " differ in length'"),
	REJECTION(
		"hierarchy-weight", QUEUE, "metadata.annotations",
		HIERARCHY("") " + " HIERARCHY("-weights") " == '' || " HIERARCHY(
			"-weights") ".split('/').all(w, w.matches('^[+]?[0-9.]+(e[-+]?[0-9]+)?$')"
				    " && w.matches('[1-9]'))",
		"'a weight of `volcano.sh/hierarchy-weights` is not a"
		" positive number'"),
	REJECTION("group-network-topology",
		  "scheduling.volcano.sh/PodGroup:spec", "networkTopology",
		  TIERS("((has(self.networkTopology) ?"
			" [self.networkTopology] : []) +"
			" self.?subGroupPolicy.orValue([]).filter(p,"
			" has(p.networkTopology)).map(p, p.networkTopology))"),
		  "'`highestTierAllowed` and `highestTierName` are both set'",
		  .since = "1.14", .absent = true),
	{0},
};

const struct rejections volcano_rejections = {
	.by = "Volcano",
	.group = "batch.volcano.sh",
	.groups = true,
	.maker = "CronJob",
	.items = items,
	.versions = "1.13 to 1.15",
	.component = OPERATOR_VOLCANO,
};
