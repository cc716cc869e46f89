/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects that files have changed. Links are followed, so all of these are
 * detected: a replaced `..data` link of a ConfigMap or Secret, a rename over
 * the file, a rewrite in place, and removing and restoring the file. For a
 * folder, all files in it and below are watched.
 *
 * A signature (device, inode, size, times) is computed each second. A change is
 * reported once, after two checks 50 ms apart give the same signature, so that
 * a file is not read while it is being written; a file that is written
 * continuously is reported after two seconds. Only one thread may use a watch.
 *
 *	wait for watch_wait() milliseconds;
 *	if (watch_changed(watch))
 *		load again;
 */
#ifndef WEBHOOK_WATCH_H
#define WEBHOOK_WATCH_H

#include <stdbool.h>

struct watch;

/* Creates a watch of the files in the NULL-terminated list of paths, which is
 * copied. The files need not exist. */
struct watch *watch_new(const char *const *paths);
void watch_free(struct watch *watch);
/* Returns the milliseconds until the next call of watch_changed() is due: at
 * most 1000. */
int watch_wait(const struct watch *watch);
/*
 * Returns true if a file has changed since this function last returned true, or
 * since the start.
 */
bool watch_changed(struct watch *watch);

#endif
