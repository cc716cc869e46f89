/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How BUG() ends a program whose standard error is a log, and which must not
 * raise a signal. Without this it prints a line and aborts.
 */
#ifndef BASE_BUG_H
#define BASE_BUG_H

/* Called once, by any thread, which may be out of memory; must not return. To
 * be set before there are threads. */
void bug_set_end(void (*end)(const char *file, int line, const char *text));

#endif
