/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers whose last command is `ray start` without `--block`. The
 * command starts Ray's processes in the background and returns: the container
 * ends, and the kernel kills them with it. KubeRay adds `--block` to the
 * containers of its kinds. Skips containers without a command, whose entrypoint
 * may wait, and flags in a variable. In a script that ends with a branch, the
 * finding is a warning. Source: ray 00044962 python/ray/scripts/scripts.py,
 * start(): only `if block:` waits; kuberay feeaf72f common/pod.go
 * (generateRayStartCommand).
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"

/* Returns the number of words before the `fi` at the end of the script. */
static size_t before_branch_end(const struct argv *argv)
{
	size_t end = argv->n;

	while (end && text_eq(argv->items[end - 1].text, "fi"))
		end--;
	return end;
}

/* True if word i is run as a command. A program before it may wait. */
static bool is_command(const struct argv *argv, size_t i)
{
	static const char *const before[] = {"exec", "then", "else",
					     "sudo", "tini", "dumb-init",
					     "--",   NULL};

	return i == 0 || argv->items[i].first ||
	       text_any(argv->items[i - 1].base, before, text_eq);
}

/* True if word i is unknown and may be --block, because it is not the value of
 * a flag. */
static bool may_block(const struct argv *argv, size_t i)
{
	static const char *const switches[] = {
		"--head", "--disable-usage-stats", "--no-monitor", NULL};
	const char *before = i > 0 ? argv->items[i - 1].text : NULL;

	return !argv->items[i].text &&
	       (argv->items[i].any || !text_starts(before, "--") ||
		text_any(before, switches, text_eq));
}

/* Returns the `start` of the last command before `end` if it is `ray start`
 * without --block; else NULL. The words of a nested script follow all others,
 * so that it is not known which command is the last. */
static const struct arg *last_start(const struct argv *argv, size_t end)
{
	const struct arg *start = NULL;

	for (size_t i = 0; i < end; i++) {
		const struct arg *arg = &argv->items[i];

		if (text_contains(arg->text, "ray start"))
			return NULL;
		if (i > 0 && text_eq(arg->text, "start") &&
		    text_eq(arg[-1].base, "ray") && is_command(argv, i - 1))
			start = arg;
		else if (arg->first || may_block(argv, i) ||
			 text_starts(arg->text, "--block"))
			start = NULL;
	}
	return start;
}

static void check_container(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(c);
	size_t end = before_branch_end(&argv);
	const struct arg *start = last_start(&argv, end);
	struct finding *f;

	if (!start || !start->node)
		return;
	f = report_container(
		run, c, start->node,
		"`ray start` has no `--block`: it returns at once, and container `%s` ends%s",
		container_title(c),
		c->pod->restart == RESTART_ALWAYS
			? " and restarts repeatedly"
			: ", and Ray's processes with it");
	if (end < argv.n)
		finding_severity(f, SEVERITY_WARNING);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->object->class == KIND_RAY || pod->object->pods_inferred)
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && container_says(c, "ray") &&
		    !node_is_unset(node_get(c->node, "command")))
			check_container(run, c);
}

const struct rule rule_ray_start_exits = {
	.name = "ray-start-exits",
	.category = "lifecycle",
	.severity = SEVERITY_ERROR,
	.scope = PODSPEC,
	.summary =
		"`ray start` without `--block` as a container's last command",
	.why = "The command returns when Ray's processes run in the background. The container ends with it, and so do they: the pod is not part of the Ray cluster for longer than a moment.",
	.remedy = "Add `--block` to `ray start`.",
	.evidence =
		"https://docs.ray.io/en/latest/cluster/cli.html#ray-start (--block)",
	.check_pod = check,
};
