/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounting that keeps the readers within the limits of their loader and the
 * budget of its arena.
 */
#ifndef RULES_DOC_COST_H
#define RULES_DOC_COST_H

#include "doc/load.h"

/* Return the number of nodes, and the flow work, that the next document may
 * use. */
uint32_t cost_nodes(const struct loader *loader);
uint64_t cost_flow_work(const struct loader *loader);
/* Charges to the budget the nodes and the flow work that a reader used. */
void cost_spend(struct loader *loader, uint64_t nodes, uint64_t flow_work);

#endif
