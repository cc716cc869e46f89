/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks the secret values of a file. Most files contain none and are neither
 * parsed nor copied. If a file is gone, only tokens that are recognized by
 * their form are masked.
 */
#include "masked.h"

void masked_make(struct masked *masked, struct arena *arena,
		 const struct source *source)
{
	*masked = (struct masked){.secrets = {.arena = arena}};
	if (source && (secrets_possible(source->text, source->len) ||
		       secrets_plain(source->text, source->len)))
		masked->source = secrets_of_source(&masked->secrets, source);
	masked->any = !source || masked->source;
}

void masked_findings(const struct masked *masked, struct finding *findings,
		     size_t n)
{
	for (size_t i = 0; masked->any && i < n; i++)
		finding_mask(&findings[i], &masked->secrets,
			     masked->secrets.arena);
}
