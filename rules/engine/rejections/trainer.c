/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that Kubeflow's operators reject. Sources in training-operator
 * v1.9.3 are pkg/webhooks (PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob),
 * before which no defaults are set, and mpi_validation.go (MPIJob v1). Sources
 * in trainer v2.3.0 are pkg/webhooks, pkg/runtime/framework/plugins and the CEL
 * rules of its CRDs.
 * pytorchjob-worker-zero reports workers with 0 replicas,
 * kubeflow-container-name names of containers. Checks that depend on the
 * runtime of a TrainJob need the runtime in the input files or the cluster
 * state. If the TrainJob's runtimePatches change the template, checks that read
 * the template are skipped.
 */
#include "engine/rule.h"

#define V1(kind) "kubeflow.org/" kind ":spec"
#define JOBS                                                                   \
	"kubeflow.org/PyTorchJob kubeflow.org/TFJob kubeflow.org/XGBoostJob"   \
	" kubeflow.org/PaddleJob kubeflow.org/JAXJob"
/* The webhook of JAXJob does not validate its runPolicy. */
#define MANAGED                                                                \
	"kubeflow.org/PyTorchJob kubeflow.org/TFJob kubeflow.org/XGBoostJob"   \
	" kubeflow.org/PaddleJob"
#define DNS_LABEL                                                              \
	"self.metadata.name.matches('^$|[$<{]|"                                \
	"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')"
#define ONLY(specs, types) "self." specs ".all(k, k in " types ")"
#define MASTER(specs)                                                          \
	"!self.?" specs ".Master.hasValue() ||"                                \
	" self." specs ".Master.?replicas.orValue(0) == 1"
#define URI	  "self.storageUri.matches('^$|^[A-Za-z][A-Za-z0-9+.-]*://.+$')"
#define RUNTIMES  "TrainingRuntime:spec ClusterTrainingRuntime:spec"
#define TRAIN_JOB "TrainJob:spec"
#define PATCHED                                                                \
	"self.?runtimePatches.orValue([]).exists(p,"                           \
	" p.?trainingRuntimeSpec.template.hasValue()) || "
#define HAS_NO(policy) "runtime.spec.?" policy ".orValue(null) == null || "
#define TEMPLATES      "runtime.spec.template.?spec.replicatedJobs.orValue([])"
#define CONTAINERS     "j.template.spec.template.spec.?containers.orValue([])"
#define ALL_CONTAINERS                                                         \
	"(" CONTAINERS                                                         \
	" + j.template.spec.template.spec.?initContainers.orValue([]))"
#define INITIALIZER(name)                                                      \
	PATCHED TEMPLATES ".exists(j, j.name == '" name "' && " ALL_CONTAINERS \
			  ".exists(c, c.name == '" name "'))"
#define INITIALIZED(name)                                                      \
	"'the runtime has no job `" name "` with a container of that name'"
#define MOUNTED(name)                                                          \
	PATCHED "!" TEMPLATES ".exists(j, j.name == '" name "') || " TEMPLATES \
		".exists(j, j.name == '" name "' && " CONTAINERS               \
		".exists(c, c.name == '" name "' && c.?volumeMounts"           \
		".orValue([]).exists(m, m.name == 'initializer')))"
#define NOT_MOUNTED(name)                                                      \
	"'container `" name "` of the runtime does not mount a volume"         \
	" `initializer`'"
#define ENV(names)     "self.trainer.env.all(e, !e.name.matches('^(" names ")$'))"
#define ENV_OF(policy) "'`env` sets a variable that " policy " reserves'"
#define STEP                                                                   \
	"self.template.?metadata.labels[?'trainer.kubeflow.org/"               \
	"trainjob-ancestor-step'].orValue('')"
#define NO_STEP                                                                \
	"!(" STEP " in ['trainer', 'dataset-initializer',"                     \
	" 'model-initializer']) || "
#define NO_TUNE                                                                \
	HAS_NO("mlPolicy.torch")                                               \
	"self.?trainer.command.orValue([]) != ['tune', 'run'] || "
#define NODES	     "self.trainer.?numNodes.orValue(1)"
#define MODEL(names) "self.runtimeRef.name.matches('^[^-]*-(" names ")$')"
#define SMALL_LLAMA  "llama3[._]2-[13][bB]"
#define LARGE_LLAMA  "llama3[._]3-70[bB]"
#define QWEN	     "qwen2[._]5-1[.]5[bB]"
#define ARG(pattern)                                                           \
	"self.trainer.?args.orValue([]).exists(a, a.matches('" pattern "'))"
