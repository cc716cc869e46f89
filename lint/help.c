/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Help texts, made from the tables of options.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "options.h"

enum { OPTION_INDENT = 26 };

void help_program(struct buf *out)
{
	buf_adds(out, "gpugate checks Kubernetes manifests of GPU workloads "
		      "before they are applied.\n\n"
		      "Usage: gpugate COMMAND [OPTIONS] [ARGUMENTS]\n\n"
		      "Commands:\n");
	for (size_t i = 0; i < command_count; i++) {
		const struct command *c = &command_table[i];

		if (!c->internal)
			buf_addf(out, "  %-12s %s\n", c->name, c->summary);
	}
	buf_adds(out, "\nOptions of a command: gpugate help COMMAND. "
		      "Every option can also be given\nin the environment: "
		      "--fail-on as GPUGATE_FAIL_ON.\n");
}

static void help_option(const struct option *o, struct buf *out)
{
	size_t start = out->len;

	if (o->letter)
		buf_addf(out, "  -%c, ", o->letter);
	else
		buf_adds(out, "      ");
	buf_addf(out, "--%s", o->name);
	if (o->value)
		buf_addf(out, " %s", o->value);
	if (out->len - start + 2 > OPTION_INDENT)
		buf_addf(out, "\n%*s", OPTION_INDENT, "");
	else
		buf_addf(out, "%*s", (int)(OPTION_INDENT - (out->len - start)),
			 "");
	words_wrap(out, o->help, OPTION_INDENT, OPTION_INDENT);
}

void help_command(const struct command *command, struct buf *out)
{
	buf_addf(out, "Usage: gpugate %s%s%s\n\n", command->name,
		 *command->arguments ? " " : "", command->arguments);
	words_wrap(out, command->description, 0, 0);
	buf_adds(out, "\nOptions:\n");
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].commands & command->bit)
			help_option(&option_table[i], out);
}

int flush_out(void)
{
	bool failed = ferror(stdout);

	if (!fflush(stdout) && !failed)
		return 0;
	log_error("standard output: %s", strerror(errno ? errno : EIO));
	return 2;
}

int print_out(struct buf *out)
{
	errno = 0;
	fwrite(out->data, 1, out->len, stdout);
	buf_release(out);
	return flush_out();
}
