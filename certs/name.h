/* SPDX-License-Identifier: Apache-2.0 */
/* Checks names for a certificate. */
#ifndef CERTS_NAME_H
#define CERTS_NAME_H

#include <stdbool.h>

/* Accepts labels of letters, digits, '-' and '_', separated by dots; the first
 * label may be "*". */
bool name_is_dns(const char *name);
bool name_is_address(const char *text);

#endif
