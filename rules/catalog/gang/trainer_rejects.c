/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs that Kubeflow's operators reject: training-operator v1.9.3
 * pkg/webhooks (PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob; no defaults
 * are set before) and mpi_validation.go (MPIJob v1); trainer
 * pkg/runtime/framework/plugins/jobset/jobset.go at 8c0f5059 and the CEL rules
 * of its CRDs. pytorchjob-worker-zero reports workers with 0 replicas,
 * kubeflow-container-name names of containers. Checks that depend on the
 * runtime of a TrainJob are left out.
 */
#include <string.h>

#include "engine/rule.h"

#define V1(kind) "kubeflow.org/" kind ":spec"
#define JOBS                                                                   \
	"kubeflow.org/PyTorchJob kubeflow.org/TFJob kubeflow.org/XGBoostJob"   \
	" kubeflow.org/PaddleJob kubeflow.org/JAXJob"
/* The webhook of JAXJob does not validate its runPolicy. */
#define MANAGED                                                                \
	"kubeflow.org/PyTorchJob kubeflow.org/TFJob kubeflow.org/XGBoostJob"   \
	" kubeflow.org/PaddleJob"
#define NAME "self.metadata.?name.orValue('')"
#define DNS_LABEL                                                              \
	NAME " == '' || " NAME ".matches('[$<{]') || (size(" NAME ") <= 63 "   \
	     "&& " NAME ".matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))"
#define ONLY(specs, types) "self.?" specs ".orValue({}).all(k, k in " types ")"
#define MASTER(specs)                                                          \
	"!self.?" specs ".Master.hasValue() ||"                                \
	" self." specs ".Master.?replicas.orValue(0) == 1"
#define URI                                                                    \
	"self.?storageUri.orValue('') == '' ||"                                \
	" self.storageUri.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')"

