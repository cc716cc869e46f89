/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of files.
 */
#ifndef LINT_NAMES_H
#define LINT_NAMES_H

#include <stdbool.h>

/* True if the name has the ending of a manifest. */
bool is_manifest(const char *name);

#endif
