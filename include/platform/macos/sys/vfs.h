/* SPDX-License-Identifier: Apache-2.0 */
/* statfs(), which macOS declares in another header. */
#ifndef PLATFORM_VFS_H
#define PLATFORM_VFS_H

#include <sys/mount.h>
#include <sys/param.h>

#endif
