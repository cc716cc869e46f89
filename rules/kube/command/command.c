/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies a command by its words. A waiting command runs only programs that
 * do not compute on a GPU (shell commands, echo, nvidia-smi) and sleeps for an
 * hour or more, sleeps in a loop, or follows /dev/null. An interactive command
 * starts a notebook, an editor, or a shell with a terminal. An ending command
 * runs a program that returns, and does not loop, sleep or listen.
 */
#include "kube/command/command.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/kube/kinds.h"

static bool is_one_of(const char *arg, const char *const *names)
{
	for (; *names; names++)
		if (text_eq(arg, *names))
			return true;
	return false;
}

/* Returns the base name of word i; "" if it is unknown or past the end. */
static const char *word_at(const struct argv *argv, size_t i)
{
	if (i >= argv->n || !argv->items[i].text || argv->items[i].unknown)
		return "";
	return argv->items[i].base;
}

/* Returns the index of the first of the wanted words, or argv->n. */
static size_t first_of(const struct argv *argv, struct argv_names *wanted)
{
	size_t i = argv->n;

	if (argv_have_name(argv, wanted))
		for (i = 0; i < argv->n; i++)
			if (is_one_of(word_at(argv, i), wanted->names))
				break;
	return i;
}

static bool is_shell(const char *arg)
{
	static const char *const names[] = {"sh", "bash", "dash", "ash", NULL};

	return is_one_of(arg, names);
}

static bool is_python(const char *arg)
{
	return text_starts(arg, "python");
}

static struct container_command found(enum command_type type,
				      const struct argv *argv, size_t i)
{
	return (struct container_command){
		.type = type,
		.what = word_at(argv, i),
		.at = argv->items[i].node,
	};
}

/* -- waiting ------------------------------------------------------------- */

double sleep_seconds(const char *time)
{
	char *end;
	double n;

	if (text_starts(time, "inf"))
		return HUGE_VAL;
	n = strtod(time, &end);
	switch (*end) {
	case 'd':
		n *= 24;
		/* fall through */
	case 'h':
		n *= 60;
		/* fall through */
	case 'm':
		n *= 60;
		break;
	default:
		break;
	}
	return n;
}

/* Programs that list the devices and return. */
static const char *const device_lists[] = {
	"nvidia-smi", "rocm-smi",  "amd-smi", "rocminfo",
	"hl-smi",     "neuron-ls", "npu-smi", "mthreads-gmi",
	"clinfo",     "tpu-info",  NULL};
static struct argv_names device_tools = {.names = device_lists};

static bool is_idle_word(const char *arg)
{
	static const char *const names[] = {
		"exec", "trap", "wait", "true",	  "do", "done", ":", "hostname",
		"set",	"env",	"date", "export", "id", "pwd",	NULL};

	return is_shell(arg) || arg[0] == '-' || arg[0] == '+' ||
	       is_one_of(arg, names) || is_one_of(arg, device_lists);
}

/* True for commands whose arguments may be any words. */
static bool takes_any(const char *arg)
{
	static const char *const names[] = {"echo", "printf", "trap", "ls",
					    NULL};

	return is_one_of(arg, names);
}

/* True if word i makes the command wait. loop means that it is inside of a
 * while or until loop. */
static bool waits_at(const struct argv *argv, size_t i, bool loop)
{
	const char *arg = word_at(argv, i);

	if (text_eq(arg, "sleep"))
		return loop || sleep_seconds(word_at(argv, i + 1)) >= 3600;
	if (text_eq(arg, "tail"))
		return !strcmp(word_at(argv, i + 2), "null");
	return false;
}

/* True for a word that shows real work in any position, even among the
 * arguments of echo, and for an unknown word, which may show it. */
static bool is_work(const struct argv *argv, size_t i)
{
	const char *arg = word_at(argv, i);

	return !*arg || is_python(arg) || text_ends(arg, ".py") ||
	       text_ends(arg, ".sh") || text_eq(arg, "kill") ||
	       text_eq(arg, "-m");
}

/* Returns how many seconds the whole command waits; 0 if it is endless or
 * unknown. Word i is the first that waits. */
