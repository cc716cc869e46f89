/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU containers that only sleep for an hour or longer, or wait for
 * input, while no other pod can use their devices, and scripts that sleep
 * after the work of a job, or forever after the set-up of another pod. Notebook
 * kinds (see notebook-gpu-culling) and namespaces for notebooks are skipped.
 * Because it is unknown whether the container is in use, the finding is a
 * warning only if many whole devices wait for a day or longer and no label
 * marks the pod as a test. Source: the words of the command; KubeRay appends
 * `ray start` to the command of a Ray container, so such a container does work.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/purpose/purpose.h"

enum { A_DAY = 24 * 3600 };

static bool is_for_people(struct rule_run *run, const struct pod *pod)
{
	return pod->object->class == KIND_INTERACTIVE ||
	       pod_in_namespaces(rule_arena(run), pod,
				 rule_param(run, "namespaces"));
}

/* True if the command ends by itself and nothing restarts it. */
static bool is_bounded(const struct container_command *command,
		       const struct pod *pod)
{
	return command->seconds && (pod->restart == RESTART_NEVER ||
				    pod->restart == RESTART_ON_FAILURE);
}

/* True if all pods of the template together have many whole devices. A TPU pod
 * counts once, because it has all chips of its host. */
static bool holds_many(struct rule_run *run, const struct container *c)
{
	struct amount devices = amount_mul(c->pod->steady, c->gpus);

	if (c->accelerator && c->accelerator->class != ACCEL_WHOLE)
		return false;
	if (!strcmp(pod_device(c->pod), "TPU"))
		devices = c->pod->steady;
	return devices.n >= rule_param_int(run, "gpus");
}

/* --- after other commands ------------------------------------------------- */

/* Returns the seconds of `sleep` at the end of a script, or 0 if they are less
 * than an hour, or endless. */
static int64_t long_sleep(const struct argv *argv, const char *end)
{
	const struct arg *words = argv->items;
	double time;

	if (!end || argv->n < 3 || !words[argv->n - 2].first ||
	    !text_eq(words[argv->n - 2].text, "sleep"))
		return 0;
	time = sleep_seconds(end);
	return time >= 3600 && time < INT32_MAX ? (int64_t)time : 0;
}

/* Returns the index of the word that starts a wait at the end of a script, or
 * 0. The wait is endless, or lasts for *seconds, an hour or more. */
static size_t last_wait(const struct argv *argv, int64_t *seconds)
{
	static const char *const loops[][6] = {
		{"while", "true", "do", "sleep", NULL, "done"},
		{"while", ":", "do", "sleep", NULL, "done"},
		{"tail", "-f", "/dev/null"},
		{"tail", "-F", "/dev/null"},
		{"sleep", "infinity"},
		{"sleep", "inf"},
	};
	static const size_t lengths[] = {6, 6, 3, 3, 2, 2};
	const char *end = argv->n ? argv->items[argv->n - 1].text : NULL;

	*seconds = long_sleep(argv, end);
	if (*seconds)
		return argv->n - 2;
	if (!end || (*end != 'i' && *end != 'd' && *end != '/'))
		return 0;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t n = lengths[i], same = 0;
		const struct arg *words;

		if (argv->n <= n)
			continue;
		words = argv->items + argv->n - n;
		while (same < n && (!loops[i][same] ||
				    text_eq(words[same].text, loops[i][same])))
			same++;
		if (same == n && words[0].first)
			return argv->n - n;
	}
	return 0;
}

/* True if the script starts a program that runs on beside the commands that
 * follow, or may not get to its end. */
static bool may_run_beside(const struct argv *argv, const char *script)
{
	static const char *const daemons[] = {
		"ray",	  "sshd", "service", "systemctl", "supervisord",
		"nohup",  "tmux", "screen",  "setsid",	  "start-stop-daemon",
		"mpirun", "exec", NULL};

	for (const char *at = script; (at = strchr(at, '&')); at++) {
		if (at[1] == '&')
			at++;
		else if (at == script || (at[-1] != '>' && at[1] != '>'))
			return true;
	}
	for (size_t i = 0; i < argv->n; i++)
		if (argv->items[i].first &&
		    text_any(argv->items[i].base, daemons, text_eq))
			return true;
	return argv_have(argv, "exit") && !argv_have(argv, "fi");
}

/* True if the list `a && b`, whose part `at` is, begins with a test, so that
 * this part may not run. */
static bool is_tested(const char *script, const char *at)
{
	static const char *const tests[] = {
		"[",	  "test ",  "! ",    "$",    "\"$",    "grep ",
		"pgrep ", "which ", "diff ", "cmp ", "false ", NULL};

	while (at > script && at[-1] != ';' &&
	       (at[-1] != '\n' || (at - script > 1 && at[-2] == '\\')))
		at--;
	at += strspn(at, " \t\\\n");
	return text_any(at, tests, text_starts);
}

/* True if the last command of the script, which starts with the word, always
 * follows the others. */
