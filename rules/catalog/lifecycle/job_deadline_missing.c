/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training jobs on GPUs without a deadline. Collective operations may
 * wait for a lost rank indefinitely: the job neither fails nor succeeds, and
 * holds its GPUs until a person intervenes. A deadline of the job ends it; one
 * in the pod template would move the pods to another quota (scope Terminating).
 * Kueue has a label that sets a deadline. A job is skipped if `timeout`, the
 * program or a livenessProbe ends a container that hangs.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"
#include "kube/purpose/purpose.h"

/* True if the launcher ends ranks that hang: ft_launcher of NVIDIA's resiliency
 * extension, by its heartbeats, or Horovod, if its stall check may shut
 * down. */
static bool detects_hangs(const struct container *c)
{
	static const char stall[] = "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS";
	struct argv argv = container_argv(c);
	const struct arg *arg;

	argv_flag(&argv, "--stall-check-shutdown-time-seconds", &arg);
	return arg || container_env(c, stall) ||
	       argv_have(&argv, "ft_launcher");
}

/* True for programs of nccl-tests or rccl-tests, such as all_reduce_perf. */
static bool tests_network(const struct container *c)
{
	struct argv argv = container_argv(c);

	for (size_t i = 0; i < argv.n; i++)
		if (text_ends(argv.items[i].base, "_perf") &&
		    !argv.items[i].unknown)
			return true;
	return false;
}

static bool kueue_ends_it(const struct object *object)
{
	for (; object; object = object->parent)
		if (object_label(object,
				 "kueue.x-k8s.io/max-exec-time-seconds"))
			return true;
	return false;
}

/* Returns the node of the deadline, or its place if it is not set; NULL if the
 * kind has no deadline. */
static const struct node *deadline_place(const struct pod *pod)
{
	const struct object *object = pod->object;
	struct run_policy policy;

	if (object_run_policy(object, &policy) && policy.fields[RUN_DEADLINE])
		return run_policy_place(object, &policy);
	return pod_job_spec(pod);
}

/* Skips the options of timeout: -k DURATION, -s SIGNAL, and those without an
 * argument. */
static size_t after_options(const struct argv *argv, size_t i)
{
	static const char *const with_value[] = {"-k", "-s", "--kill-after",
						 "--signal", NULL};

	for (; i < argv->n && text_starts(argv->items[i].text, "-"); i++)
		i += text_any(argv->items[i].text, with_value, text_eq);
	return i;
}

/* Returns the base name of word i, or "" if it is unknown. */
static const char *word_at(const struct argv *argv, size_t i)
{
	return i < argv->n && argv->items[i].text && !argv->items[i].unknown
		       ? argv->items[i].base
		       : "";
}

/* True if `timeout` ends a command after ten minutes or more, or after an
 * unknown time: a shorter limit belongs to a check before the work. */
static bool is_timed(const struct container *c)
{
	struct argv argv = container_argv(c);
	const char *time;

	for (size_t i = 0; i < argv.n; i++) {
		if (!text_eq(word_at(&argv, i), "timeout"))
			continue;
		time = word_at(&argv, after_options(&argv, i + 1));
		if (!*time || (*time >= '1' && *time <= '9' &&
			       sleep_seconds(time) >= 600))
			return true;
	}
	return false;
}

static bool ends_hangs(const struct container *c)
{
	return is_timed(c) || detects_hangs(c) ||
	       !node_is_unset(node_get(c->node, "livenessProbe"));
}

/* True if each GPU container only tests devices, which is short and supervised,
 * or is ended if it hangs. */
static bool ends_itself(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (container_uses_gpu(c) == TRI_YES &&
		    !container_tests_devices(c) && !ends_hangs(c))
			return false;
	return true;
}

static bool launcher_ends(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		FOR_EACH_CONTAINER(pod, c)
			if (pod_is_launcher(pod) &&
			    (tests_network(c) || ends_hangs(c)))
				return true;
	return false;
}

static bool lacks_deadline(const struct pod *pod)
{
	const struct node *own =
		pod->flat ? NULL : pod_field(pod, "activeDeadlineSeconds");

	return pod_uses_gpu(pod) == TRI_YES && !pod_is_infrastructure(pod) &&
	       pod_is_training(pod) && deadline_place(pod) &&
	       !pod_run_deadline(pod) && node_is_unset(own) &&
	       !ends_itself(pod);
}

/* Sets the deadline of the job, or of each Job that it creates, but never in a
 * pod template. */
static void repair(struct rule_run *run, struct finding *f,
		   const struct object *object)
{
	int64_t seconds = rule_param_int(run, "seconds");
	struct arena *arena = rule_arena(run);
	struct run_policy policy = {0};
	bool bounded = object_run_policy(object, &policy) &&
		       policy.fields[RUN_DEADLINE];
	bool clean = bounded && object_leaks_if_bounded(object);
	struct fix *fix;

	if (policy.has_runtime || !finding_param_given(run, f, "seconds"))
		return;
	fix = finding_fix(run, f, false, "set `%s: %s`%s",
			  bounded ? policy.fields[RUN_DEADLINE]
				  : "activeDeadlineSeconds",
			  rule_number(run, seconds),
			  clean ? " and `cleanPodPolicy: Running`" : "");
	if (bounded) {
		fix_set_key(fix, object->root, policy.path,
			    policy.fields[RUN_DEADLINE],
			    edit_int(arena, seconds));
		if (clean)
			fix_set_key(fix, object->root, policy.path,
				    "cleanPodPolicy",
				    edit_string(arena, "Running"));
		return;
	}
	FOR_EACH_POD(object, pod)
		if (lacks_deadline(pod))
			fix_set(fix, pod_job_spec(pod), "activeDeadlineSeconds",
				edit_int(arena, seconds));
}

/* Reports the pod's object. A Job made from a runtime (Kubeflow Trainer) may
 * have a deadline there. */
static void report(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;
	struct run_policy policy = {0};
	struct finding *f;

	object_run_policy(object, &policy);
	f = report_object(
		run, object, deadline_place(pod),
		"`activeDeadlineSeconds` is not set: if the job hangs%s, it keeps its %ss indefinitely",
		policy.has_runtime ? " and its runtime sets no deadline" : "",
		pod_device(pod));
	if (policy.has_runtime)
		finding_severity(f, SEVERITY_INFO);
	finding_missing(f, object, object->root, "activeDeadlineSeconds");
	repair(run, f, object);
}

static void check(struct rule_run *run, const struct object *object)
{
	if (object->class == KIND_POD || object->class == KIND_TEMPLATE ||
	    kueue_ends_it(object) || launcher_ends(object))
		return;
	FOR_EACH_POD(object, pod)
		if (lacks_deadline(pod)) {
			report(run, pod);
			return;
		}
}

static const struct rule_param params[] = {
	{"seconds", "int", "",
	 "activeDeadlineSeconds that the fix sets (no fix if empty)"},
	{0},
};

const struct rule rule_job_deadline_missing = {
	.name = "job-deadline-missing",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary = "GPU training without a deadline",
	.why = "A job that hangs in a collective operation neither fails nor ends, and it keeps its GPUs.",
	.remedy =
		"Set activeDeadlineSeconds on the job itself (in the Job's spec, in runPolicy or in the RayJob's spec), not in the pod template.",
	.evidence =
		"https://github.com/kubernetes/api/blob/master/batch/v1/types.go ActiveDeadlineSeconds; https://kueue.sigs.k8s.io/docs/concepts/workload/#maximum-execution-time",
	.params = params,
	.check_object = check,
};
