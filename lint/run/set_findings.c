/* SPDX-License-Identifier: Apache-2.0 */
#include "set_findings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void set_findings_init(struct set_findings *set)
{
	memset(set, 0, sizeof(*set));
	spill_init(&set->spill);
}

void set_findings_release(struct set_findings *set)
{
	spill_release(&set->spill);
	free(set->records);
}

void set_findings_put(struct set_findings *set, uint32_t file,
		      struct finding *const *findings, size_t n)
{
	*ARRAY_PUSH(set->records, set->n, set->size) = (struct set_record){
		file, spill_write(&set->spill, findings, n)};
}

int set_findings_take(struct set_findings *set, uint32_t file,
		      struct arena *arena, const void **bytes)
{
	*bytes = NULL;
	if (set->next == set->n || set->records[set->next].file != file)
		return 0;
	*bytes = spill_copy(&set->spill, &set->records[set->next++].record,
			    arena);
	return *bytes ? 0 : set->spill.error;
}

int set_findings_of(struct set_findings *set, uint32_t file,
		    struct arena *arena, const void **bytes)
{
	*bytes = NULL;
	for (size_t i = 0; i < set->n; i++) {
		if (set->records[i].file != file)
			continue;
		*bytes =
			spill_copy(&set->spill, &set->records[i].record, arena);
		return *bytes ? 0 : set->spill.error;
	}
	return 0;
}
