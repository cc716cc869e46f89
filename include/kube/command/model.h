/* SPDX-License-Identifier: Apache-2.0 */
/* Models that a container downloads from a hub when it starts. */
#ifndef KUBE_MODEL_H
#define KUBE_MODEL_H

#include <stdbool.h>

#include "kube/command/argv.h"
#include "kube/object.h"

/* Returns the hub id (owner/name) of the model in the container's command or
 * variables; NULL if there is none, it is a path, or it is unknown. */
const char *container_hub_model(const struct argv *argv,
				const struct container *c);

#endif
