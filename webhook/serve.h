/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service from its start to its end. Returns the exit status: 0 after
 * SIGTERM or SIGINT, 2 when it cannot start.
 */
#ifndef WEBHOOK_SERVE_H
#define WEBHOOK_SERVE_H

#include "options.h"

int serve(const struct serve_options *options);
/* One per processor that we may use, at most 8. */
unsigned serve_threads(const struct serve_options *options);

extern const char program_version[]; /* "1.0.0" */
extern const char program_build[];   /* "1.0.0 (COMMIT)" where it is known */

#endif
