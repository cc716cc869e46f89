/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of libcrypto.
 */
#ifndef WEBHOOK_CRYPTO_MEMORY_H
#define WEBHOOK_CRYPTO_MEMORY_H

/* Must be called before anything else uses libcrypto. */
void crypto_memory_use(void);

#endif
