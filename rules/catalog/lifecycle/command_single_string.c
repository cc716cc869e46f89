/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports commands that are one string with blanks. command[0] is the name of
 * the program, including blanks: no shell splits `["python3 -m vllm --tp 2"]`.
 * The container fails with "no such file or directory" again and again while
 * the pod holds its GPUs. Skips paths with a blank in a folder's name, and the
 * first container of a Ray pod, whose command KubeRay joins into a shell line.
 * Source: runc exec semantics; an example in vllm#4462; KubeRay common/pod.go
 * (convertCmdToString).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

/* True for an absolute path that continues after the blank, as in
 * `/opt/my app/run`. False if options or another path may follow the blank, and
 * below /bin, /usr and /sbin, where the text before the blank is a program. */
static bool is_path(const char *text, const char *blank)
{
	const char *slash = memchr(blank, '/', strlen(blank));

	if (text[0] != '/' || !slash || slash == blank + 1 ||
	    memchr(blank, '-', strlen(blank)))
		return false;
	return !text_starts(text, "/bin/") && !text_starts(text, "/usr/") &&
	       !text_starts(text, "/sbin/");
}

/* Adds a fix that runs the string with a shell, unless another word follows it,
 * which would become an argument of the shell. */
static void repair(struct rule_run *run, struct finding *f,
		   const struct container *c, const struct node *command)
{
	struct arena *arena = rule_arena(run);
	struct node *list = edit_seq(arena);

	if (node_count(command) != 1 ||
	    !node_is_unset(node_get(c->node, "args")))
		return;
	edit_item(list, edit_string(arena, "/bin/sh"));
	edit_item(list, edit_string(arena, "-c"));
	edit_item(list, edit_copy(arena, node_at(command, 0)));
	fix_set(finding_fix(run, f, false, "run the string with `/bin/sh -c`"),
		command, "", list);
}

static void check_container(struct rule_run *run, const struct container *c)
{
	const struct node *command = node_get(c->node, "command");
	const struct node *first = node_at(command, 0);
	const char *text = node_str(first), *blank;
	struct finding *f;

	if (!node_is_seq(command) || !text || !*text)
		return;
	blank = strpbrk(text, " \t\n");
	if (!blank || is_path(text, blank) || text_starts(text, "{{") ||
	    text_starts(text, "$"))
		return;
	f = report_container(
		run, c, first,
		"the first item of `command` in container `%s` is a whole command line: no shell splits it, and no program has that name",
		container_title(c));
	finding_help(run, f,
		     "Write one list item per word, or wrap the string in "
		     "`[\"/bin/sh\", \"-c\", ...]`.");
	repair(run, f, c, command);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat && !object_kind_has(pod->object, KIND_ARGV))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (pod->object->class != KIND_RAY ||
		    c->role != CONTAINER_MAIN || c->index > 0)
			check_container(run, c);
}

const struct rule rule_command_single_string = {
	.name = "command-single-string",
	.category = "lifecycle",
	.severity = SEVERITY_ERROR,
	.flags = RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary = "a command whose first item is a whole command line",
	.why = "No program has that name: the container crashes repeatedly while the pod holds its GPUs.",
	.remedy =
		"Split the command line into list items, or run it through /bin/sh -c.",
	.evidence =
		"https://github.com/vllm-project/vllm/issues/4462 (an example); exec(3) takes no shell syntax",
	.check_pod = check,
};