static int64_t idle_seconds(const struct argv *argv, size_t i)
{
	static const char *const loop_names[] = {"while", "until", NULL};
	static struct argv_names loops = {.names = loop_names};
	static const char *const again[] = {"sleep", "tail", NULL};
	double n = sleep_seconds(word_at(argv, i + 1));

	if (!text_eq(word_at(argv, i), "sleep") || n > INT32_MAX ||
	    argv_have_name(argv, &loops))
		return 0;
	for (size_t j = i + 1; j < argv->n; j++)
		if (is_one_of(word_at(argv, j), again))
			return 0;
	return (int64_t)n;
}

/* True if a later command of the script does work after the sleep at word i,
 * which ends. */
static bool works_after(const struct argv *argv, size_t i)
{
	static const char *const waits[] = {"sleep", "tail", NULL};

	if (!text_eq(word_at(argv, i), "sleep") ||
	    sleep_seconds(word_at(argv, i + 1)) > INT32_MAX)
		return false;
	for (i++; i < argv->n; i++) {
		const char *arg = word_at(argv, i);
		bool first = argv->items[i].first ||
			     text_eq(word_at(argv, i - 1), "do") ||
			     text_eq(word_at(argv, i - 1), "exec");

		if (first && !is_idle_word(arg) && !takes_any(arg) &&
		    !is_one_of(arg, waits))
			return true;
	}
	return false;
}

/* Returns the index of the word that waits, or argv->n. */
static size_t idle_word(const struct argv *argv)
{
	static const char *const names[] = {"sleep", "tail", NULL};
	static struct argv_names waiting = {.names = names};
	bool loop = false, any = false; /* of the current command */

	if (!argv_have_name(argv, &waiting))
		return argv->n;
	for (size_t i = 0; i < argv->n; i++) {
		const char *arg = word_at(argv, i);

		if (waits_at(argv, i, loop))
			return works_after(argv, i) ? argv->n : i;
		if (is_work(argv, i))
			break;
		any &= !argv->items[i].first;
		if (text_eq(arg, "while") || text_eq(arg, "until"))
			loop = true;
		else if (takes_any(arg))
			any = true;
		else if (!any && !is_idle_word(arg))
			break;
	}
	return argv->n;
}

/* -- interactive use ------------------------------------------------------- */

/* Returns the index of the word that starts an interactive program, or
 * argv->n. */
static size_t interactive_word(const struct argv *argv)
{
	static const char *const names[] = {
		"jupyter",	     "jupyter-lab",
		"jupyter-notebook",  "jupyterlab",
		"start-notebook.sh", "start-notebook.py",
		"code-server",	     NULL};
	static struct argv_names pages = {.names = names};

	return first_of(argv, &pages);
}

/* True if a shell is the whole command and has a terminal or an open stdin,
 * without which it ends at once. */
static bool is_terminal(const struct argv *argv, const struct container *c)
{
	return argv->n == 1 && is_shell(word_at(argv, 0)) &&
	       (node_is_true(node_get(c->node, "tty")) ||
		node_is_true(node_get(c->node, "stdin")));
}

/* -- ending -------------------------------------------------------------- */

static bool loops_or_listens(const struct argv *argv)
{
	static const char *const names[] = {
		"while", "until", "sleep", "wait",  "tail",    "serve",
		"start", "watch", "sshd",  "flask", "fastapi", NULL};
	static struct argv_names wanted = {.names = names};

	return argv->unknown || argv_have_name(argv, &wanted);
}

static bool is_monitor(const struct argv *argv)
{
	static const char *const names[] = {"-l",	 "--loop", "dmon",
					    "pmon",	 "daemon", "-lms",
					    "--loop-ms", NULL};

	for (size_t i = 0; i < argv->n; i++)
		if (is_one_of(word_at(argv, i), names) ||
		    text_starts(word_at(argv, i), "--loop"))
			return true;
	return false;
}

/* True for a script whose name suggests a server, an application or a worker,
 * which does not return. */
static bool server_script(const char *name)
{
	static const char *const parts[] = {"serv", "app",    "api",   "web",
					    "main", "gradio", "bot",   "ui",
					    "demo", "worker", "agent", NULL};

	return text_any(name, parts, text_contains_ci);
}

