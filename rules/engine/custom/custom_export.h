/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of custom_export() that write CEL. */
#ifndef RULES_ENGINE_CUSTOM_EXPORT_H
#define RULES_ENGINE_CUSTOM_EXPORT_H

#include "base/buf.h"
#include "custom_internal.h"

/* The reason why a rule cannot be expressed: NULL, or a clause in the arena. */
struct custom_export {
	struct arena *arena;
	const struct custom_rule *rule;
	const char *const *given;  /* setting->params */
	struct custom_kind *kinds; /* of the rule; each with its group */
	size_t nkinds, kinds_size;
	const char *why;
};

/* Writes a text between single quotes. */
void export_quoted(struct buf *out, const char *text, size_t len);
/* Writes `params` as a literal, with the policy's values. */
void export_params(struct custom_export *e, struct buf *out);
/* Writes the list of an object's pods, over all kinds that the rule matches. */
void export_pods(struct custom_export *e, struct buf *out);

#endif
