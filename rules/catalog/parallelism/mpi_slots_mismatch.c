/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports MPI jobs whose mpirun starts more or fewer processes than the
 * workers have slots. The operator writes a hostfile with slotsPerWorker (1 by
 * default) for each worker; MPICH and Intel MPI silently start more processes
 * than that.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/parallel.h"
#include "kube/lifecycle/lifecycle.h"

/* True if a variable may allow more processes than slots, such as
 * OMPI_MCA_rmaps_base_oversubscribe=1 or
 * PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe. */
static bool is_set_to_oversubscribe(const struct container *c)
{
	for (size_t i = 0; i < c->nenv; i++) {
		const struct node *entry = c->env[i].node;
		const char *name = node_str(node_get(entry, "name"));
		const char *value = node_str(node_get(entry, "value"));

		if ((name && strcasestr(name, "oversubscribe")) ||
		    (value && strcasestr(value, "oversubscribe")))
			return true;
	}
	return false;
}

/* True if the command has its own list of hosts, or may start more processes
 * than slots. */
static bool places_itself(const struct container *c)
{
	static const char *const flags[] = {
		"-H",	      "-host",	    "--host",
		"-hostfile",  "--hostfile", "-machinefile",
		"-rankfile",  "-rf",	    "--machinefile",
		"--rankfile", NULL};
	struct argv argv = container_argv(c);

	if (argv_have_any(&argv, flags))
		return true;
	for (size_t i = 0; i < argv.n; i++)
		if (argv.items[i].text &&
		    strcasestr(argv.items[i].text, "oversubscribe"))
			return true;
	return is_set_to_oversubscribe(c);
}

/* True if the command sets the number of processes per node. Each process may
 * then start others, or use all devices of its node (`-np 2 --map-by ppr:1:node
 * all_reduce_perf -g 8`). */
static bool counts_by_node(const struct container *c,
			   const struct parallel *mpi)
{
	static const char *const flags[] = {"-N",      "-pernode", "--pernode",
					    "-bynode", "--bynode", NULL};
	struct argv argv = container_argv(c);
	const struct arg *arg;
	const char *by = argv_flag(&argv, "--map-by", &arg);

	return mpi->degrees[DEGREE_PROCESSES].given ||
	       (arg && (!by || strstr(by, "node"))) ||
	       argv_have_any(&argv, flags);
}

static struct amount slots(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct amount workers = {0};

	FOR_EACH_POD(object, pod)
		if (!strcmp(pod->role, "Worker") ||
		    node_is_true(node_get(spec, "runLauncherAsWorker")))
			workers = amount_add(workers, pod->steady);
	return amount_mul(workers,
			  amount_int(node_get(spec, "slotsPerWorker"), 1));
}

static bool is_open_mpi(const struct object *object)
{
	const struct node *kind =
		node_path(object->root, "spec.mpiImplementation");

	return node_is_unset(kind) || node_eq(kind, "OpenMPI");
}

static void check_launcher(struct rule_run *run, const struct container *c,
			   const struct parallel *mpi)
{
	const struct degree *total = &mpi->degrees[DEGREE_TOTAL];
	struct amount have = slots(c->pod->object);
	struct finding *f;

	if (!total->n || total->unknown || have.unknown || !have.n ||
	    total->n == have.n || mpi->spread || places_itself(c))
		return;
	if (total->n > have.n && !is_open_mpi(c->pod->object))
		return;
	if (total->n < have.n && counts_by_node(c, mpi))
		return;
	f = report_container(run, c, total->node,
			     "%s starts %s, but the workers have %s",
			     mpi->program, rule_count(run, total->n, "process"),
			     rule_count(run, have.n, "slot"));
	if (total->n > have.n)
		finding_severity(f, SEVERITY_ERROR);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!object_is(pod->object, "kubeflow.org", "MPIJob") ||
	    !object_gpu_pod(pod->object) || strcmp(pod->role, "Launcher"))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list = container_parallel(c);

		if (list.n == 1 && list.items[0].type == PARALLEL_MPI)
			check_launcher(run, c, &list.items[0]);
	}
}

const struct rule rule_mpi_slots_mismatch = {
	.name = "mpi-slots-mismatch",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.flags = RULE_RAISES,
	.summary =
		"mpirun starts more or fewer processes than the workers have slots",
	.why = "If there are too few slots, Open MPI exits with `not enough slots`; if there are too many, the GPUs of the unused slots may be idle.",
	.remedy =
		"Set -np to slotsPerWorker times the number of workers (with runLauncherAsWorker, the launcher counts as one).",
	.evidence =
		"https://github.com/kubeflow/mpi-operator; https://docs.open-mpi.org/en/v5.0.x/launching-apps/scheduling.html",
	.check_pod = check,
};
