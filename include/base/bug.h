/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines how BUG() and OUT_OF_MEMORY() end a program whose standard error is a
 * log, and which must not raise a signal. Otherwise they behave as in
 * base/err.h.
 */
#ifndef BASE_BUG_H
#define BASE_BUG_H

/* Called once, by any thread, which may be out of memory; must not return. To
 * be set before there are threads. */
void bug_set_end(void (*end)(const char *file, int line, const char *text));
/* Called before a program ends in any other way. */
void bug_set_clean_up(void (*clean_up)(void));

#endif
