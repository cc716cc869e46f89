/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores an error as text, and ends the program after a bug or when memory runs
 * out. The first error is kept, because it is the cause and later ones are its
 * consequences. Text that does not fit is cut at the end. After err_wrap() the
 * cause is at the end, but 400 bytes suffice because contexts are short
 * (paths).
 */
#include "base/err.h"
#include "base/escape.h"

#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->set)
		return -1;
	err->set = 1;
	err->code = code;
	err->line = 0;
	err->column = 0;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

int err_set_at(struct err *err, unsigned line, unsigned column, const char *fmt,
	       ...)
{
	va_list ap;

	if (!err || err->set)
		return -1;
	err->set = 1;
	err->code = 0;
	err->line = line;
	err->column = column;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char context[sizeof(err->text)];
	size_t len, room;
	va_list ap;

	if (!err || !err->set)
		return -1;
	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
	len = strlen(context);
	if (len + 2 >= sizeof(err->text))
		return -1; /* both do not fit: the cause is more useful */
	room = sizeof(err->text) - 1 - len - 2;
	if (strlen(err->text) > room)
		err->text[room] = '\0';
	memmove(err->text + len + 2, err->text, strlen(err->text) + 1);
	memcpy(err->text, context, len);
	memcpy(err->text + len, ": ", 2);
	return -1;
}

static void (*set_end)(const char *file, int line, const char *text);

void bug_set_end(void (*end)(const char *file, int line, const char *text))
{
	set_end = end;
}

static void (*_Atomic clean_up)(void);

void bug_set_clean_up(void (*wanted)(void))
{
	atomic_store(&clean_up, wanted);
}

static void clean_up_first(void)
{
	void (*wanted)(void) = atomic_load(&clean_up);

	if (wanted)
		wanted();
}

/* Prints a message and ends the program. If several threads fail at once, only
 * the first one prints. */
_Noreturn static void end_once(const char *file, int line, const char *text)
{
	static atomic_flag ended = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&ended))
		set_end(file, line, text);
	for (;;)
		poll(NULL, 0, -1);
}

_Noreturn void bug_at(const char *file, int line, const char *fmt, ...)
{
	char text[sizeof(((struct err *)NULL)->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (set_end)
		end_once(file, line, text);
	fprintf(stderr, "gpugate: bug at %s:%d: %s\n", file, line, text);
	clean_up_first();
	abort();
}

_Noreturn void out_of_memory_at(const char *file, int line)
{
	static const char text[] = "gpugate: out of memory\n";

	escape_leave(ESCAPE_MEMORY);
	if (set_end)
		end_once(file, line, "out of memory");
	clean_up_first();
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(2);
}
