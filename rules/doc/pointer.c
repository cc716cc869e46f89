/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/pointer.h"

void pointer_add(struct buf *out, const char *key, size_t len)
{
	buf_addc(out, '/');
	for (size_t i = 0; i < len; i++) {
		if (key[i] == '~')
			buf_adds(out, "~0");
		else if (key[i] == '/')
			buf_adds(out, "~1");
		else
			buf_addc(out, key[i]);
	}
}
