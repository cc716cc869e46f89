/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Help texts, made from the tables of options.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "options.h"

enum { WIDTH = 78, OPTION_INDENT = 26 };

/* One paragraph's words; returns where it ends. */
static const char *wrap_words(struct buf *out, const char *text, size_t column,
			      size_t indent)
{
	bool first = true;

	for (;;) {
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " \n");
		if (!len)
			return text;
		if (!first && column + 1 + len > WIDTH) {
			buf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, len);
		column += len;
		text += len;
		first = false;
	}
}

void help_wrap(struct buf *out, const char *text, size_t column, size_t indent)
{
	for (;;) {
		text = wrap_words(out, text, column, indent);
		buf_addc(out, '\n');
		if (!*text)
			return;
		text++;
		if (*text && *text != '\n')
			buf_addf(out, "%*s", (int)indent, "");
		column = indent;
	}
}

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
	help_wrap(out, o->help, OPTION_INDENT, OPTION_INDENT);
}

void help_command(const struct command *command, struct buf *out)
{
	buf_addf(out, "Usage: gpugate %s%s%s\n\n", command->name,
		 *command->arguments ? " " : "", command->arguments);
	help_wrap(out, command->description, 0, 0);
	buf_adds(out, "\nOptions:\n");
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].commands & command->bit)
			help_option(&option_table[i], out);
}

int print_out(struct buf *out)
{
	int failed;

	fwrite(out->data, 1, out->len, stdout);
	buf_release(out);
	failed = ferror(stdout);
	if (fflush(stdout) || failed) {
		log_error("standard output: %s", strerror(errno));
		return 2;
	}
	return 0;
}
