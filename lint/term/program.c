/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version comes from a file that the Makefile writes when it changes.
 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "version.h"

const char program_version[] = GPUGATE_VERSION;
const char program_build[] = GPUGATE_BUILD;

struct rule_set program_rules(void)
{
	return (struct rule_set){.items = all_rules, .n = all_rules_count};
}

int flush_out(void)
{
	bool failed = ferror(stdout);

	if (!fflush(stdout) && !failed)
		return 0;
	log_line("standard output: %s", strerror(errno ? errno : EIO));
	return 2;
}

int print_out(struct buf *out)
{
	errno = 0;
	fwrite(out->data, 1, out->len, stdout);
	buf_release(out);
	return flush_out();
}
