/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses as Go's net/netip reads them. */
#ifndef CEL_ADDRESS_H
#define CEL_ADDRESS_H

#include "rules/cel/lib/lib_internal.h"

struct address {
	unsigned char bytes[16];
	int size;  /* number of bytes, 4 or 16 */
	bool zone; /* followed by a zone such as `%eth0` */
};

bool address_parse(struct cel_text text, struct address *out);

#endif
