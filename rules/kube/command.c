/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a command, from its words (kube/object.h). A waiting
 * command is one whose words are all of programs that do nothing with a GPU
 * (shell words, echo, nvidia-smi) and that sleeps for an hour or more, or in
 * a loop. An ending one names a program that returns, and neither loops nor
 * sleeps nor listens.
 */
#include "kube/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kinds.h"

static bool is_one_of(const char *word, const char *const *names)
{
	for (; *names; names++)
		if (text_eq(word, *names))
			return true;
	return false;
}

/* The base name of word i, or "" when it is not known. */
static const char *word_at(const struct words *words, size_t i)
{
	if (i >= words->n || !words->items[i].text || words->items[i].unknown)
		return "";
	return words->items[i].base;
}

static bool is_shell(const char *word)
{
	static const char *const names[] = {"sh", "bash", "dash", "ash", NULL};

	return is_one_of(word, names);
}

static bool is_python(const char *word)
{
	return text_starts(word, "python");
}

static struct command found(enum command_sort sort, const struct words *words,
			    size_t i)
{
	return (struct command){sort, word_at(words, i), words->items[i].node};
}

/* -- waiting ------------------------------------------------------------- */

/* An hour or more; `sleep 1d`, `sleep inf`, `sleep 3600`. */
static bool sleeps_long(const char *time)
{
	char *end;
	double n;

	if (text_starts(time, "inf"))
		return true;
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
	return n >= 3600;
}

/* Programs that list the devices and return. */
static bool shows_devices(const char *word)
{
	static const char *const names[] = {
		"nvidia-smi", "rocm-smi",  "amd-smi", "rocminfo",
		"hl-smi",     "neuron-ls", "npu-smi", "mthreads-gmi",
		"clinfo",     "tpu-info",  NULL};

	return is_one_of(word, names);
}

static bool is_idle_word(const char *word)
{
	static const char *const names[] = {
		"exec", "trap", "wait", "true",	  "do", "done", ":", "hostname",
		"set",	"env",	"date", "export", "id", "pwd",	NULL};

	return is_shell(word) || word[0] == '-' || word[0] == '+' ||
	       is_one_of(word, names) || shows_devices(word);
}

/* Words that take any others as arguments; where these end is not known. */
static bool takes_any(const char *word)
{
	static const char *const names[] = {"echo", "printf", "trap", "ls",
					    NULL};

	return is_one_of(word, names);
}

/* Does word i make the command wait? loop: inside while or until. */
static bool waits_at(const struct words *words, size_t i, bool loop)
{
	const char *word = word_at(words, i);

	if (text_eq(word, "sleep"))
		return loop || sleeps_long(word_at(words, i + 1));
	if (text_eq(word, "tail"))
		return !strcmp(word_at(words, i + 2), "null");
	return false;
}

/* Part of real work, wherever it stands: also among the words of an echo. */
static bool is_work(const struct words *words, size_t i)
{
	const char *word = word_at(words, i);

	return !*word || is_python(word) || text_ends(word, ".py") ||
	       text_ends(word, ".sh") || text_eq(word, "kill") ||
	       text_eq(word, "-m");
}

/* The index of the word that waits, or words->n. */
static size_t idle_word(const struct words *words)
{
	static const char *const waiting[] = {"sleep", "tail", NULL};
	bool loop = false, any = false;

	if (!words_have_name(words, waiting))
		return words->n;
	for (size_t i = 0; i < words->n; i++) {
		const char *word = word_at(words, i);

		if (waits_at(words, i, loop))
			return i;
		if (is_work(words, i))
			break;
		if (text_eq(word, "while") || text_eq(word, "until"))
			loop = true;
		else if (takes_any(word))
			any = true;
		else if (!any && !is_idle_word(word))
			break;
	}
	return words->n;
}

/* -- people -------------------------------------------------------------- */

/* The index of the word that opens a page to work on, or words->n. */
static size_t interactive_word(const struct words *words)
{
	static const char *const names[] = {
		"jupyter",	     "jupyter-lab",
		"jupyter-notebook",  "jupyterlab",
		"start-notebook.sh", "start-notebook.py",
		"code-server",	     NULL};

	if (!words_have_name(words, names))
		return words->n;
	for (size_t i = 0; i < words->n; i++)
		if (is_one_of(word_at(words, i), names))
			return i;
	return words->n;
}

