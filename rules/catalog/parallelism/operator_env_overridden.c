/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports environment variables that the operator sets as well. setPodEnv() of
 * the training operator appends variables, some of them only if there is a
 * master. Elastic jobs get PET_RDZV_* instead. Jobs of the other frameworks,
 * and launchers of the MPI operator, get other variables. Trainer v2 rejects a
 * TrainJob that sets them, if its runtime has the torch policy. Source:
 * training-operator v1.9.0 pkg/controller.v1: pytorch/envvar.go,
 * tensorflow/tfjob_controller.go SetClusterSpec, xgboost/xgboost.go,
 * jax/envvar.go, paddlepaddle/envvar.go; trainer v2.0.0 to v2.3.0
 * pkg/runtime/framework/plugins/torch/torch.go Validate, pkg/constants
 * TorchRunReservedEnvNames.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/runtime.h"

#define OPERATOR "the training operator"

/* Variables of a job with a master; a job without one gets only the first
 * two. */
static const char *const pytorch[] = {
	"PET_NNODES",	 "PET_NPROC_PER_NODE", "MASTER_ADDR",
	"MASTER_PORT",	 "WORLD_SIZE",	       "RANK",
	"PET_NODE_RANK", "PET_MASTER_ADDR",    "PET_MASTER_PORT"};
enum { WITHOUT_MASTER = 2, WITH_MASTER = ARRAY_SIZE(pytorch) };

static const char *const trainer[] = {"PET_NNODES", "PET_NPROC_PER_NODE",
				      "PET_NODE_RANK", "PET_MASTER_ADDR",
				      "PET_MASTER_PORT"};