#define QLORA                                                                  \
	"(" ARG("^model[.]quantize_base=[tT]rue$") " && !" ARG(                \
		"model[.]use_dora") ")"
#define ONE_GPU(of)                                                            \
	"(" of ".?limits.orValue({}).exists(k, k.lowerAscii().contains('gpu')" \
	" && string(" of ".limits[k]) == '1') || " of                          \
	".?requests.orValue({}).exists(k, k.lowerAscii().contains('gpu') &&"   \
	" string(" of ".requests[k]) == '1'))"
#define MANAGER                                                                \
	"self.manager.matches('[$<{]|^[a-z0-9]([-a-z0-9]*[a-z0-9])?"           \
	"([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9/._~%!&\\'()*+,;=:-]+$')"

/* A check that compares a TrainJob's field with its runtime. A TrainJob without
 * the field is accepted. */
#define OF_RUNTIME(id, field, rule, ...)                                       \
	REJECTION(id, TRAIN_JOB, field,                                        \
		  "!self.?" field ".hasValue() || " rule, __VA_ARGS__)

static const struct rejection items[] = {
	REJECTION("name", JOBS, "metadata.name", DNS_LABEL,
		  "'the name is not a DNS-1035 label'"),
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
		  "has(self.xgbReplicaSpecs.Master)",
		  "'the XGBoostJob has no `Master`'"),
	REJECTION("chief-and-master", V1("TFJob"), "tfReplicaSpecs",
		  "!has(self.tfReplicaSpecs.Chief) ||"
		  " !has(self.tfReplicaSpecs.Master)",
		  "'the TFJob has a `Chief` and a `Master`'"),
	REJECTION("elastic-worker", V1("PyTorchJob"), "elasticPolicy",
		  "!has(self.elasticPolicy) ||"
		  " has(self.pytorchReplicaSpecs.Worker)",
		  "'`elasticPolicy` is set, but there is no `Worker`'"),
	REJECTION("elastic-nproc", V1("PyTorchJob"),
		  "elasticPolicy.nProcPerNode",
		  "!self.?elasticPolicy.nProcPerNode.hasValue() ||"
		  " !has(self.nprocPerNode)",
		  "'`elasticPolicy.nProcPerNode` and `nprocPerNode` are both"
		  " set'"),
	REJECTION("managed-by", MANAGED, "spec.runPolicy.managedBy",
		  "self.spec.runPolicy.managedBy in"
		  " ['kubeflow.org/training-operator',"
		  " 'kueue.x-k8s.io/multikueue']",
		  "'`managedBy` is not a controller of this kind'"),
	REJECTION("mpi-no-launcher", V1("MPIJob"), "mpiReplicaSpecs",
		  "object.apiVersion != 'kubeflow.org/v1' ||"
		  " !has(self.mpiReplicaSpecs) ||"
		  " has(self.mpiReplicaSpecs.Launcher)",
		  "'the MPIJob has no `Launcher`'"),
	REJECTION("mpi-launcher", V1("MPIJob"),
		  "mpiReplicaSpecs.Launcher.replicas",
		  "object.apiVersion != 'kubeflow.org/v1' ||"
		  " !self.?mpiReplicaSpecs.Launcher.hasValue() ||"
		  " self.mpiReplicaSpecs.Launcher.?replicas.orValue(1) == 1",
		  "'`replicas` of `Launcher` is not 1'"),

	REJECTION("train-job-name", "TrainJob", "metadata.name", DNS_LABEL,
		  "'the name is not a DNS-1035 label'"),
	REJECTION("train-job-managed-by", "TrainJob", "spec.managedBy",
		  "self.spec.managedBy in"
		  " ['trainer.kubeflow.org/trainjob-controller',"
		  " 'kueue.x-k8s.io/multikueue']",
		  "'`managedBy` is not a controller of this kind'"),
	REJECTION("dataset-uri", "TrainJob:spec.initializer.dataset",
		  "storageUri", URI, "'`storageUri` is not a URI'"),
	REJECTION("model-uri", "TrainJob:spec.initializer.model", "storageUri",
		  URI, "'`storageUri` is not a URI'"),
	REJECTION("patched-env", "TrainJob:spec", NULL,
		  "self.?trainingRuntimeSpec.template.spec.replicatedJobs"
		  ".orValue([]).all(j, j.?template.spec.template.spec"
		  ".containers.orValue([]).all(c, c.?env.orValue([]).size()"
		  " == 0 || !(c.name in ['node', 'dataset-initializer',"
		  " 'model-initializer'])))",
		  "'a patch sets ' + self.trainingRuntimeSpec.template.spec"
		  ".replicatedJobs.map(j, j.?template.spec.template.spec"
		  ".containers.orValue([]).filter(c, c.?env.orValue([]).size()"
		  " > 0 && c.name in ['node', 'dataset-initializer',"
		  " 'model-initializer'])).flatten().map(c, '`' +"
		  " c.env[0].name + '` of container `' + c.name + '`')[0] +"
		  " ', but only the TrainJob itself may set its variables'",
		  .each = "runtimePatches"),
	REJECTION("policies", RUNTIMES, "mlPolicy",
		  "['torch', 'mpi', 'jax', 'xgboost', 'flux'].filter(k, k in"
		  " self.?mlPolicy.orValue({})).size() <= 1",
		  "'`mlPolicy` has more than one framework'"),
	REJECTION("train-job-runtime", TRAIN_JOB, "runtimeRef",
		  "self.runtimeRef.?apiGroup.orValue('trainer.kubeflow.org') =="
		  " 'trainer.kubeflow.org' && self.runtimeRef.?kind.orValue("
		  "'TrainingRuntime') in"
		  " ['TrainingRuntime', 'ClusterTrainingRuntime']",
		  "'`runtimeRef` is not a TrainingRuntime or"
		  " ClusterTrainingRuntime'"),
	REJECTION("patch-manager", TRAIN_JOB, "manager", MANAGER,
		  "'`manager` is not a name such as `example.com/name`'",
		  .each = "runtimePatches"),
	OF_RUNTIME("dataset-job", "initializer.dataset",
		   INITIALIZER("dataset-initializer"),
		   INITIALIZED("dataset-initializer")),
	OF_RUNTIME("model-job", "initializer.model",
		   INITIALIZER("model-initializer"),
		   INITIALIZED("model-initializer")),
	OF_RUNTIME("dataset-mount", "initializer.dataset",
		   MOUNTED("dataset-initializer"),
		   NOT_MOUNTED("dataset-initializer"), .since = "2.3"),
	OF_RUNTIME("model-mount", "initializer.model",
		   MOUNTED("model-initializer"),
		   NOT_MOUNTED("model-initializer"), .since = "2.3"),
	OF_RUNTIME("torch-env", "trainer.env",
		   HAS_NO("mlPolicy.torch")
			   ENV("PET_(NNODES|NPROC_PER_NODE|NODE_RANK|"
			       "MASTER_ADDR|MASTER_PORT)"),
		   ENV_OF("torchrun")),
	OF_RUNTIME("xgboost-env", "trainer.env",
		   HAS_NO("mlPolicy.xgboost")
			   ENV("DMLC_(TRACKER_URI|TRACKER_PORT|TASK_ID|"
			       "NUM_WORKER)"),
		   ENV_OF("XGBoost")),
	OF_RUNTIME("mpi-env", "trainer.env",
		   HAS_NO("mlPolicy.mpi")
			   ENV("OMPI_MCA_(orte_default_hostfile|plm_rsh_args|"
			       "orte_keep_fqdn_hostnames|"
			       "orte_set_default_slots)"),
		   ENV_OF("Open MPI"), .since = "2.3"),
	OF_RUNTIME(
		"mpi-nodes", "trainer.numNodes",
		HAS_NO("mlPolicy.mpi") PATCHED
		"self.trainer.numNodes < 2 || !runtime.spec"
		".mlPolicy.mpi.?runLauncherAsNode"
		".orValue(false) || (" TEMPLATES
		".exists(j, j.name == 'launcher') "
		"&& " TEMPLATES ".exists(j, j.name == 'node'))",
		"'`numNodes` is not 1, and the runtime has no jobs `launcher`"
		" and `node`'"),
	OF_RUNTIME(
		"env-injection", "runtimeRef",
		HAS_NO("mlPolicy.torch") PATCHED
		"runtime.spec.mlPolicy.torch.?envInjection"
		".targets.orValue([]).all(t,"
		" t.containerNames.all(n, " TEMPLATES
		".exists(j, j.name == t.jobName &&"
		" " ALL_CONTAINERS ".exists(c,"
		" c.name == n))))",
		"'`envInjection` of the runtime names a container that it does"
		" not have'",
		.since = "2.3"),
	OF_RUNTIME("flux-processes", "trainer.numProcPerNode",
		   HAS_NO("mlPolicy.flux") "self.trainer.numProcPerNode >= 1",
		   "'`numProcPerNode` is less than 1'", .since = "2.3"),
	OF_RUNTIME("flux-installer", "runtimeRef",
		   HAS_NO("mlPolicy.flux") PATCHED TEMPLATES
		   ".all(j, j.name != 'node' ||"
		   " !j.template.spec.template.spec.?initContainers"
		   ".orValue([]).exists(c, c.name == 'flux-installer'))",
		   "'the job `node` of the runtime has an init container"
		   " `flux-installer`, a name that Flux reserves'"),
	OF_RUNTIME("volcano-queue", "runtimeRef",
		   HAS_NO("podGroupPolicy.volcano") PATCHED
		   "runtime.spec.template.?metadata.annotations"
		   "[?'scheduling.volcano.sh/queue-name']"
		   ".orValue('default') != ''",
		   "'the runtime has an empty annotation"
		   " `scheduling.volcano.sh/queue-name`'"),
	OF_RUNTIME("tune-model", "runtimeRef.name",
		   NO_TUNE MODEL(SMALL_LLAMA "|" LARGE_LLAMA "|" QWEN),
		   "'the name of the runtime does not end in a model that"
		   " TorchTune supports'"),
	OF_RUNTIME(
		"tune-nodes", "trainer.numNodes",
		NO_TUNE "self.trainer.numNodes <= 1 || " MODEL(LARGE_LLAMA),
		"'`numNodes` is not 1, and TorchTune trains this model on one"
		" node'"),
	OF_RUNTIME("tune-qlora-model", "trainer.args",
		   NO_TUNE NODES " != 1 || !" MODEL(QWEN) " || !" QLORA,
		   "'TorchTune has no QLoRA for this model'"),
	OF_RUNTIME(
		"tune-qlora-devices", "trainer.args",
		NO_TUNE NODES " != 1 || !" MODEL(
			SMALL_LLAMA) " || !" QLORA
				     " || self.trainer.?numProcPerNode.orValue(2) == 1 ||"
				     " (self.trainer.?resourcesPerNode.orValue(null) != null ? " ONE_GPU(
					     "self.trainer.resourcesPerNode") " : " PATCHED
					     TEMPLATES ".exists(j, " CONTAINERS
									      ".exists(c, c.name == 'node' &&"
									      " c.?resources.orValue(null) != null && " ONE_GPU(
										      "c.resources") ")))",
		"'TorchTune has QLoRA for this model only on one GPU'"),
	OF_RUNTIME("tune-lora-nodes", "trainer.numNodes",
		   NO_TUNE "self.trainer.numNodes <= 1 || !(" ARG(
			   "model[.]lora_attn_modules") " || " QLORA ")",
		   "'`numNodes` is not 1, and TorchTune has LoRA only on one"
		   " node'",
		   .since = "2.3"),
	OF_RUNTIME(
		"tune-args", "trainer.args",
		NO_TUNE "!" ARG("^(output_dir|tokenizer[.](path|merges_file)|"
				"checkpointer[.]checkpoint_dir)(=.*)?$"),
		"'`args` sets a path that the runtime sets'", .since = "2.3"),
	REJECTION("runtime-replicas", RUNTIMES, "replicas",
		  NO_STEP "self.?replicas.orValue(1) == 1",
		  "'`replicas` of a job with a `trainjob-ancestor-step` is not"
		  " 1'",
		  .each = "template.spec.replicatedJobs"),
	REJECTION(
		"runtime-container", RUNTIMES,
		"template.spec.template.spec.containers",
		"!self.?template.spec.template.spec.containers.hasValue() || " NO_STEP
		"self.template.spec.template.spec.containers.exists("
		"c, c.name == (" STEP " == 'trainer' ? 'node' : " STEP "))",
		"'the job has no container for its `trainjob-ancestor-step`'",
		.each = "template.spec.replicatedJobs"),
	REJECTION("runtime-flux", RUNTIMES, "mlPolicy.flux.numProcPerNode",
		  "self.mlPolicy.flux.numProcPerNode >= 1",
		  "'`numProcPerNode` is less than 1'"),
	REJECTION("runtime-env-injection", RUNTIMES,
		  "mlPolicy.torch.envInjection.targets",
		  "!self.mlPolicy.torch.envInjection.targets.exists(t, 'node'"
		  " in t.containerNames)",
		  "'`envInjection` names the container `node`'",
		  .since = "2.3"),
	{0},
};

const struct rejections trainer_rejections = {
	.by = "the Kubeflow trainer",
	.group = "trainer.kubeflow.org",
	.items = items,
	.versions = "1.9, 2.2 to 2.3",
	.groups = true,
	.component = OPERATOR_TRAINER,
};
