/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node label, and the vendor of the accelerators that it implies.
 */
#ifndef KUBE_LABELS_H
#define KUBE_LABELS_H

#include <stdbool.h>

#include "base/arena.h"
#include "kube/object.h"

struct label_pair {
	const char *key, *value;
};

/* Returns the vendor of the accelerators on nodes with this label, or NULL. */
const char *node_label_vendor(const char *key, const char *value);

#endif
