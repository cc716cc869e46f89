/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP addresses as Go's net/netip reads and prints them. Problems are its
 * messages, and live in the arena.
 */
#ifndef CEL_ADDRESS_H
#define CEL_ADDRESS_H

#include "rules/cel/lib/lib_internal.h"

enum { ADDRESS_TEXT = 40 };

struct address {
	unsigned char bytes[16];
	int size;  /* 4 or 16 */
	bool zone; /* `%eth0` was behind it */
};

struct block_of_addresses {
	struct address address;
	int bits;
};

const char *address_parse(struct arena *arena, struct cel_text text,
			  struct address *out);
const char *address_block_parse(struct arena *arena, struct cel_text text,
				struct block_of_addresses *out);
void address_format(const struct address *address, char out[ADDRESS_TEXT]);
void address_mask(struct address *address, int bits); /* zeros behind */
bool address_is_zero(const struct address *address);
bool address_is_mapped(const struct address *address); /* ::ffff:1.2.3.4 */

#endif
