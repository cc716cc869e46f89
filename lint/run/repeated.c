/* SPDX-License-Identifier: Apache-2.0 */
#include "repeated.h"

#include <stdlib.h>

#include "base/array.h"
#include "rendered.h"

/* Files whose findings were too many have none. */
static size_t count_all(const struct collection *c, bool *any)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nfiles; i++) {
		const struct collected *of = &c->files[i];

		for (size_t f = 0; of->items && f < of->n; f++) {
			const struct finding *one = &of->items[f];

			*any |= one->spec.base_file != NO_FILE ||
				one->value_file != NO_FILE;
			n++;
		}
	}
	return n;
}

static void uncount(struct run_counts *counts, const struct finding *f)
{
	if (f->suppressed)
		counts->suppressed--;
	else
		finding_uncount(counts, f);
	fix_uncount(counts, f);
}

static void drop(struct collected *of, struct run_counts *counts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < of->n; i++)
		if (of->items[i].repeated)
			uncount(counts, &of->items[i]);
		else
			of->items[n++] = of->items[i];
	of->n = n;
}

void repeated_drop(struct collection *c, struct run_counts *counts)
{
	bool any = false;
	size_t n = count_all(c, &any), at = 0;
	struct finding **all;

	if (!any)
		return;
	all = array_zalloc(n, sizeof(*all));
	for (size_t i = 0; i < c->nfiles; i++)
		for (size_t f = 0; c->files[i].items && f < c->files[i].n; f++)
			all[at++] = &c->files[i].items[f];
	if (findings_repeat(all, n))
		for (size_t i = 0; i < c->nfiles; i++)
			if (c->files[i].items)
				drop(&c->files[i], counts);
	free(all);
}
