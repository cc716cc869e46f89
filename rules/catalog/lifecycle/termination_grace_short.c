/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports short grace periods. A pod that is evicted or replaced has
 * terminationGracePeriodSeconds, 30 by default, to write a checkpoint or to
 * finish its requests. On spot nodes the provider's notice is the limit
 * (spot-grace-too-long). Skips kinds made for serving if the period is unset,
 * because their operators set it, and servers that a Job starts for itself.
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_PodSpec (30 s).
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/affinity.h"

static bool is_checkpoint(const char *text)
{
	return text_contains_ci(text, "checkpoint") ||
	       text_contains_ci(text, "ckpt");
}

/* Returns a mount for checkpoints on storage that outlives the pod, or NULL. */
static const struct node *checkpoint_mount(const struct pod *pod,
					   const struct container *c)
{
	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount) {
		const char *name = node_str(node_get(mount, "name"));
		const struct node *volume = name ? pod_volume(pod, name) : NULL;

		if (!volume || node_get(volume, "emptyDir") ||
		    node_get(volume, "configMap") ||
		    node_is_true(node_get(mount, "readOnly")))
			continue;
		if (is_checkpoint(name) ||
		    is_checkpoint(node_str(node_get(mount, "mountPath"))))
			return mount;
	}
	return NULL;
}

static bool needs_grace(const struct container *c)
{
	struct container_command command = container_command(c);

	/* A preStop hook shows that the author has considered the end of the
	 * pod. */
	if (!node_is_unset(node_path(c->node, "lifecycle.preStop")))
		return false;
	return command.type != COMMAND_WAITS &&
	       command.type != COMMAND_INTERACTIVE && !image_is_cpu(c->image);
}

static const struct node *needs_time(const struct pod *pod, bool *serving)
{
	*serving = pod_is_serving(pod) && !object_ends(pod->object) &&
		   !pod_is_group_worker(pod);
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *at;

		if (c->role != CONTAINER_MAIN ||
		    container_uses_gpu(c) != TRI_YES || !needs_grace(c))
			continue;
		at = *serving ? c->node : checkpoint_mount(pod, c);
		if (at)
			return at;
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *grace =
		pod_field(pod, "terminationGracePeriodSeconds");
	bool unset = node_is_unset(grace), serving;
	const struct node *why;
	struct finding *f;
	int64_t seconds = 30;

	if (pod->object->class == KIND_TEMPLATE ||
	    (unset &&
	     (pod->object->fragment || pod->object->class == KIND_SERVING)) ||
	    (!unset && !node_int(grace, &seconds)) || seconds > 30 ||
	    pod_spot(pod))
		return;
	why = needs_time(pod, &serving);
	if (!why)
		return;
	if (seconds < 0)
		seconds = 1; /* as apiserver registry/rest/delete.go sets it */
	f = report_pod(
		run, pod, grace, "%s only %s s%s %s before it is killed",
		serving ? "the pod has"
			: "if the pod writes a checkpoint when it is stopped, it has",
		rule_number(run, seconds),
		unset ? " (the default grace period)" : "",
		serving ? "to finish requests" : "for that");
	finding_missing(f, pod->object, pod->spec,
			"terminationGracePeriodSeconds");
	finding_label(run, f, why,
		      serving ? "serves requests" : "keeps checkpoints");
	/* Argo's templates lack the field. */
	if (!pod->defaults && finding_param_given(run, f, "seconds"))
		fix_set(finding_fix(run, f, false,
				    "set `terminationGracePeriodSeconds: %s`",
				    rule_number(run, rule_param_int(
							     run, "seconds"))),
			pod->spec, "terminationGracePeriodSeconds",
			edit_int(rule_arena(run),
				 rule_param_int(run, "seconds")));
}

static const struct rule_param params[] = {
	{"seconds", "int", "",
	 "terminationGracePeriodSeconds that the fix sets (no fix if empty)"},
	{0},
};

const struct rule rule_termination_grace_short = {
	.name = "termination-grace-short",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.flags = RULE_GUESS | RULE_OPT_IN_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a checkpointing or serving GPU pod has 30 s or less to terminate",
	.why = "If the work takes longer, each eviction and rollout cuts off a checkpoint or loses requests in flight.",
	.remedy = "Set terminationGracePeriodSeconds to 120 or more.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/v1/defaults.go: terminationGracePeriodSeconds 30",
	.params = params,
	.check_pod = check,
};
