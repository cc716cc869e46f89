/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of glibc that the linter uses and musl lacks. Builds with musl
 * (deploy/release/cross.sh) include this header before every file.
 */
#ifndef PLATFORM_PLATFORM_H
#define PLATFORM_PLATFORM_H

#define _LARGEFILE64_SOURCE 1 /* for struct dirent64 and getdents64() */

#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)

static inline int renameat2(int from, const char *old, int to, const char *new,
			    unsigned flags)
{
	return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}
#endif

#endif
