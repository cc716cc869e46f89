/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of custom_export() that write CEL expressions. */
#ifndef RULES_ENGINE_CUSTOM_EXPORT_H
#define RULES_ENGINE_CUSTOM_EXPORT_H

#include "base/buf.h"
#include "custom_internal.h"

/* State of an export. `why` is the reason why the rule cannot be exported, a
 * clause in the arena, or NULL. */
struct custom_export {
	struct arena *arena;
	const struct custom_rule *rule;
	const char *const *given; /* setting->params */
	/* kinds that the rule matches, with their groups */
	struct custom_kind *kinds;
	size_t nkinds, kinds_size;
	const char *why;
};

/* Writes a text as a CEL literal in single quotes. */
void export_quoted(struct buf *out, const char *text, size_t len);
/* Writes `params` as a literal with the policy's values. */
void export_params(struct custom_export *e, struct buf *out);
/* Writes an expression for the list of an object's pods, for all kinds that the
 * rule matches. */
void export_pods(struct custom_export *e, struct buf *out);

#endif
