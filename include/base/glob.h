/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File and name patterns: `*` (not across '/'), `**`, `?`, `[a-z]`, `[!a]` and
 * `{a,b}`. Braces are expanded first; PCRE2 (pcre2_pattern_convert) matches the
 * rest. A pattern without wildcards is compared as text without compilation.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct glob; /* freed by the caller of glob_compile(); threads may share it */

/* flags of glob_compile() */
enum glob_flags {
	GLOB_NAME = 1, /* '/' is an ordinary character (object names) */
};

struct glob *glob_compile(const char *pattern, unsigned flags, struct err *err);
bool glob_match(const struct glob *glob, const char *text);
void glob_free(struct glob *glob);

#endif
