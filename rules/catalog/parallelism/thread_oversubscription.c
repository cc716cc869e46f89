/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers in which mpirun or deepspeed starts several processes that
 * each may start a thread per CPU, because it does not bind them (mpirun with
 * `--bind-to none`). Bound processes see only their cores. DeepSpeed binds them
 * and sets OMP_NUM_THREADS only with --bind_cores_to_rank
 * (deepspeed/launcher/launch.py). The rule does not check torchrun, which sets
 * OMP_NUM_THREADS=1.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/parallel.h"
#include "kube/purpose/purpose.h"

static bool is_deepspeed(const struct parallel *parallel)
{
	return text_eq(parallel->program, "deepspeed");
}

/* True if the launcher does not bind its processes to cores. */
static bool is_unbound(const struct container *c,
		       const struct parallel *parallel)
{
	struct argv argv = container_argv(c);
	const char *to = argv_flag(&argv, "-bind-to", NULL);

	if (is_deepspeed(parallel))
		return !argv_have(&argv, "--bind-cores-to-rank");
	if (!to)
		to = argv_flag(&argv, "--bind-to", NULL);
	return text_eq(to, "none");
}

static bool has_several(const struct parallel *parallel)
{
	const struct degree *n = &parallel->degrees[DEGREE_PROCESSES];

	return n->given && (n->all || n->n > 1);
}

/* True if the command sets the number of threads (`mpirun -x
 * OMP_NUM_THREADS=8`), or its program uses none (NCCL's tests). */
static bool needs_no_number(const struct container *c)
{
	struct argv argv = container_argv(c);

	for (size_t i = 0; i < argv.n; i++)
		if (text_starts(argv.items[i].text, "OMP_NUM_THREADS") ||
		    text_ends(argv.items[i].text, "_perf"))
			return true;
	return false;
}

/* Returns the container's mpirun or deepspeed if it starts several processes
 * per node, or NULL. */
static const struct parallel *own_launch(const struct container *c)
{
	struct parallel_list list = container_parallel(c);

	return list.n == 1 && !list.items[0].unknown &&
			       (list.items[0].type == PARALLEL_MPI ||
				is_deepspeed(&list.items[0])) &&
			       has_several(&list.items[0]) &&
			       is_unbound(c, &list.items[0]) &&
			       !needs_no_number(c)
		       ? &list.items[0]
		       : NULL;
}

/* Returns the mpirun of the launcher that starts the container's processes, or
 * NULL. */
static const struct parallel *launchers_mpi(const struct container *c)
{
	FOR_EACH_POD(c->pod->object, pod) {
		if (pod == c->pod || !pod_is_launcher(pod))
			continue;
		FOR_EACH_CONTAINER(pod, launcher) {
			const struct parallel *mpi = own_launch(launcher);

			if (mpi && !container_env(launcher, "OMP_NUM_THREADS"))
				return mpi;
		}
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const struct parallel *own, *mpi;
		struct quantity cpu;
		struct finding *f;

		if (container_devices(c) < 2 ||
		    container_env(c, "OMP_NUM_THREADS") ||
		    container_limit(c, "cpu", &cpu) != QUANTITY_ABSENT ||
		    !node_is_unset(node_get(c->node, "envFrom")))
			continue;
		own = own_launch(c);
		mpi = own ? own : launchers_mpi(c);
		if (!mpi)
			continue;
		f = report_container(
			run, c, own ? own->node : NULL,
			"container `%s` sets neither a CPU limit nor OMP_NUM_THREADS: if its processes use OpenMP, each starts a thread for every CPU of the node",
			container_title(c));
		if (!own)
			finding_label(run, f, mpi->node,
				      "starts the processes");
	}
}

const struct rule rule_thread_oversubscription = {
	.name = "thread-oversubscription",
	.category = "parallelism",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.summary =
		"each of several processes in a container may start threads for all CPUs of the node",
	.why = "If neither a CPU limit nor OMP_NUM_THREADS is set, every process that uses OpenMP starts a thread for each CPU of the node: the threads wait for each other, and the GPUs wait for the threads.",
	.remedy =
		"Set OMP_NUM_THREADS to the number of CPUs that the container may use, divided by its number of processes.",
	.evidence =
		"https://docs.pytorch.org/docs/stable/notes/multiprocessing.html",
	.check_pod = check,
};
