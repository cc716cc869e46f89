/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torchrun sets OMP_NUM_THREADS=1 itself, and bound processes see their own
 * cores only.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/argv.h"
#include "kube/command/parallel.h"

/* Of processes that mpirun does not bind to cores. */
static bool is_unbound(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(rule_arena(run), c);
	const char *to = argv_flag(&argv, "-bind-to", NULL);

	if (!to)
		to = argv_flag(&argv, "--bind-to", NULL);
	return text_eq(to, "none");
}

static bool has_several(const struct parallel *parallel)
{
	const struct degree *n = &parallel->degrees[DEGREE_PROCESSES];

	return n->given && (n->all || n->n > 1);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;
		struct quantity cpu;

		if (container_devices(c) < 2 ||
		    container_env(c, "OMP_NUM_THREADS") ||
		    container_limit(c, "cpu", &cpu) != QUANTITY_ABSENT ||
		    !node_is_unset(node_get(c->node, "envFrom")))
			continue;
		list = container_parallel(c);
		if (list.n == 1 && !list.items[0].unknown &&
		    list.items[0].type == PARALLEL_MPI &&
		    has_several(&list.items[0]) && is_unbound(run, c))
			report_container(
				run, c, list.items[0].node,
				"if the program uses OpenMP, each process of "
				"container `%s` starts a thread for every CPU "
				"of the node",
				container_title(c));
	}
}

const struct rule rule_thread_oversubscription = {
	.name = "thread-oversubscription",
	.category = "parallelism",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.wants = FACT_DEVICES,
	.since = "1.0",
	.summary =
		"several processes in a container, each with threads for all CPUs",
	.why = "Without a CPU limit and OMP_NUM_THREADS every process starts a thread for each CPU of the node: they wait for each other and the GPUs for them.",
	.remedy =
		"Set OMP_NUM_THREADS to the CPUs of the container divided by the processes.",
	.evidence =
		"https://docs.pytorch.org/docs/stable/notes/multiprocessing.html",
	.check_pod = check,
};
