/* SPDX-License-Identifier: Apache-2.0 */
/* Users of the network fabric that a container requests. */
#ifndef KUBE_FABRIC_H
#define KUBE_FABRIC_H

#include <stdbool.h>

#include "kube/object.h"

struct argv;

/* True for fabric resources that NCCL uses by InfiniBand or RoCE verbs. */
bool resource_is_verbs(const char *resource);
/*
 * True if its variables or flags show a library that uses a fabric without
 * NCCL.
 */
bool container_has_fabric_library(const struct argv *argv,
				  const struct container *c);

#endif
