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
 * Before there are threads, since capabilities are a thread's own: no core
 * dumps, no new privileges, no capability but the one that binds low ports.
 */
int sandbox_prepare(struct err *err);

/* True if the filter is compiled in. A sanitizer needs more than it grants. */
bool sandbox_available(void);

/*
 * When everything is set up: all threads get the filter. A call that it
 * refuses fails with EPERM and is logged to the log's file, the first few
 * times. -1 where the kernel has no filters; nothing is changed then. client:
 * the process stays one of an API server, so it may open sockets, and start the
 * threads that resolve names.
 */
int sandbox_enter(int log_fd, bool json, bool client, struct err *err);

#endif
