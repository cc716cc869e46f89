/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of files, and lists of them.
 */
#ifndef LINT_NAMES_H
#define LINT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* True if the name has the ending of a manifest. */
bool is_manifest(const char *name);
/* Sorts names in the order of strcmp(); searches sorted names. */
void names_sort(const char **names, size_t n);
bool names_have(const char **names, size_t n, const char *name);

#endif