static bool follows_others(const char *script, const char *word)
{
	const char *at = NULL, *next = script;
	bool separate = false;

	while ((next = strstr(next, word)))
		at = next++;
	if (at && strchr(at, ')'))
		return false;
	for (; at && at > script && strchr(" \t\n\\;", at[-1]); at--)
		separate |= at[-1] == '\n' || at[-1] == ';';
	if (!at || at == script || at[-1] == '|')
		return false;
	if (at[-1] != '&')
		return separate;
	return at - script > 1 && at[-2] == '&' && !is_tested(script, at);
}

/* True if all commands before the wait only prepare files and packages. */
static bool only_sets_up(const struct argv *argv, size_t end)
{
	static const char *const names[] = {
		"cd",	   "git",   "pip",    "pip3",	    "apt",
		"apt-get", "mkdir", "ln",     "rm",	    "cp",
		"mv",	   "chmod", "chown",  "wget",	    "curl",
		"tar",	   "unzip", "export", "set",	    "echo",
		"conda",   "uv",    "ls",     "nvidia-smi", NULL};
	static const char *const scripts[] = {"setup", "install", NULL};

	for (size_t i = 0; i < end; i++) {
		const struct arg *arg = &argv->items[i];

		if (arg->first && !text_any(arg->base, names, text_eq) &&
		    !text_any(arg->base, scripts, text_starts))
			return false;
	}
	return true;
}

/* True for a Job, or a JobSet with one template, which ends with the first
 * container. */
static bool is_job(const struct object *object)
{
	return object->npods == 1 &&
	       (object_is(object, "batch", "Job") ||
		object_is(object, "batch", "CronJob") ||
		object_is(object, "jobset.x-k8s.io", "JobSet"));
}

static void check_end(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(c);
	int64_t seconds;
	size_t at = last_wait(&argv, &seconds);
	const struct node *node = at ? argv.items[at].node : NULL;
	bool job = is_job(c->pod->object);
	bool ends = c->pod->restart == RESTART_NEVER ||
		    c->pod->restart == RESTART_ON_FAILURE;
	struct finding *f;

	if (!node || !node->str || may_run_beside(&argv, node->str) ||
	    !follows_others(node->str, argv.items[at].text) ||
	    is_for_people(run, c->pod) ||
	    (seconds ? !ends : !job && !only_sets_up(&argv, at)))
		return;
	f = seconds ? report_container(
			      run, c, node,
			      "container `%s` sleeps for %s s after its other commands and holds its %ss",
			      container_title(c), rule_number(run, seconds),
			      pod_device(c->pod))
		    : report_container(
			      run, c, node,
			      job ? "container `%s` sleeps after its other commands and holds its %ss: the job never completes"
				  : "container `%s` sleeps after its set-up and holds its %ss",
			      container_title(c), pod_device(c->pod));
	if (!holds_many(run, c) || pod_is_test(c->pod) ||
	    (seconds && seconds < A_DAY))
		finding_severity(f, SEVERITY_INFO);
}

static void check_container(struct rule_run *run, const struct container *c)
{
	struct container_command command = container_command(c);
	bool waits = command.type == COMMAND_WAITS;
	bool bounded = is_bounded(&command, c->pod);
	char time[40] = "";
	struct finding *f;

	if (command.type == COMMAND_UNKNOWN)
		check_end(run, c);
	if ((!waits && command.type != COMMAND_INTERACTIVE) ||
	    !node_is_unset(node_path(c->node, "lifecycle.postStart")) ||
	    is_for_people(run, c->pod))
		return;
	if (bounded)
		snprintf(time, sizeof(time), " for %s s",
			 rule_number(run, command.seconds));
	f = report_container(run, c, command.at,
			     "container `%s` holds its %ss%s and %s (`%s`)",
			     container_title(c), pod_device(c->pod), time,
			     waits ? "only waits" : "waits for users",
			     command.what);
	if (!holds_many(run, c) || pod_is_test(c->pod) ||
	    (bounded && command.seconds < A_DAY))
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN &&
		    container_uses_gpu(c) == TRI_YES &&
		    (pod->object->class != KIND_RAY || c->index > 0))
			check_container(run, c);
}

static const struct rule_param params[] = {
	{"namespaces", "list", "jupyter*,notebook*,*-notebooks",
	 "namespaces for interactive work"},
	{"gpus", "int", "4",
	 "the finding is a warning if all pods of the template together have at least this number of whole devices"},
	{0},
};

const struct rule rule_gpu_idle_command = {
	.name = "gpu-idle-command",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_GUESS,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a GPU container that only sleeps or waits for users, or sleeps after its work",
	.why = "Its GPUs are allocated but idle until the pod is deleted. The finding is only an info for shared devices, for fewer than four devices (parameter `gpus`), for waits of less than a day, and for pods that labels mark as a test, because such a pod may be in use.",
	.remedy =
		"Let the container start the work and end with it. For interactive work, use a notebook kind that stops idle sessions.",
	.evidence = "the command does nothing (sleep, tail -f, jupyter)",
	.params = params,
	.check_pod = check,
};
