/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waking a thread costs more than a file's findings: who waits is called when
 * there is a batch of them. What is taken is copied under the lock, since the
 * spill's buffer is written on.
 */
#include "set_findings.h"

#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "heap.h"

enum { BATCH = 64 };

void set_findings_init(struct set_findings *set, const struct rule_set *rules)
{
	memset(set, 0, sizeof(*set));
	pthread_mutex_init(&set->lock, NULL);
	pthread_cond_init(&set->more, NULL);
	spill_init(&set->spill, rules);
}

void set_findings_release(struct set_findings *set)
{
	spill_release(&set->spill);
	free(set->records);
	pthread_mutex_destroy(&set->lock);
	pthread_cond_destroy(&set->more);
}

/* Under the lock. */
static void call(struct set_findings *set)
{
	if (!set->waited)
		return;
	set->waited = false;
	pthread_cond_signal(&set->more);
}

void set_findings_put(struct set_findings *set, uint32_t file,
		      const struct finding *findings, size_t n)
{
	pthread_mutex_lock(&set->lock);
	*HEAP_PUSH(set->records, set->n, set->size) = (struct set_record){
		file, spill_write(&set->spill, findings, n)};
	if (set->n - set->next >= BATCH)
		call(set);
	pthread_mutex_unlock(&set->lock);
}

void set_findings_end(struct set_findings *set)
{
	pthread_mutex_lock(&set->lock);
	set->over = true;
	call(set);
	pthread_mutex_unlock(&set->lock);
}

int set_findings_take(struct set_findings *set, uint32_t file,
		      struct arena *arena, struct finding **findings, size_t *n)
{
	const struct set_record *next;
	const void *bytes = NULL;
	unsigned tries = 0;
	int error;

	*n = 0;
	pthread_mutex_lock(&set->lock);
	while (set->next == set->n && !set->over) {
		set->waited = true;
		crew_doze(&set->more, &set->lock, &tries);
	}
	next = set->next < set->n ? &set->records[set->next] : NULL;
	if (next && next->file == file) {
		bytes = spill_copy(&set->spill, &next->record, arena);
		set->next++;
	}
	error = set->spill.error;
	pthread_mutex_unlock(&set->lock);
	if (!bytes)
		return error;
	spill_decode(set->spill.rules, bytes, arena, findings, n);
	return 0;
}
