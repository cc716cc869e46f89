/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports launchers whose number of nodes (--nnodes) is not the number of pods.
 * For an elastic range, the minimum counts; torchrun without a number runs on
 * one node. The number in the command overrides the range that the operator
 * sets from an elasticPolicy (PET_NNODES). Source: training-operator
 * pkg/controller.v1/pytorch/elastic.go;
 * pytorch/torch/distributed/argparse_util.py.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/object.h"

/* True if the ranks of a native kind may meet at another address than their
 * first pod's, so that pods of other objects may be ranks as well. */
static bool container_may_meet_others(const struct container *c)
{
	static const char *const flags[] = {"--master-addr", "--rdzv-endpoint",
					    "--main-process-ip", NULL};
	const struct object *object = c->pod->object;
	struct argv argv = container_argv(c);

	if (!text_eq(object->group, "batch") && !text_eq(object->group, "apps"))
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

static const struct node *elastic_policy(const struct object *object)
{
	return node_path(object->root, "spec.elasticPolicy");
}

/* Returns the largest number of pods of the template. An autoscaler may create
 * as many workers as the policy's maximum. */
static struct amount most(const struct pod *pod)
{
	const struct node *policy = elastic_policy(pod->object);

	if (node_is_unset(policy) || strcmp(pod->role, "Worker") != 0)
		return pod->steady;
	return amount_max(pod->steady,
			  amount_int(node_get(policy, "maxReplicas"), 0));
}

/* Counts the pods of all templates that run the same launcher. */
static struct amount ranks(const struct object *object, const char *program)
{
	struct amount sum = {0};

	FOR_EACH_POD(object, pod) {
		bool runs = false;

		FOR_EACH_CONTAINER(pod, c) {
			struct parallel_list list = container_parallel(c);

			for (size_t i = 0; i < list.n; i++)
				runs |= !strcmp(list.items[i].program, program);
		}
		if (runs)
			sum = amount_add(sum, most(pod));
	}
	return sum;
}

/* True if each rank may be a separate object, such as one Job for each rank,
 * but not if the Job has more parallelism than completions. */
static bool may_be_one_of_several(const struct object *object, int64_t pods)
{
	int64_t n;

	return pods < 2 && object->class != KIND_TRAINING &&
	       (!node_int(node_path(object->root, "spec.parallelism"), &n) ||
		n < 2);
}

/* True if the operator's variable replaces the template's number of nodes. */
static bool is_replaced(const struct object *object, const struct degree *nodes)
{
	const struct node *policy = elastic_policy(object);

	if (node_is_unset(policy))
		return false;
	return !object_is(object, "kubeflow.org", "PyTorchJob") ||
	       node_is_unknown(policy) || *nodes->by != '-';
}

/* True for the variable of LWS that is the same address in all pods of a group
 * (lws v0.8.0 pkg/utils/pod/pod_utils.go, AddLWSVariables). */
static bool is_leader_address(const struct object *object,
			      const struct arg *arg)
{
	return object_is(object, "leaderworkerset.x-k8s.io",
			 "LeaderWorkerSet") &&
	       text_eq(arg->variable, "LWS_LEADER_ADDRESS");
}

/*
 * True if the launchers of all pods of the template meet: the address and name
 * of the rendezvous are the same text in each pod, or the operator sets the
 * address of a Master. Sets *said if a flag contains the address.
 */
static bool meets(const struct container *c, bool *said)
{
	static const char *const flags[] = {"--rdzv-endpoint", "--master-addr",
					    "--main-process-ip", "--rdzv-id",
					    NULL};
	struct argv argv = container_argv(c);
	const struct node *roles =
		node_path(c->pod->object->root, "spec.pytorchReplicaSpecs");

	*said = false;
	for (const char *const *flag = flags; *flag; flag++) {
		const struct arg *arg;
		const char *value = argv_flag(&argv, *flag, &arg);

		if (arg && !is_leader_address(c->pod->object, arg) &&
		    (!value || strchr(value, '$') ||
		     text_starts(value, "localhost") ||
		     text_starts(value, "127.")))
			return false;
		*said |= arg && strcmp(*flag, "--rdzv-id") != 0;
	}
	return *said || !node_is_unset(node_get(roles, "Master"));
}

#define DEFAULT_NODES ", the default of `--nnodes`"

static void report_more(struct rule_run *run, const struct container *c,
			const struct parallel *launcher, int64_t pods)
{
	const struct degree *nodes = &launcher->degrees[DEGREE_NODES];
	const struct object *object = c->pod->object;
	bool many = nodes->n > 1, said;

	/* The pods may not run together: steps of a workflow follow each other.
	 * Without the flag, the operator or another variable may set the
	 * number. */
	if (pods < 2 || object->copies.n != 1 ||
	    text_eq(object->group, "argoproj.io") || !meets(c, &said) ||
	    (!many && (!said || object->class == KIND_TRAINING ||
		       container_env_from(c, "PET_NNODES"))))
		return;
	/* With one machine, accelerate does not use the address (accelerate
	 * 1.10 utils/launch.py, prepare_multi_gpu_env). */
	finding_severity(
		report_container(
			run, c, many ? nodes->node : launcher->node,
			"%s runs on %s%s, but %s runs %s: %s",
			launcher->program,
			rule_count(run, many ? nodes->n : 1, "node"),
			nodes->given ? "" : DEFAULT_NODES,
			rule_title(run, object->kind, object->name),
			rule_count(run, pods, "pod"),
			many || strcmp(launcher->program, "accelerate") != 0
				? "the other pods take no part but hold their GPUs"
				: "each pod trains alone"),
		SEVERITY_WARNING);
}

/* True if nothing in the command says how pods find each other, or that a pod
 * differs from the others, and nothing shows that it serves. */
static bool trains_alone(const struct container *c)
{
	static const char *const texts[] = {
		"$",	     "rdzv",	   "master", "node-rank",
		"node_rank", "standalone", NULL};
	static const char *const names[] = {"PET_NNODES", "PET_RDZV_ENDPOINT",
					    "PET_MASTER_ADDR", "PET_STANDALONE",
					    NULL};

	if (!node_is_unset(node_get(c->node, "ports")) ||
	    object_is(c->pod->object, "apps", "Deployment"))
		return false;
	for (const char *const *text = texts; *text; text++)
		if (container_says(c, *text))
			return false;
	for (const char *const *name = names; *name; name++)
		if (container_env(c, *name) || container_env_from(c, *name))
			return false;
	return true;
}

/* Reports pods of which each trains alone, unless its script divides the
 * work. */
static void report_alone(struct rule_run *run, const struct container *c,
			 const struct parallel *launcher, int64_t pods)
{
	const struct degree *nodes = &launcher->degrees[DEGREE_NODES];
	const struct object *object = c->pod->object;

	if (pods < 2 || nodes->n > 1 || object->copies.n != 1 ||
	    strcmp(launcher->program, "torchrun") != 0 ||
	    object->class == KIND_TRAINING ||
	    text_eq(object->group, "argoproj.io") || !trains_alone(c))
		return;
	finding_severity(
		report_container(
			run, c, launcher->node,
			"torchrun runs on 1 node%s, but %s runs %s: each trains alone, and they all do the same unless the script divides the work",
			nodes->given ? "" : DEFAULT_NODES,
			rule_title(run, object->kind, object->name),
			rule_count(run, pods, "pod")),
		SEVERITY_INFO);
}

static void report_fewer(struct rule_run *run, const struct container *c,
			 const struct parallel *launcher, int64_t pods)
{
	const struct degree *nodes = &launcher->degrees[DEGREE_NODES];
	const struct object *object = c->pod->object;
	struct finding *f = report_container(
		run, c, nodes->node, "%s waits for %s (`%s`), but %s runs %s%s",
		launcher->program, rule_count(run, nodes->n, "node"), nodes->by,
		rule_title(run, object->kind, object->name),
		node_is_unset(elastic_policy(object)) ? "" : "at most ",
		rule_count(run, pods, "pod"));

	if (!container_may_meet_others(c))
		return;
	finding_severity(f, SEVERITY_WARNING);
	finding_help(
		run, f,
		"Set the number of nodes to the number of pods, unless pods of other objects join.");
}

static void check_launcher(struct rule_run *run, const struct container *c,
			   const struct parallel *launcher)
{
	const struct degree *nodes = &launcher->degrees[DEGREE_NODES];
	const struct object *object = c->pod->object;
	struct amount pods;

	if (nodes->unknown || nodes->all || launcher->spread ||
	    launcher->type != PARALLEL_LAUNCHER ||
	    !strcmp(launcher->program, "deepspeed") ||
	    (nodes->given && is_replaced(object, nodes)))
		return;
	pods = ranks(object, launcher->program);
	if (pods.unknown || object->copies.unknown)
		return;
	if (nodes->given && nodes->n > pods.n &&
	    !may_be_one_of_several(object, pods.n))
		report_fewer(run, c, launcher, pods.n);
	else if (nodes->n < pods.n && nodes->max <= nodes->n &&
		 !launcher->unknown && node_is_unset(elastic_policy(object)) &&
		 (nodes->given || !strcmp(launcher->program, "torchrun"))) {
		report_more(run, c, launcher, pods.n);
		report_alone(run, c, launcher, pods.n);
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;

	/* A single pod may be one of several ranks. Most objects have one. */
	if ((object->npods == 1 && !pod->steady.unknown &&
	     may_be_one_of_several(object, pod->steady.n)) ||
	    object->pods_inferred || object->parent ||
	    object->class == KIND_POD || object->class == KIND_TEMPLATE ||
	    object->class == KIND_RAY || object->class == KIND_DAEMON)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (container_uses_gpu(c) == TRI_NO)
			continue;
		list = container_parallel(c);
		for (size_t i = 0; i < list.n; i++)
			check_launcher(run, c, &list.items[i]);
	}
}

const struct rule rule_nnodes_mismatch = {
	.name = "nnodes-mismatch",
	.category = "parallelism",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS,
	.summary =
		"a launcher expects more or fewer nodes than the object has pods",
	.why = "With more nodes than pods the rendezvous never completes: all pods hold their GPUs until it times out, and do so again after each restart. With fewer nodes, the other pods do not train, but hold their GPUs, or each pod trains alone.",
	.remedy =
		"Set the number of nodes to the number of pods that run the command, or leave it to the operator, which sets PET_NNODES.",
	.evidence = "https://docs.pytorch.org/docs/stable/elastic/run.html",
	.check_pod = check,
};
