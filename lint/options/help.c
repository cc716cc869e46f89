/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Help texts, made from the tables of options.h.
 */
#include "options.h"

void help_program(struct buf *out)
{
	buf_addf(out,
		 "gpugate checks Kubernetes manifests of GPU workloads before "
		 "they are applied.\n\n"
		 "Usage: %s COMMAND [OPTIONS] [ARGUMENTS]\n\nCommands:\n",
		 program_name());
	for (size_t i = 0; i < command_list.n; i++) {
		const struct command *c = &command_list.items[i];

		if (!c->internal)
			buf_addf(out, "  %-12s %s\n", c->name, c->summary);
	}
	buf_addf(out,
		 "\nOptions of a command: %s help COMMAND. Every option can "
		 "also be given\nin the environment: --fail-on as "
		 "GPUGATE_FAIL_ON.\n",
		 program_name());
}

void help_command(const struct command *command, struct buf *out)
{
	struct buf text;

	buf_addf(out, "Usage: %s %s%s%s\n\n", program_name(), command->name,
		 *command->arguments ? " " : "", command->arguments);
	buf_init(&text);
	program_say(&text, command->description);
	words_wrap(out, text.data, 0, 0);
	buf_release(&text);
	buf_adds(out, "\nOptions:\n");
	options_print(&option_set, command->bit, out);
}
