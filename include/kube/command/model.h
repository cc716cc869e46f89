/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models that a container downloads from a hub when it starts, and the folder
 * for them.
 */
#ifndef KUBE_MODEL_H
#define KUBE_MODEL_H

#include <stdbool.h>

#include "kube/command/argv.h"
#include "kube/object.h"

/* The hub id (owner/name) in the container's command or variables, or NULL:
 * none, a path, or unknown. */
const char *container_hub_model(const struct argv *argv,
				const struct container *c);
/* The folder of the hub's cache; NULL if it is unknown. */
const char *container_model_cache(const struct argv *argv,
				  const struct container *c);
/* True if a volume is mounted at the path, above it or below it. */
bool container_mounts_near(const struct container *c, const char *path);

#endif
