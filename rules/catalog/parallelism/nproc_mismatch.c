/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports launchers that start more or fewer processes than the container has
 * GPUs, or more than a visibility variable leaves visible. A process uses one
 * GPU unless the program uses several itself. Source for the number of
 * processes: training-operator 1.8 and 1.9, pkg/controller.v1/pytorch/envvar.go
 * setPodEnv, with or without a master.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/purpose/purpose.h"

/* Returns the field of a PyTorchJob or TrainJob whose value the operator passes
 * to torchrun, or NULL. */
static const struct node *job_field(const struct container *c)
{
	const struct object *object = c->pod->object;
	const struct node *spec = node_get(object->root, "spec");
	const struct node *n = node_path(spec, "elasticPolicy.nProcPerNode");

	if (object_is(object, "trainer.kubeflow.org", "TrainJob"))
		return node_path(spec, "trainer.numProcPerNode");
	if (!object_is(object, "kubeflow.org", "PyTorchJob"))
		return NULL;
	return node_is_unset(n) ? node_get(spec, "nprocPerNode") : n;
}

/*
 * Returns the number of processes that the launcher starts on this node; 0 if
 * unknown, or if it starts one for each device. Sets *at to the flag, or to the
 * field of the PyTorchJob or TrainJob whose value the operator passes to
 * torchrun; or to NULL.
 */
static int64_t launcher_processes(const struct container *c,
				  const struct parallel *launcher,
				  const struct node **at)
{
	const struct degree *by;
	int64_t n = parallel_devices(launcher, &by);

	*at = by ? by->node : NULL;
	if (n || launcher->spread || launcher->cpu ||
	    strcmp(launcher->program, "torchrun") ||
	    launcher->degrees[DEGREE_PROCESSES].given || !job_field(c))
		return n;
	*at = job_field(c);
	return node_str(*at) ? strtol(node_str(*at), NULL, 10)
			     : amount_int(*at, 0).n;
}

/* Returns the word that sets the variable for torchrun: in its command, or by
 * `export` before it. Returns NULL if there is none, or more than one. */
static const struct arg *assignment(const struct argv *argv, const char *name)
{
	static const char *const launchers[] = {
		"torchrun", "torch.distributed.run", "torch.distributed.launch",
		NULL};
	const struct arg *set = argv_assigns(argv, name, NULL), *word = set;
	bool exports;

	if (!set || argv_assigns(argv, name, set))
		return NULL;
	while (word > argv->items && !word->first)
		word--;
	exports = text_eq(word->text, "export");
	for (word = set + 1;
	     word < argv->items + argv->n && (exports || !word->first); word++)
		if (text_any(word->base, launchers, text_eq))
			return set;
	return NULL;
}

/* Returns the number of devices in the list that the command gives the
 * variable, and sets *at. Returns INT64_MAX if there is none. */
static int64_t assigned_entries(const struct container *c, const char *name,
				const struct node **at)
{
	const struct argv argv = container_argv(c);
	const struct arg *set = assignment(&argv, name);
	const char *list = set ? set->text + strlen(name) + 1 : "";

	if (!*list || set->unknown || device_list_fault(list, 0) ||
	    container_may_choose(c))
		return INT64_MAX;
	*at = set->node;
	return device_list_size(list);
}

/* Returns the number of devices in a visibility variable and sets *at to its
 * value. Returns INT64_MAX if it is not a valid list, or if something else in
 * the container mentions the variable. */
static int64_t entries(const struct container *c, const char *name,
		       const struct node **at)
{
	struct env_value value;
	enum visible visible = container_visible(c, name, &value);

	if (visible == VISIBLE_UNSET)
		return assigned_entries(c, name, at);
	if (visible != VISIBLE_SOME || device_list_fault(value.text, 0) ||
	    !container_env_is_free(c, container_env(c, name)))
		return INT64_MAX;
	*at = value.at;
	return device_list_size(value.text);
}

/* True if the container is or may be for CPUs, because of an empty list, or if
 * its devices are shared (MPS). */
