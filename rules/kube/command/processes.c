/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number of processes that a launcher starts in its container, and their
 * possible peers. Source: training-operator 1.8 and 1.9,
 * pkg/controller.v1/pytorch/envvar.go setPodEnv: with or without a master.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kube/address.h"
#include "kube/command/argv.h"
#include "kube/command/parallel.h"
#include "kube/object.h"

/* The field of a PyTorchJob or TrainJob that torchrun gets from its operator,
 * or NULL. */
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

int64_t launcher_processes(const struct container *c,
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

bool container_may_meet_others(const struct container *c)
{
	static const char *const flags[] = {"--master-addr", "--rdzv-endpoint",
					    "--main-process-ip", NULL};
	const struct object *object = c->pod->object;
	struct argv argv = container_argv(c);

	if (!object_is(object, "batch", "Job") &&
	    !text_eq(object->group, "apps"))
		return false;
	for (const char *const *flag = flags; *flag; flag++) {
		const struct arg *arg;
		const char *value = argv_flag(&argv, *flag, &arg);
		size_t len;

		if (arg &&
		    (!value || !first_pod_subdomain(object, value, &len)))
			return true;
	}
	return false;
}
