/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports commands that are one string with blanks. command[0] is the name of
 * the program, including blanks: no shell splits `["python3 -m vllm --tp 2"]`.
 * The container fails with "no such file or directory" again and again while
 * the pod holds its GPUs. Skips paths with a blank in a folder's name, and the
 * first container of a Ray pod, whose command KubeRay joins into a shell line.
 * Also reports a flag of a model server and its value in one item, which the
 * server rejects. Source: runc exec semantics; an example in vllm#4462; KubeRay
 * common/pod.go (convertCmdToString); CPython Lib/argparse.py
 * (_parse_optional(), which reads an argument with a blank as a value); vllm
 * utils/argparse_utils.py at 00da11e3; sglang v0.5.3 launch_server.py.
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

/* --- a flag and its value ------------------------------------------------- */

/* Returns the length of the flag in `--flag value`, or 0. vLLM splits a flag
 * with a dot into keys. */
static size_t unsplit_flag(const char *text)
{
	size_t len = text_starts(text, "--")
			     ? strspn(text, "abcdefghijklmnopqrstuvwxyz"
					    "0123456789-_")
			     : 0;

	return len > 2 && text[len] == ' ' && text[len + 1] != '\0' ? len : 0;
}

/* True if the next argument may be the value of this flag. */
static bool may_take_value(const char *text)
{
	static const char *const switches[] = {
		"--enable-", "--disable-",	    "--enforce-eager",
		"--no-",     "--trust-remote-code", NULL};

	return !text || (*text == '-' && !strpbrk(text, " =") &&
			 !text_any(text, switches, text_starts));
}

/* Returns the name of the server if the item starts one whose parser rejects
 * arguments that it does not know. */
static const char *server_of(const char *item, const char *before)
{
	const char *slash = item ? strrchr(item, '/') : NULL;

	if (text_eq(before, "-m"))
		return text_eq(item, "vllm.entrypoints.openai.api_server")
			       ? "vLLM"
		       : text_eq(item, "sglang.launch_server") ? "SGLang"
							       : NULL;
	return text_eq(slash ? slash + 1 : item, "vllm") ? "vLLM" : NULL;
}

struct server_args {
	const char *server; /* NULL before the program */
	const char *before; /* the item before, or NULL if it is unknown */
	const struct node *found;
};

static void read_items(struct server_args *args, const struct node *list)
{
	FOR_EACH_CHILD(list, item) {
		const char *text = node_str(item);

		if (args->found)
			return;
		if (args->server && text && unsplit_flag(text) &&
		    !may_take_value(args->before))
			args->found = item;
		if (!args->server)
			args->server = server_of(text, args->before);
		args->before = text;
	}
}

/* Reports the first flag with its value. Without a command, the image of vLLM
 * starts the server. */
static void check_flags(struct rule_run *run, const struct container *c)
{
	const struct node *command = node_get(c->node, "command");
	struct server_args args = {.before = ""};
	struct finding *f;

	if (node_is_unset(command) &&
	    text_contains(c->image, "vllm/vllm-openai"))
		args.server = "vLLM";
	read_items(&args, command);
	read_items(&args, node_get(c->node, "args"));
	if (!args.found)
		return;
	f = report_container(
		run, c, args.found,
		"`%s` is one argument, because no shell splits it: %s rejects it, and container `%s` never starts",
		args.found->str, args.server, container_title(c));
	finding_severity(f, SEVERITY_WARNING);
	finding_help(run, f,
		     "Write the flag and its value as two list items, or join "
		     "them with `=`.");
}

/* --- a whole command line ------------------------------------------------- */

static void check_container(struct rule_run *run, const struct container *c)
{
	const struct node *command = node_get(c->node, "command");
	const struct node *first = node_at(command, 0);
	const char *text = node_str(first), *blank;
	struct finding *f;

	check_flags(run, c);
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
	.summary =
		"a command whose first item is a whole command line, or a flag and its value in one item",
	.why = "No program has that name, or the server rejects the flag: the container crashes repeatedly while the pod holds its GPUs.",
	.remedy =
		"Split the command line into list items, or run it through /bin/sh -c.",
	.evidence =
		"https://github.com/vllm-project/vllm/issues/4462 (an example); exec(3) takes no shell syntax",
	.check_pod = check,
};
