/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer follows close behind the producer: few files get findings, and
 * for the others it only needs to know how far the set rules are. Waking a
 * thread costs more than a file's findings, so a sleeping thread is woken once
 * for a batch of files. Records are copied under the lock, because the producer
 * goes on writing to the spill's buffer.
 */
#include "set_findings.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { BATCH = 256, TRIES = 1000 /* some hundred microseconds */ };

void set_findings_init(struct set_findings *set)
{
	memset(set, 0, sizeof(*set));
	pthread_mutex_init(&set->lock, NULL);
	pthread_cond_init(&set->more, NULL);
	atomic_init(&set->reached, 0);
	atomic_init(&set->wanted, UINT32_MAX);
	spill_init(&set->spill);
}

void set_findings_release(struct set_findings *set)
{
	spill_release(&set->spill);
	free(set->records);
	pthread_mutex_destroy(&set->lock);
	pthread_cond_destroy(&set->more);
}

void set_findings_put(struct set_findings *set, uint32_t file,
		      struct finding *const *findings, size_t n)
{
	pthread_mutex_lock(&set->lock);
	*ARRAY_PUSH(set->records, set->n, set->size) = (struct set_record){
		file, spill_write(&set->spill, findings, n)};
	pthread_mutex_unlock(&set->lock);
}

void set_findings_reach(struct set_findings *set, uint32_t file)
{
	atomic_store(&set->reached, file);
	if (atomic_load(&set->wanted) > file)
		return;
	pthread_mutex_lock(&set->lock);
	pthread_cond_signal(&set->more);
	pthread_mutex_unlock(&set->lock);
}

void set_findings_end(struct set_findings *set)
{
	set_findings_reach(set, UINT32_MAX);
}

/* Until all that the file gets is there. */
static void await(struct set_findings *set, uint32_t file)
{
	for (unsigned tries = 0; tries < TRIES; tries++) {
		if (atomic_load(&set->reached) > file)
			return;
		sched_yield();
	}
	pthread_mutex_lock(&set->lock);
	atomic_store(&set->wanted, file + BATCH);
	while (atomic_load(&set->reached) < file + BATCH)
		pthread_cond_wait(&set->more, &set->lock);
	atomic_store(&set->wanted, UINT32_MAX);
	pthread_mutex_unlock(&set->lock);
}

int set_findings_take(struct set_findings *set, uint32_t file,
		      struct arena *arena, const void **bytes)
{
	const struct set_record *next;
	int error;

	*bytes = NULL;
	if (file < set->clear)
		return 0;
	await(set, file);
	pthread_mutex_lock(&set->lock);
	next = set->next < set->n ? &set->records[set->next] : NULL;
	if (next && next->file == file) {
		*bytes = spill_copy(&set->spill, &next->record, arena);
		set->next++;
		next = set->next < set->n ? next + 1 : NULL;
	}
	set->clear = next ? next->file : atomic_load(&set->reached);
	error = set->spill.error;
	pthread_mutex_unlock(&set->lock);
	return *bytes ? 0 : error;
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