/* Returns the index of x.py in `python [-u] x.py`; argv->n if there is none, or
 * only a server_script(). */
static size_t python_script(const struct argv *argv)
{
	for (size_t i = 0; i + 1 < argv->n; i++) {
		size_t next = i + 1;

		if (!is_python(word_at(argv, i)))
			continue;
		while (word_at(argv, next)[0] == '-' &&
		       strlen(word_at(argv, next)) == 2 &&
		       word_at(argv, next)[1] != 'm')
			next++;
		if (text_ends(word_at(argv, next), ".py") &&
		    !server_script(word_at(argv, next)))
			return next;
	}
	return argv->n;
}

static bool serves(const struct container *c)
{
	return !node_is_unset(node_get(c->node, "livenessProbe")) ||
	       !node_is_unset(node_get(c->node, "readinessProbe")) ||
	       !node_is_unset(node_get(c->node, "startupProbe")) ||
	       !node_is_unset(node_get(c->node, "ports"));
}

/* True for images of samples, whose entrypoint computes once and returns. */
static bool sample_image(const struct container *c)
{
	static const char *const images[] = {"cuda-vector-add", "cuda-sample",
					     "vectoradd",	"gpu-burn",
					     "nvbandwidth",	NULL};

	return text_any(c->image, images, text_contains);
}

static struct container_command ending(const struct argv *argv,
				       const struct container *c)
{
	struct container_command none = {0};
	size_t i;

	if (serves(c) || loops_or_listens(argv))
		return none;
	if (!argv->n) {
		if (!sample_image(c))
			return none;
		return (struct container_command){
			.type = COMMAND_ENDS,
			.what = c->image,
			.at = node_get(c->node, "image"),
		};
	}
	i = python_script(argv);
	if (i < argv->n)
		return found(COMMAND_ENDS, argv, i);
	i = first_of(argv, &device_tools);
	if (i < argv->n && !is_monitor(argv))
		return found(COMMAND_ENDS, argv, i);
	return none;
}

/* -- classification -------------------------------------------------------- */

const struct node *container_command_node(const struct container *c)
{
	const struct node *command = node_get(c->node, "command");

	if (node_is_unset(command))
		command = node_get(c->node, "args");
	return node_is_unset(command) ? NULL : command;
}

static struct container_command find_command(const struct argv *argv,
					     const struct container *c)
{
	size_t i = idle_word(argv);

	if (i < argv->n) {
		struct container_command waits = found(COMMAND_WAITS, argv, i);

		waits.seconds = idle_seconds(argv, i);
		return waits;
	}
	i = interactive_word(argv);
	if (i < argv->n)
		return found(COMMAND_INTERACTIVE, argv, i);
	if (is_terminal(argv, c))
		return found(COMMAND_INTERACTIVE, argv, 0);
	return ending(argv, c);
}

/* True if `tail` at word i follows its file. */
static bool tail_follows(const struct argv *argv, size_t i)
{
	for (const char *arg; *(arg = word_at(argv, ++i)) == '-';)
		if (text_starts(arg, "--follow") ||
		    (arg[1] != '-' && strpbrk(arg, "fF")))
			return true;
	return false;
}

bool container_goes_on(const struct container *c)
{
	static const char *const names[] = {"while", "until", "for", NULL};
	struct argv argv = container_argv(c);
	bool loops = argv_have_any(&argv, names);

	for (size_t i = 0; i < argv.n; i++) {
		const char *arg = word_at(&argv, i);
		const char *next = word_at(&argv, i + 1);

		if (text_eq(arg, "while") ||
		    (text_eq(arg, "tail") && tail_follows(&argv, i)) ||
		    (text_eq(arg, "sleep") &&
		     (loops || !*next || sleep_seconds(next) >= 3600)))
			return true;
	}
	return false;
}

/* -- tests of devices ------------------------------------------------------ */

/* True if the command has a Python script, a launcher or vLLM, which works
 * after a test of the devices. */
static bool starts_work(const struct argv *argv)
{
	static const char *const names[] = {"torchrun", "accelerate",
					    "deepspeed", "vllm", NULL};
	static struct argv_names launchers = {.names = names};

	for (size_t i = 0; i < argv->n; i++)
		if (text_ends(text_or_empty(argv->items[i].text), ".py"))
			return true;
	return first_of(argv, &launchers) < argv->n;
}