/* Variables that the training operator sets for other frameworks. */
static const struct framework {
	const char *kind, *replicas;
	const char *container; /* NULL: all containers */
	bool several;	       /* only in jobs of at least two pods */
	const char *names[7];
} frameworks[] = {
	{"TFJob",
	 "spec.tfReplicaSpecs",
	 "tensorflow",
	 true,
	 {"TF_CONFIG", NULL}},
	{"XGBoostJob",
	 "spec.xgbReplicaSpecs",
	 NULL,
	 false,
	 {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", NULL}},
	{"XGBoostJob",
	 "spec.xgbReplicaSpecs",
	 NULL,
	 true,
	 {"WORKER_ADDRS", "WORKER_PORT", NULL}},
	{"JAXJob",
	 "spec.jaxReplicaSpecs",
	 NULL,
	 false,
	 {"COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES",
	  "PROCESS_ID", NULL}},
	{"PaddleJob",
	 "spec.paddleReplicaSpecs",
	 NULL,
	 false,
	 {"PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER", NULL}},
};

/* Variables that mpi-operator 0.8.2 appends to the first container of the
 * launcher (pkg/controller/mpi_job_controller.go, newLauncherPodTemplate). */
static const struct mpi_variable {
	const char *implementation, *name;
} mpi[] = {
	{"OpenMPI", "OMPI_MCA_orte_keep_fqdn_hostnames"},
	{"OpenMPI", "OMPI_MCA_orte_default_hostfile"},
	{"OpenMPI", "OMPI_MCA_plm_rsh_args"},
	{"OpenMPI", "OMPI_MCA_orte_set_default_slots"},
	{"Intel", "I_MPI_HYDRA_HOST_FILE"},
	{"Intel", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"},
	{"Intel", "I_MPI_PERHOST"},
	{"MPICH", "HYDRA_HOST_FILE"},
	{"MPICH", "HYDRA_LAUNCH_EXTRA_ARGS"},
};

static bool is_elastic(const struct object *object)
{
	return !node_is_unset(node_path(object->root, "spec.elasticPolicy"));
}

static void check_variable(struct rule_run *run, const struct container *c,
			   const char *by, const char *name)
{
	const struct node *entry = container_env(c, name);
	struct finding *f;

	if (!entry)
		return;
	f = report_container(run, c, entry,
			     "%s sets `%s` itself, which overrides this value",
			     by, name);
	fix_remove(finding_fix(run, f, false, "remove `%s`", name), entry);
}

/* Checks a variable of a TrainJob whose runtime is not in the input. If the
 * runtime is, trainer-rejects reads its policy. The names of Trainer's own
 * runtimes for PyTorch begin with "torch". */
static void check_trainer(struct rule_run *run, const struct container *c,
			  const char *name)
{
	const struct node *entry = container_env(c, name);
	const char *runtime = node_str(
		node_path(c->pod->object->root, "spec.runtimeRef.name"));
	bool torch = text_starts(runtime, "torch");
	const struct runtime_use *uses = c->pod->object->uses;
	struct finding *f;

	if (!entry || (uses && uses->runtime->root))
		return;
	f = report_container(run, c, entry,
			     "%sKubeflow Trainer rejects a TrainJob that sets "
			     "`%s`",
			     torch ? "" : "if its runtime is a torch runtime, ",
			     name);
	finding_severity(f, torch ? SEVERITY_WARNING : SEVERITY_INFO);
	finding_help(
		run, f,
		"Remove the variable; `trainer.numNodes` and `trainer.numProcPerNode` set the numbers.");
	fix_remove(finding_fix(run, f, false, "remove `%s`", name), entry);
}

/* True if the job certainly has two pods or more. */
static bool has_several(const struct object *object, const char *replicas)
{
	int64_t sum = 0, n;

	FOR_EACH_CHILD(node_path(object->root, replicas), one) {
		const struct node *count = node_get(one, "replicas");

		if (node_is_unset(count))
			sum++;
		else if (node_int(count, &n) && n > 0)
			sum += n;
	}
	return sum > 1;
}

static void check_framework(struct rule_run *run, const struct pod *pod,
			    const struct framework *framework)
{
	if (!object_is(pod->object, "kubeflow.org", framework->kind) ||
	    (framework->several &&
	     !has_several(pod->object, framework->replicas)))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN ||
		    (framework->container &&
		     !text_eq(c->name, framework->container)))
			continue;
		for (const char *const *name = framework->names; *name; name++)
			check_variable(run, c, OPERATOR, *name);
	}
}

static void check_mpi(struct rule_run *run, const struct pod *pod)
{
	const struct node *is =
		node_path(pod->object->root, "spec.mpiImplementation");
	const char *implementation =
		node_is_unset(is) ? "OpenMPI" : node_str(is);

	if (!object_is(pod->object, "kubeflow.org", "MPIJob") ||
	    !text_eq(pod->object->version, "v2beta1") ||
	    !text_eq(pod->role, "Launcher"))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(mpi); i++)
			if (text_eq(mpi[i].implementation, implementation))
				check_variable(run, c, "the MPI operator",
					       mpi[i].name);
		return;
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;
	bool v2 = object_is(object, "trainer.kubeflow.org", "TrainJob");
	size_t n;

	check_mpi(run, pod);
	for (size_t i = 0; i < ARRAY_SIZE(frameworks); i++)
		check_framework(run, pod, &frameworks[i]);
	if (!v2 && (!object_is(object, "kubeflow.org", "PyTorchJob") ||
		    is_elastic(object)))
		return;
	n = object_has_role(object, "Master") ? WITH_MASTER : WITHOUT_MASTER;
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN)
			continue;
		for (size_t i = 0; !v2 && i < n; i++)
			check_variable(run, c, OPERATOR, pytorch[i]);
		for (size_t i = 0; v2 && i < ARRAY_SIZE(trainer); i++)
			check_trainer(run, c, trainer[i]);
	}
}

const struct rule rule_operator_env_overridden = {
	.name = "operator-env-overridden",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.summary =
		"an environment variable that the operator of the job also sets",
	.why = "The operator appends its own variable, and the last one wins, so the value in the template has no effect. Kubeflow Trainer v2 instead rejects a TrainJob that sets such a variable, if its runtime is a torch runtime.",
	.remedy =
		"Remove the variable, and set the number of nodes and processes in the job's own fields.",
	.evidence =
		"https://github.com/kubeflow/training-operator/blob/v1.9.0/pkg/controller.v1/pytorch/envvar.go",
	.check_pod = check,
};
