/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that a certificate may have.
 */
#ifndef CERTS_NAME_H
#define CERTS_NAME_H

#include <stdbool.h>

/* Accepts labels of letters, digits, '-' and '_'; "*" alone only as the
 * first. */
bool name_is_dns(const char *name);
bool name_is_address(const char *text);

#endif
