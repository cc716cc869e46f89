/* SPDX-License-Identifier: Apache-2.0 */
/* getauxval() for the random bytes of a process; other values return 0. */
#ifndef PLATFORM_AUXV_H
#define PLATFORM_AUXV_H

#include <stdlib.h>

#define AT_RANDOM 25

/* Not thread-safe. The 16 bytes live as long as the process, and each call
 * changes them. */
static inline unsigned long getauxval(unsigned long type)
{
	static unsigned char bytes[16];

	if (type != AT_RANDOM)
		return 0;
	arc4random_buf(bytes, sizeof(bytes));
	return (unsigned long)bytes;
}

#endif
