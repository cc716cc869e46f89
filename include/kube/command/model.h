/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models that a container downloads from a hub when it starts, and the folder
 * that caches them.
 */
#ifndef KUBE_MODEL_H
#define KUBE_MODEL_H

#include <stdbool.h>

#include "kube/command/argv.h"
#include "kube/object.h"

/* Returns the hub id (owner/name) of the model in the container's command or
 * variables; NULL if there is none, it is a path, or it is unknown. */
const char *container_hub_model(const struct argv *argv,
				const struct container *c);
/* Returns the cache folder of the hub; NULL if it is unknown. */
const char *container_model_cache(const struct argv *argv,
				  const struct container *c);
/* True if a volume is mounted, or may be mounted, at the path, above it or
 * below it. */
bool container_mounts_near(const struct container *c, const char *path);

#endif
