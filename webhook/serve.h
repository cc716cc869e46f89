/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the service from start to end. Returns the exit status: 0 after SIGTERM
 * or SIGINT, 2 if the service cannot start.
 */
#ifndef WEBHOOK_SERVE_H
#define WEBHOOK_SERVE_H

#include "options.h"

int serve(const struct serve_options *options);
/* Returns the value of --threads; by default one for each processor that the
 * process and its container may use, at most 8. */
unsigned serve_threads(const struct serve_options *options);

extern const char program_version[]; /* "1.0.0" */
extern const char program_build[]; /* "1.0.0 (COMMIT)" if the commit is known */

#endif
