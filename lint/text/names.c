/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes manifests by their extension; sorts and searches lists of names.
 */
#include "names.h"

#include <stdlib.h>
#include <string.h>

bool is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") ||
		       !strcmp(dot, ".json"));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void names_sort(const char **names, size_t n)
{
	if (n)
		qsort(names, n, sizeof(*names), by_text);
}

bool names_have(const char **names, size_t n, const char *name)
{
	return n && bsearch(&name, names, n, sizeof(*names), by_text);
}
