/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: while the file named by SLOW_WHILE exists, opening a path
 * that ends with policy.yaml waits until it is removed.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for(const char *path)
{
	static const char slow[] = "policy.yaml";
	const char *mark = getenv("SLOW_WHILE");
	size_t len = strlen(path), n = sizeof(slow) - 1;

	while (mark && len >= n && !strcmp(path + len - n, slow) &&
	       !access(mark, F_OK))
		usleep(20000);
}

static int real_openat(int folder, const char *path, int flags, int mode)
{
	int (*real)(int, const char *, int, ...);

	*(void **)&real = dlsym(RTLD_NEXT, "openat");
	wait_for(path);
	return real(folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
	va_end(ap);
	return real_openat(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
	va_end(ap);
	return real_openat(folder, path, flags, mode);
}

int __open_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);

int __open_2(const char *path, int flags)
{
	return real_openat(AT_FDCWD, path, flags, 0);
}

int __openat_2(int folder, const char *path, int flags)
{
	return real_openat(folder, path, flags, 0);
}
