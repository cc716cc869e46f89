/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks literals that Kubernetes rejects before an expression runs (cel-go
 * cel/validator.go, ext/formatting.go): the argument of matches(), and format()
 * of a literal with a literal list.
 */
#ifndef CEL_LITERAL_H
#define CEL_LITERAL_H

#include "cel/value.h"

bool cel_literal_regex(struct cel_text text);
/* Returns the problem, as a text in the arena. If there is none, returns NULL
 * and sets verbs[i] to the verb for item i of the list's n items, whose types
 * are in types. */
const char *cel_format_check(struct arena *arena, struct cel_text text,
			     const struct cel_type *const *types, size_t n,
			     char *verbs);
/* Returns the reason why a verb accepts no values of the type, or NULL. */
const char *cel_format_refusal(struct arena *arena, char verb,
			       const struct cel_type *type);

#endif