static bool counts_otherwise(const struct container *c)
{
	return (container_env(c, "CUDA_VISIBLE_DEVICES") &&
		container_visible(c, "CUDA_VISIBLE_DEVICES", NULL) !=
			VISIBLE_SOME) ||
	       container_env(c, "CUDA_MPS_PIPE_DIRECTORY");
}

/* Compares the processes with a visibility variable. Returns true if it reports
 * too few devices. Each process of torchrun uses the device of its local rank
 * among the visible ones. DeepSpeed and accelerate set the variable
 * themselves. */
static bool check_visible(struct rule_run *run, const struct container *c,
			  const struct parallel *launcher, int64_t n)
{
	const char *name = text_eq(c->accelerator->vendor, "amd")
				   ? "HIP_VISIBLE_DEVICES"
				   : "CUDA_VISIBLE_DEVICES";
	const struct node *value = NULL, *at;
	int64_t visible = entries(c, name, &value);
	struct finding *f;

	if (!strcmp(launcher->program, "accelerate") ||
	    !strcmp(launcher->program, "deepspeed") || n <= visible ||
	    counts_otherwise(c))
		return false;
	launcher_processes(c, launcher, &at);
	f = report_container(
		run, c, at,
		"%s starts %s, but `%s` leaves them %s of container `%s`",
		launcher->program, rule_count(run, n, "process"), name,
		rule_count(run, visible, pod_device(c->pod)),
		container_title(c));
	if (value != at)
		finding_label(run, f, value,
			      "the devices that the processes see");
	return true;
}

/* Returns ": if each process uses one GPU, 4 GPUs are idle". */
static const char *idle_devices(struct rule_run *run, int64_t n,
				const char *device)
{
	return arena_printf(rule_arena(run),
			    ": if each process uses one %s, %s %s idle", device,
			    rule_count(run, n, device), n == 1 ? "is" : "are");
}

static void check_launcher(struct rule_run *run, const struct container *c,
			   const struct parallel *launcher, bool only)
{
	const struct node *at;
	int64_t n = launcher_processes(c, launcher, &at);
	int64_t has = container_devices(c);
	const char *device = pod_device(c->pod);
	struct finding *f;

	if (launcher->type != PARALLEL_LAUNCHER || !n ||
	    (n <= has && check_visible(run, c, launcher, n)) || n == has ||
	    (n < has && !only) || counts_otherwise(c))
		return;
	f = report_container(run, c, at,
			     "%s starts %s for the %s of container `%s`%s",
			     launcher->program, rule_count(run, n, "process"),
			     rule_count(run, has, device), container_title(c),
			     n < has ? idle_devices(run, has - n, device) : "");
	/* One process may use all devices itself. */
	if (n < has && n == 1)
		finding_severity(f, SEVERITY_INFO);
}

static bool one_fits(const struct container *c,
		     const struct parallel_list *list)
{
	const struct node *at;

	for (size_t i = 0; i < list->n; i++) {
		int64_t n = launcher_processes(c, &list->items[i], &at);

		if (list->items[i].type == PARALLEL_LAUNCHER &&
		    n <= container_devices(c))
			return true;
	}
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (!container_devices(c))
			continue;
		list = container_parallel(c);
		/* If one of several launchers starts no more processes than
		 * there are devices, it may be the one that runs. */
		if (list.n > 1 && one_fits(c, &list))
			continue;
		for (size_t i = 0; i < list.n; i++)
			check_launcher(run, c, &list.items[i], list.n == 1);
	}
}

const struct rule rule_nproc_mismatch = {
	.name = "nproc-mismatch",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.summary =
		"a launcher starts more processes than the container has GPUs, or fewer",
	.why = "Processes that have no GPU fail with `invalid device ordinal` or `Duplicate GPU detected`; GPUs without a process may be idle.",
	.remedy =
		"Let the launcher count the GPUs (torchrun: --nproc-per-node=gpu), or start as many processes as the container has GPUs.",
	.evidence =
		"https://docs.pytorch.org/docs/stable/elastic/run.html; https://huggingface.co/docs/accelerate/package_reference/cli",
	.check_pod = check,
};