bool container_tests_devices(const struct container *c)
{
	static const char *const names[] = {
		"gpu-burn",  "gpu_burn",       "gpu_burn.sh",	"deviceQuery",
		"vectorAdd", "vector-add",     "bandwidthTest", "nvbandwidth",
		"dcgmi",     "dcgmproftester", "nbody",		NULL};
	static struct argv_names tests = {.names = names};
	struct argv argv = container_argv(c);

	/* The command of an MPI worker does not show the test, which its
	 * launcher starts; the image does. */
	if (sample_image(c))
		return true;
	if (starts_work(&argv))
		return false;
	return first_of(&argv, &device_tools) < argv.n ||
	       first_of(&argv, &tests) < argv.n;
}

struct container_command container_command(const struct container *c)
{
	struct container_memo *memo = c->memo;
	struct container_command *command;
	struct argv argv;

	if (!memo->command) {
		argv = container_argv(c);
		command = ARENA_NEW(c->pod->memo->arena,
				    struct container_command);
		*command = find_command(&argv, c);
		memo->command = command;
	}
	return *memo->command;
}

/* Scripts that a command contains, `python -c SCRIPT`. */

/* Modules that use no device and start no process. */
static const char *const plain_modules[] = {
	"time",	  "os",	    "sys",     "socket",   "math",     "json",
	"random", "signal", "logging", "datetime", "platform", NULL};
static const char *const frameworks[] = {"torch", "tensorflow", "numpy", NULL};
/* Words of scripts that use several processes or run other code. */
static const char *const parts[] = {"distribut",  "DataLoader",	 "DataParallel",
				    "device_map", "Mirrored",	 "tf.data",
				    "spawn",	  "fork",	 "exec",
				    "system(",	  "__import__(", NULL};

/* Returns the script if the command is only that, possibly in `sh -c`, or
 * NULL. */
static const char *only_script(const struct container *c)
{
	static const char *const shell[] = {
		"sh", "/bin/sh", "bash", "/bin/bash", "-c", "-lc", NULL};
	struct argv argv = container_argv(c);
	size_t i = 0;

	while (i < argv.n && text_any(argv.items[i].text, shell, text_eq))
		i++;
	if (argv.unknown || i + 3 != argv.n ||
	    !text_starts(text_or_empty(argv.items[i].base), "python") ||
	    !text_eq(argv.items[i + 1].text, "-c"))
		return NULL;
	return argv.items[i + 2].text;
}

static bool is_known(const char *name, size_t len, bool framework)
{
	const char *const *lists[] = {plain_modules, frameworks};

	for (size_t i = 0; i < 1 + (size_t)framework; i++)
		for (const char *const *known = lists[i]; *known; known++)
			if (strlen(*known) == len && !memcmp(*known, name, len))
				return true;
	return false;
}

/* True if all modules of the list `a, b.c as d` are known. */
static bool list_is_known(const char *list, size_t len, bool framework)
{
	const char *end = list + len;

	while (list < end) {
		size_t name;

		list += strspn(list, " \t,");
		name = strcspn(list, " \t,.;#\r\n");
		if (!is_known(list, name, framework))
			return false;
		list += name + strcspn(list + name, ",\n;#");
		if (*list != ',')
			return true;
	}
	return true;
}

static bool imports_only(const char *script, bool framework)
{
	const char *line = script;

	while (*line) {
		size_t len;
		const char *names;

		line += strspn(line, " \t\r\n;");
		len = strcspn(line, "\n;");
		names = text_starts(line, "import ") ? line + 7
			: text_starts(line, "from ") ? line + 5
						     : NULL;
		if (names && !list_is_known(names, len - (size_t)(names - line),
					    framework))
			return false;
		line += len;
	}
	return true;
}

bool container_script_is_plain(const struct container *c)
{
	const char *script = only_script(c);

	return script && imports_only(script, false) &&
	       !text_any(script, parts, text_contains);
}

bool container_script_is_one_process(const struct container *c)
{
	const char *script = only_script(c);

	return script && imports_only(script, true) &&
	       !text_any(script, parts, text_contains);
}
