/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes manifests by the extension .yaml, .yml or .json. */
#include "names.h"

#include <string.h>

bool is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") ||
		       !strcmp(dot, ".json"));
}
