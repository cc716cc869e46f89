/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for libcrypto when allocations fail. */
#ifndef WEBHOOK_CRYPTO_MEMORY_H
#define WEBHOOK_CRYPTO_MEMORY_H

/* Installs the functions. Must be called before other functions use
 * libcrypto. */
void crypto_memory_use(void);

#endif
