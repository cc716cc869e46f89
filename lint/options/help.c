/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Help texts, made from the tables of options.h.
 */
#include "options.h"

void help_program(struct buf *out)
{
	buf_adds(out, "gpugate checks Kubernetes manifests of GPU workloads "
		      "before they are applied.\n\n"
		      "Usage: gpugate COMMAND [OPTIONS] [ARGUMENTS]\n\n"
		      "Commands:\n");
	for (size_t i = 0; i < command_list.n; i++) {
		const struct command *c = &command_list.items[i];

		if (!c->internal)
			buf_addf(out, "  %-12s %s\n", c->name, c->summary);
	}
	buf_adds(out, "\nOptions of a command: gpugate help COMMAND. "
		      "Every option can also be given\nin the environment: "
		      "--fail-on as GPUGATE_FAIL_ON.\n");
}

void help_command(const struct command *command, struct buf *out)
{
	buf_addf(out, "Usage: gpugate %s%s%s\n\n", command->name,
		 *command->arguments ? " " : "", command->arguments);
	words_wrap(out, command->description, 0, 0);
	buf_adds(out, "\nOptions:\n");
	options_print(&option_set, command->bit, out);
}
