/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What uses the network fabric that a container asks for.
 */
#ifndef KUBE_FABRIC_H
#define KUBE_FABRIC_H

#include <stdbool.h>

#include "kube/object.h"

struct argv;

/* Of the resources of fabrics, those that NCCL has InfiniBand and RoCE for. */
bool resource_is_verbs(const char *resource);
/* Do its variables or flags show a library that uses a fabric without NCCL? */
bool container_has_fabric_library(const struct argv *argv,
				  const struct container *c);

#endif
