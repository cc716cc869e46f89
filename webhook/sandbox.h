/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops rights that a process which only answers reviews does not need:
 * capabilities, starting programs, writing files, opening sockets. An attacker
 * who controls a thread has only the remaining rights.
 */
#ifndef WEBHOOK_SANDBOX_H
#define WEBHOOK_SANDBOX_H

#include <stdbool.h>

#include "base/err.h"
#include "webhook/observe/log.h"

/*
 * Forbids core dumps, new privileges and all capabilities except the one for
 * binding low ports. Must be called before threads start, because capabilities
 * are per thread.
 */
int sandbox_prepare(struct err *err);

/* Returns true if the filter is compiled in. A sanitizer needs calls that the
 * filter rejects. */
bool sandbox_available(void);

/*
 * Installs the filter in all threads, and drops the remaining capabilities of
 * the calling one. Must be called once all listening sockets are open. A
 * rejected call fails with EPERM; the first few are logged to log_fd. Returns
 * -1, and no call is rejected, if the filter cannot be installed. If client is
 * set, the process is a client of an API server: it may open sockets, and start
 * the threads that resolve names.
 */
int sandbox_enter(int log_fd, bool json, bool client, struct err *err);

#endif
