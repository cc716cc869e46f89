/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs `gpugated certs`. argv[0] is "certs", and argv ends with NULL. Returns
 * the exit status: 0, or 2 after a message on err.
 */
#ifndef WEBHOOK_CERTS_COMMAND_H
#define WEBHOOK_CERTS_COMMAND_H

#include <stdio.h>

#include "cli/options.h"

extern const struct option_set certs_options;

int certs_command(char **argv, FILE *out, FILE *err);

#endif
