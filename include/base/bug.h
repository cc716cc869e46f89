/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the program in BUG() and OUT_OF_MEMORY() (base/err.h). A program
 * with a structured log can replace the default way, and others can clean up
 * before it.
 */
#ifndef BASE_BUG_H
#define BASE_BUG_H

/* Sets the function that ends the program; it must not return. It is called
 * once, by any thread, possibly without memory. Call this before threads
 * start. */
void bug_set_end(void (*end)(const char *file, int line, const char *text));
/* Sets a function that is called before the program ends in the default way. */
void bug_set_clean_up(void (*clean_up)(void));

#endif
