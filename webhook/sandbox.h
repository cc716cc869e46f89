/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops rights that a process which only answers reviews does not need:
 * capabilities, new programs, files opened for writing, new sockets. An
 * attacker who takes over a thread has only the remaining ones.
 */
#ifndef WEBHOOK_SANDBOX_H
#define WEBHOOK_SANDBOX_H

#include <stdbool.h>

#include "base/err.h"
#include "webhook/observe/log.h"

/*
 * Must be called before there are threads, since capabilities are per thread.
 * Forbids core dumps, new privileges and all capabilities except the one that
 * binds low ports.
 */
int sandbox_prepare(struct err *err);

/* True if the filter is compiled in. A sanitizer needs more than it grants. */
bool sandbox_available(void);

/*
 * Installs the filter in all threads, after everything is set up. A forbidden
 * call fails with EPERM and is logged to the log's file, the first few times.
 * Returns -1 without a change if the kernel has no filters. client: the process
 * stays a client of an API server, so it may open sockets, and start the
 * threads that resolve names.
 */
int sandbox_enter(int log_fd, bool json, bool client, struct err *err);

#endif
