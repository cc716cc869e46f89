/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts how often a 64-bit key occurred. Memory grows with the number of
 * different keys, so formats count within one file, never over the run.
 */
#ifndef LINT_COUNTER_H
#define LINT_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A counter is initially zero; counter_release() frees its memory. */
struct counter {
	struct counter_slot {
		uint64_t key;
		uint32_t count; /* 0: the slot is empty */
	} * slots;
	size_t n, size; /* size is a power of two */
};

/* Increments the count of the key and returns it. */
uint32_t counter_next(struct counter *counter, uint64_t key);
bool counter_has(const struct counter *counter, uint64_t key);
void counter_reset(struct counter *counter);
void counter_release(struct counter *counter);

#endif
