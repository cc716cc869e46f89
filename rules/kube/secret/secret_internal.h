/* SPDX-License-Identifier: Apache-2.0 */
/* Functions to recognize credentials, private to secret/. */
#ifndef RULES_KUBE_SECRET_INTERNAL_H
#define RULES_KUBE_SECRET_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/* True if the text may be a secret: false for texts of less than 4 bytes, for
 * texts that begin like a reference, a path, a placeholder or YAML syntax, and
 * for `true`, `false`, `null` and `none`. */
bool credential_is_value(const char *text, size_t len);

/* Finds values of options of one letter, whose meaning depends on the program:
 * `mysql -pX`, `docker login -p X`. Calls found and returns like
 * secret_credentials() (options.c). */
bool secret_options(const char *text, size_t len,
		    void (*found)(void *context, size_t at, size_t len),
		    void *context);

#endif
