/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A way out of work that cannot go on, for a server: without memory, or past
 * its limits, one request fails and not the process. OUT_OF_MEMORY() leaves
 * escape_run() of its thread, if there is one; else it ends the program.
 *
 * When work is abandoned, only its guards are called. Code that may be
 * abandoned sets a guard for each lock or heap allocation that it holds; memory
 * in arenas needs none if the caller releases the arenas.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

enum escape {
	ESCAPE_NONE, /* the work ended normally */
	ESCAPE_MEMORY,
	ESCAPE_TIME,
	ESCAPE_WORK, /* the work exceeded its processor time or memory */
};

/* Limits of the work; 0 means unlimited. Processor time and memory depend only
 * on the work, the elapsed time also on the load of the machine. */
struct escape_limits {
	int64_t elapsed;   /* ms from now */
	int64_t processor; /* ms of the thread, from now */
	size_t memory;	   /* bytes that arenas take, freed ones included */
};

/* Runs the work; limits may be NULL. If calls are nested, only the innermost
 * work is abandoned, so that callbacks of a library return to it. */
enum escape escape_run(void (*work)(void *context), void *context,
		       const struct escape_limits *limits);
/* Leaves escape_run(); returns if the thread is not in one. */
void escape_leave(enum escape why);
/* Counts bytes of memory, and leaves escape_run() if a limit is exceeded. */
void escape_check(size_t bytes);

struct escape_guard {
	void (*end)(void *what);
	void *what;
	struct escape_guard *outer;
};

/* Calls end(what) if the work is left before escape_unguard(). */
void escape_guard(struct escape_guard *guard, void (*end)(void *what),
		  void *what);
/* Removes the guard, which must be the last one set. */
void escape_unguard(struct escape_guard *guard);

#endif
