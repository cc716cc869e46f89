/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of gpugated, and its version. */
#ifndef WEBHOOK_COMMANDS_H
#define WEBHOOK_COMMANDS_H

#include <stdio.h>

#include "cli/options.h"
#include "options.h"

/*
 * Runs the service from start to end. Returns the exit status: 0 after SIGTERM
 * or SIGINT, 2 if the service cannot start.
 */

int serve(const struct serve_options *options);
/* Returns the value of --threads; by default one for each processor that the
 * process and its container may use, at most 8. */
unsigned serve_threads(const struct serve_options *options);

extern const char program_version[]; /* "1.0.0" */
extern const char program_build[]; /* "1.0.0 (COMMIT)" if the commit is known */

/*
 * `gpugated selftest`: sends reviews over TLS to a server that it starts, or
 * one review to a running server. Returns the exit status, 0 or 1.
 */

int selftest(const struct serve_options *options);

/*
 * Runs `gpugated certs`. argv[0] is "certs", and argv ends with NULL. Returns
 * the exit status: 0, or 2 after a message on err.
 */

extern const struct option_set certs_options;

int certs_command(char **argv, FILE *out, FILE *err);

#endif
