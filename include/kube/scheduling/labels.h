/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node labels in a policy, "KEY=VALUE,...", and the vendor of the accelerators
 * that a label implies.
 */
#ifndef KUBE_LABELS_H
#define KUBE_LABELS_H

#include <stdbool.h>

#include "base/arena.h"
#include "kube/object.h"

struct label_pair {
	const char *key, *value;
};

/* The vendor of the accelerators that nodes with this label have, or NULL. */
const char *node_label_vendor(const char *key, const char *value);

#endif
