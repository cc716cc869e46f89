/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugated selftest`: reviews over TLS to a server of our own, or to one
 * that is already running. Returns the exit status, 0 or 1.
 */
#ifndef WEBHOOK_SELFTEST_H
#define WEBHOOK_SELFTEST_H

#include "options.h"

int selftest(const struct serve_options *options);

#endif
