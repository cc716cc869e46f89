/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads numbers about the gpugated process from /proc, and the limits of its
 * container. A number from /proc that cannot be read is negative.
 */
#ifndef WEBHOOK_PROCESS_H
#define WEBHOOK_PROCESS_H

#include <stddef.h>

struct process_figures {
	double cpu_seconds;
	double resident_bytes, virtual_bytes;
	double open_fds, max_fds;
};

void process_read(struct process_figures *out);
/*
 * Returns the number of processors that the container's limit allows, rounded
 * up; 0 if it sets none or cannot be read. If folder is NULL, /sys/fs/cgroup is
 * read.
 */
unsigned process_cpu_limit(const char *folder);
/* Returns the bytes that the container may use, or 0 if they are unlimited or
 * the limit cannot be read. */
size_t process_memory_limit(const char *folder);

#endif
