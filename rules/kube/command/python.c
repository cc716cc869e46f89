/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that a command contains, `python -c SCRIPT`. */
#include "kube/command/python.h"

#include <string.h>

#include "base/text.h"
#include "kube/command/command.h"

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
