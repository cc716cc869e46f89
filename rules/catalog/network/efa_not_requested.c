/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU containers in which FI_PROVIDER is efa, set by env, a command or
 * the MPI launcher, but which get no EFA interface. libfabric finds interfaces
 * only if the device plugin, a claim or the host gives them to the container. A
 * network driver (DRANET) gives the devices of a claim to all containers of the
 * pod. A Job of one pod may use shared memory alone, so it is skipped. Source:
 * aws/aws-ofi-nccl; AWS's guide of EFA on EKS.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"

/* True if the container has the node's /dev, or a part of it that may contain
 * EFA interfaces. */
static bool mounts_devices(const struct container *c)
{
	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount) {
		const char *name = node_str(node_get(mount, "name"));
		const struct node *volume =
			name ? pod_volume(c->pod, name) : NULL;
		const char *path = node_str(node_path(volume, "hostPath.path"));

		if (path && (text_eq(path, "/dev") || text_eq(path, "/dev/") ||
			     text_starts(path, "/dev/infiniband")))
			return true;
	}
	return false;
}

/* Returns the word of an MPI launcher that sets the variable in its ranks
 * (`mpirun -x FI_PROVIDER=efa`), or NULL. */
static const struct node *launcher_word(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		FOR_EACH_CONTAINER(pod, c) {
			const struct argv argv = container_argv(c);

			for (size_t i = 1; i < argv.n; i++)
				if (text_eq(argv.items[i].text,
					    "FI_PROVIDER=efa") &&
				    text_eq(argv.items[i - 1].text, "-x"))
					return argv.items[i].node;
		}
	return NULL;
}

/* Returns the node that selects EFA for the container, or NULL. */
static const struct node *selects_efa(const struct container *c)
{
	const struct env_value value = container_env_value(c, "FI_PROVIDER");
	const struct argv argv = container_argv(c);
	const struct arg *arg = argv_assigns(&argv, "FI_PROVIDER", NULL);

	if (arg)
		return text_eq(arg->text, "FI_PROVIDER=efa") ? arg->node : NULL;
	if (value.state != ENV_UNSET)
		return text_eq(value.text, "efa") ? value.at : NULL;
	return launcher_word(c->pod->object);
}

/* True for the only pod of a Job. */
static bool is_alone(const struct pod *pod)
{
	return pod->object->class == KIND_BATCH && pod->object->npods == 1 &&
	       !pod->steady.unknown && pod->steady.n == 1;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (is_alone(pod))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *own = container_limits(c);
		const struct node *at;

		if (c->gpus.n < 1 || node_is_unknown(own) ||
		    node_get(own, "vpc.amazonaws.com/efa") ||
		    !node_is_unset(pod_field(pod, "resourceClaims")) ||
		    node_is_true(container_security(c, "privileged")) ||
		    mounts_devices(c))
			continue;
		at = selects_efa(c);
		if (at)
			report_container(
				run, c, at,
				"FI_PROVIDER is `efa`, but container `%s` requests no vpc.amazonaws.com/efa: traffic between nodes falls back to TCP, or fails",
				container_title(c));
	}
}

const struct rule rule_efa_not_requested = {
	.name = "efa-not-requested",
	.category = "network",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a GPU container uses FI_PROVIDER=efa but requests no EFA interface",
	.why = "The device plugin gives EFA interfaces only to containers that request them. Without them, NCCL uses TCP, which is many times slower, or fails.",
	.remedy =
		"Request hugepages-2Mi, and as many vpc.amazonaws.com/efa as the instance type has.",
	.evidence =
		"https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html; https://github.com/aws/sagemaker-hyperpod-cli/issues/306",
	.check_pod = check,
};
