/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks DNS names by the rules of Go's crypto/x509 (validHostname): Go never
 * matches a name with a trailing dot or an empty label, so such a name is
 * rejected here.
 */
#include "name.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

enum { NAME_MAX_LEN = 253, LABEL_MAX_LEN = 63 };

static bool is_label(const char *label, size_t len)
{
	if (len == 0 || len > LABEL_MAX_LEN || label[0] == '-' ||
	    label[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = label[i];

		if (c >= 0x80 || !(isalnum(c) || c == '-' || c == '_'))
			return false;
	}
	return true;
}

bool name_is_dns(const char *name)
{
	if (strlen(name) > NAME_MAX_LEN || name_is_address(name))
		return false;
	if (strncmp(name, "*.", 2) == 0)
		name += 2;
	for (;;) {
		size_t len = strcspn(name, ".");

		if (!is_label(name, len))
			return false;
		if (!name[len])
			return true;
		name += len + 1;
	}
}

bool name_is_address(const char *text)
{
	unsigned char address[16];

	return inet_pton(AF_INET, text, address) == 1 ||
	       inet_pton(AF_INET6, text, address) == 1;
}
