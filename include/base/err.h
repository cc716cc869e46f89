/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: failed operations of the program itself (read, parse, connect), never
 * findings.
 *
 * A struct err lives on the caller's stack, is never freed, and is not written
 * on success. The first error wins; err_wrap() prepends context on the way up.
 * Functions that take one return 0, or -1 after setting it. NULL is allowed
 * wherever a struct err pointer is taken.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
	int code;	 /* errno value, or 0 if none applies */
	int set;	 /* an error is recorded */
	unsigned line;	 /* 1-based; 0 if the position is unknown */
	unsigned column; /* 1-based code points, 0 if unknown */
	char text[400];
};

/* Records an error unless one is recorded already; always returns -1. */
int err_set(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Like err_set(), with a position in the file being read. */
int err_set_at(struct err *err, unsigned line, unsigned column, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));

/* Prepends "context: " to a recorded error, unless it leaves no room for the
 * error. Always returns -1. */
int err_wrap(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Reports a defect of gpugate with its source position, and ends the program by
 * abort(), unless bug_set_end() sets another end. */
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
__attribute__((noreturn, format(printf, 3, 4))) void
bug_at(const char *file, int line, const char *fmt, ...);

/* Ends work that cannot continue. Leaves escape_run() (base/escape.h) if the
 * thread is in one; else removes temporary files (base/replace.h), prints a
 * message and ends with status 2, without flushing buffers, unless
 * bug_set_end() sets another end. */
#define OUT_OF_MEMORY() out_of_memory_at(__FILE__, __LINE__)
__attribute__((noreturn)) void out_of_memory_at(const char *file, int line);

/*
 * The end of the program in BUG() and OUT_OF_MEMORY() (base/err.h). A program
 * with a structured log can replace the default way, and others can clean up
 * before it.
 */

/* Sets the function that ends the program; it must not return. It is called
 * once, by any thread, possibly without memory. Call this before threads
 * start. */
void bug_set_end(void (*end)(const char *file, int line, const char *text));
/* Sets a function that is called before the program ends in the default way. */
void bug_set_clean_up(void (*clean_up)(void));

#endif
