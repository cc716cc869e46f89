/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most files hold no secret, and then nothing is parsed or copied. For a file
 * that is gone, tokens are masked by their form.
 */
#include "covered.h"

void covered_make(struct covered *covered, struct arena *arena,
		  const struct source *source)
{
	*covered = (struct covered){.secrets = {.arena = arena}};
	if (source && (secrets_possible(source->text, source->len) ||
		       secrets_plain(source->text, source->len)))
		covered->source = secrets_of_source(&covered->secrets, source);
	covered->any = !source || covered->source;
}

void covered_findings(const struct covered *covered, struct finding *findings,
		      size_t n)
{
	for (size_t i = 0; covered->any && i < n; i++)
		finding_mask(&findings[i], &covered->secrets,
			     covered->secrets.arena);
}
