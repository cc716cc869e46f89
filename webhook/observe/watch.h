/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects that files have changed. Links are followed, so that the swap of a
 * ConfigMap's or Secret's `..data` link, a rename over the file, a rewrite in
 * place, and removing and restoring it all count. A folder means all files in
 * it and below.
 *
 * A signature (device, inode, size, times) is computed each second. A change is
 * reported once, after two checks 50 ms apart give the same signature: a file
 * is not read while it is being written. One thread uses a watch.
 *
 *	wait for watch_wait() milliseconds;
 *	if (watch_changed(watch))
 *		load again;
 */
#ifndef WEBHOOK_WATCH_H
#define WEBHOOK_WATCH_H

#include <stdbool.h>

struct watch;

/* paths: NULL-terminated, copied; the files need not exist. */
struct watch *watch_new(const char *const *paths);
void watch_free(struct watch *watch);
/* Milliseconds until the next call of watch_changed(): at most 1000. */
int watch_wait(const struct watch *watch);
/*
 * True if something has changed since this last returned true, or since the
 * start.
 */
bool watch_changed(struct watch *watch);

#endif