static const struct rejection items[] = {
	REJECTION("name", JOBS, "metadata.name", DNS_LABEL,
		  "'its name is not a DNS-1035 label'"),
	REJECTION("pytorch-type", V1("PyTorchJob"), "pytorchReplicaSpecs",
		  ONLY("pytorchReplicaSpecs", "['Master', 'Worker']"),
		  "'`pytorchReplicaSpecs` has a type other than `Master` and"
		  " `Worker`'"),
	REJECTION("xgboost-type", V1("XGBoostJob"), "xgbReplicaSpecs",
		  ONLY("xgbReplicaSpecs", "['Master', 'Worker']"),
		  "'`xgbReplicaSpecs` has a type other than `Master` and"
		  " `Worker`'"),
	REJECTION("paddle-type", V1("PaddleJob"), "paddleReplicaSpecs",
		  ONLY("paddleReplicaSpecs", "['Master', 'Worker']"),
		  "'`paddleReplicaSpecs` has a type other than `Master` and"
		  " `Worker`'"),
	REJECTION("jax-type", V1("JAXJob"), "jaxReplicaSpecs",
		  ONLY("jaxReplicaSpecs", "['Worker']"),
		  "'`jaxReplicaSpecs` has a type other than `Worker`'"),
	REJECTION("pytorch-master", V1("PyTorchJob"),
		  "pytorchReplicaSpecs.Master.replicas",
		  MASTER("pytorchReplicaSpecs"),
		  "'`replicas` of `Master` is not 1'", .absent = true),
	REJECTION("xgboost-master", V1("XGBoostJob"),
		  "xgbReplicaSpecs.Master.replicas", MASTER("xgbReplicaSpecs"),
		  "'`replicas` of `Master` is not 1'", .absent = true),
	REJECTION("xgboost-no-master", V1("XGBoostJob"), "xgbReplicaSpecs",
		  "has(self.xgbReplicaSpecs.Master)", "'it has no `Master`'"),
	REJECTION("chief-and-master", V1("TFJob"), "tfReplicaSpecs",
		  "!has(self.tfReplicaSpecs.Chief) ||"
		  " !has(self.tfReplicaSpecs.Master)",
		  "'it has a `Chief` and a `Master`'"),
	REJECTION("elastic-worker", V1("PyTorchJob"), "elasticPolicy",
		  "!has(self.elasticPolicy) ||"
		  " has(self.pytorchReplicaSpecs.Worker)",
		  "'it has an elasticPolicy and no `Worker`'"),
	REJECTION("elastic-nproc", V1("PyTorchJob"),
		  "elasticPolicy.nProcPerNode",
		  "!self.?elasticPolicy.nProcPerNode.hasValue() ||"
		  " !has(self.nprocPerNode)",
		  "'`nProcPerNode` of the elasticPolicy and `nprocPerNode` are"
		  " both set'"),
	REJECTION("managed-by", MANAGED, "spec.runPolicy.managedBy",
		  "self.spec.?runPolicy.managedBy.orValue("
		  "'kubeflow.org/training-operator') in"
		  " ['kubeflow.org/training-operator',"
		  " 'kueue.x-k8s.io/multikueue']",
		  "'`managedBy` is not a controller of this kind'"),
	REJECTION("mpi-no-launcher", V1("MPIJob"), "mpiReplicaSpecs",
		  "object.apiVersion != 'kubeflow.org/v1' ||"
		  " !has(self.mpiReplicaSpecs) ||"
		  " has(self.mpiReplicaSpecs.Launcher)",
		  "'it has no `Launcher`'"),
	REJECTION("mpi-launcher", V1("MPIJob"),
		  "mpiReplicaSpecs.Launcher.replicas",
		  "object.apiVersion != 'kubeflow.org/v1' ||"
		  " !self.?mpiReplicaSpecs.Launcher.hasValue() ||"
		  " self.mpiReplicaSpecs.Launcher.?replicas.orValue(1) == 1",
		  "'`replicas` of `Launcher` is not 1'"),

	REJECTION("train-job-name", "TrainJob", "metadata.name", DNS_LABEL,
		  "'its name is not a DNS-1035 label'"),
	REJECTION("train-job-managed-by", "TrainJob", "spec.managedBy",
		  "self.spec.?managedBy.orValue("
		  "'trainer.kubeflow.org/trainjob-controller') in"
		  " ['trainer.kubeflow.org/trainjob-controller',"
		  " 'kueue.x-k8s.io/multikueue']",
		  "'`managedBy` is not a controller of this kind'"),
	REJECTION("dataset-uri", "TrainJob:spec.initializer.dataset",
		  "storageUri", URI, "'`storageUri` is not a URI'"),
	REJECTION("model-uri", "TrainJob:spec.initializer.model", "storageUri",
		  URI, "'`storageUri` is not a URI'"),
	REJECTION("patched-env", "TrainJob:spec",
		  "trainingRuntimeSpec.template.spec.replicatedJobs",
		  "self.?trainingRuntimeSpec.template.spec.replicatedJobs"
		  ".orValue([]).all(j, j.?template.spec.template.spec"
		  ".containers.orValue([]).all(c, c.?env.orValue([]).size()"
		  " == 0 || !(c.name in ['node', 'dataset-initializer',"
		  " 'model-initializer'])))",
		  "'a patch sets variables of a container that the trainer"
		  " owns'",
		  .each = "runtimePatches"),
	REJECTION("policies",
		  "TrainingRuntime:spec ClusterTrainingRuntime:spec",
		  "mlPolicy",
		  "['torch', 'mpi', 'jax', 'xgboost', 'flux'].filter(k, k in"
		  " self.?mlPolicy.orValue({})).size() <= 1",
		  "'`mlPolicy` has two frameworks'"),
	{0},
};

static const struct rejections rejections = {
	.by = "the Kubeflow trainer",
	.group = "trainer.kubeflow.org",
	.items = items,
	.versions = "1.9; 2.2 to 2.3",
	.groups = true,
};

static void check(struct rule_run *run, const struct object *object)
{
	if (object->group && strstr(object->group, "kubeflow.org"))
		rule_check_rejections(run, object);
}

static const char *const aliases[] = {"kubeflow-job-refused", NULL};

const struct rule rule_trainer_rejects = {
	.name = "trainer-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.since = "1.0",
	.aliases = aliases,
	.summary = "a training job that its operator rejects",
	.why = "The webhook rejects the object, or the controller never starts its pods.",
	.remedy = "Change or remove the field that the message names.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/v1.9.3/pkg/webhooks; https://github.com/kubeflow/trainer/blob/8c0f5059bd51ec3ba6d6a6a7b2e1471de7bc13b3/pkg/runtime/framework/plugins/jobset/jobset.go",
	.rejections = &rejections,
	.check_object = check,
};
