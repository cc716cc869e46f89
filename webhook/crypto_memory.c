/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for libcrypto. libcrypto 3 handles a failed allocation, except that of
 * a lock, which it uses without a check. If memory runs out, locks are
 * therefore taken from a reserve that suffices for many connections.
 * Interrupting libcrypto's functions by escape.h is not possible, because they
 * may hold other locks.
 */
#include "crypto_memory.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/text.h"

enum { LOCKS = 1024 };

static struct reserved {
	_Alignas(max_align_t) char memory[sizeof(pthread_rwlock_t)];
	atomic_flag taken;
} reserve[LOCKS];

static struct reserved *reserved_at(const void *memory)
{
	uintptr_t at = (uintptr_t)memory, first = (uintptr_t)reserve;

	return at >= first && at < first + sizeof(reserve)
		       ? &reserve[(at - first) / sizeof(*reserve)]
		       : NULL;
}

static void *take_reserved(size_t size)
{
	for (int i = 0; size <= sizeof(reserve->memory) && i < LOCKS; i++)
		if (!atomic_flag_test_and_set(&reserve[i].taken))
			return reserve[i].memory;
	BUG("out of memory for a lock of libcrypto");
}

static void *allocate(size_t size, const char *file, int line)
{
	void *memory = malloc(size);

	if (!memory && size && file && text_ends(file, "threads_pthread.c"))
		memory = take_reserved(size);
	return memory;
}

/* Resizes memory. Locks are never resized. */
static void *retake(void *memory, size_t size, const char *file, int line)
{
	return realloc(memory, size);
}

static void give_back(void *memory, const char *file, int line)
{
	struct reserved *lock = reserved_at(memory);

	if (lock)
		atomic_flag_clear(&lock->taken);
	else
		free(memory);
}

void crypto_memory_use(void)
{
	CRYPTO_set_mem_functions(allocate, retake, give_back);
}
