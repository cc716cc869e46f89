/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes manifests by their file names. */
#ifndef LINT_NAMES_H
#define LINT_NAMES_H

#include <stdbool.h>

/* True if the name ends in .yaml, .yml or .json. */
bool is_manifest(const char *name);

#endif
