/* SPDX-License-Identifier: Apache-2.0 */
/* Checks names for a certificate. */
#ifndef CERTS_NAME_H
#define CERTS_NAME_H

#include <stdbool.h>

/* Returns true for labels of letters, digits, '-' and '_', separated by dots;
 * the first label may be "*". Returns false for addresses, and for names of
 * more than 253 bytes. */
bool name_is_dns(const char *name);
/* Returns true for an IPv4 or IPv6 address. */
bool name_is_address(const char *text);

#endif