/* A shell alone waits for people only where it has a terminal. */
static bool is_terminal(const struct words *words, const struct container *c)
{
	return words->n == 1 && is_shell(word_at(words, 0)) &&
	       (node_is_true(node_get(c->node, "tty")) ||
		node_is_true(node_get(c->node, "stdin")));
}

/* -- ending -------------------------------------------------------------- */

static bool loops_or_listens(const struct words *words)
{
	static const char *const names[] = {
		"while", "until", "sleep", "wait",  "tail",    "serve",
		"start", "watch", "sshd",  "flask", "fastapi", NULL};

	return words->unknown || words_have_name(words, names);
}

static bool is_monitor(const struct words *words)
{
	static const char *const names[] = {"-l",	 "--loop", "dmon",
					    "pmon",	 "daemon", "-lms",
					    "--loop-ms", NULL};

	for (size_t i = 0; i < words->n; i++)
		if (is_one_of(word_at(words, i), names) ||
		    text_starts(word_at(words, i), "--loop"))
			return true;
	return false;
}

/* Scripts by these names do not return. */
static bool server_script(const char *name)
{
	static const char *const parts[] = {"serv", "app",    "api",   "web",
					    "main", "gradio", "bot",   "ui",
					    "demo", "worker", "agent", NULL};

	for (const char *const *part = parts; *part; part++)
		if (text_contains_ci(name, *part))
			return true;
	return false;
}

/* `python [-u] x.py`: the index of x.py, or words->n. */
static size_t python_script(const struct words *words)
{
	for (size_t i = 0; i + 1 < words->n; i++) {
		size_t next = i + 1;

		if (!is_python(word_at(words, i)))
			continue;
		while (word_at(words, next)[0] == '-' &&
		       strlen(word_at(words, next)) == 2 &&
		       word_at(words, next)[1] != 'm')
			next++;
		if (text_ends(word_at(words, next), ".py") &&
		    !server_script(word_at(words, next)))
			return next;
	}
	return words->n;
}

static bool serves(const struct container *c)
{
	return !node_is_unset(node_get(c->node, "livenessProbe")) ||
	       !node_is_unset(node_get(c->node, "readinessProbe")) ||
	       !node_is_unset(node_get(c->node, "startupProbe")) ||
	       !node_is_unset(node_get(c->node, "ports"));
}

/* Samples whose entrypoint computes once and returns. */
static bool sample_image(const struct container *c)
{
	static const char *const images[] = {"cuda-vector-add", "cuda-sample",
					     "vectoradd", "gpu-burn", NULL};

	for (const char *const *name = images; *name; name++)
		if (text_contains(c->image, *name))
			return true;
	return false;
}

static struct command ending(const struct words *words,
			     const struct container *c)
{
	struct command none = {0};
	size_t i;

	if (serves(c) || loops_or_listens(words))
		return none;
	if (!words->n) {
		if (!sample_image(c))
			return none;
		return (struct command){COMMAND_ENDS, c->image,
					node_get(c->node, "image")};
	}
	i = python_script(words);
	if (i < words->n)
		return found(COMMAND_ENDS, words, i);
	for (i = 0; i < words->n; i++)
		if (shows_devices(word_at(words, i)) && !is_monitor(words))
			return found(COMMAND_ENDS, words, i);
	return none;
}

/* -- all of it ----------------------------------------------------------- */

const struct node *container_command_node(const struct container *c)
{
	const struct node *command = node_get(c->node, "command");

	if (node_is_unset(command))
		command = node_get(c->node, "args");
	return node_is_unset(command) ? NULL : command;
}

static struct command judge(struct arena *arena, const struct container *c)
{
	struct words words = container_words(arena, c);
	size_t i = idle_word(&words);

	if (i < words.n)
		return found(COMMAND_WAITS, &words, i);
	i = interactive_word(&words);
	if (i < words.n)
		return found(COMMAND_INTERACTIVE, &words, i);
	if (is_terminal(&words, c))
		return found(COMMAND_INTERACTIVE, &words, 0);
	return ending(&words, c);
}

struct command container_command(struct arena *arena, const struct container *c)
{
	struct container_memo *memo = c->memo;
	struct command *command;

	if (!memo->command) {
		arena = c->pod->memo->arena;
		command = ARENA_NEW(arena, struct command);
		*command = judge(arena, c);
		memo->command = command;
	}
	return *memo->command;
}
