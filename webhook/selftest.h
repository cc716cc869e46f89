/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugated selftest`: sends reviews over TLS to a server that it starts, or
 * one review to a running server. Returns the exit status, 0 or 1.
 */
#ifndef WEBHOOK_SELFTEST_H
#define WEBHOOK_SELFTEST_H

#include "options.h"

int selftest(const struct serve_options *options);

#endif
