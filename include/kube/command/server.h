/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port of a model server.
 */
#ifndef KUBE_SERVER_H
#define KUBE_SERVER_H

#include "kube/container.h"
#include "kube/pod.h"

/* Returns the pod's only container besides init containers; NULL if there are
 * several or none. */
const struct container *pod_only_container(const struct pod *pod);
/* Returns the port on which the container's server listens, and sets *at to the
 * value that contains it. If the port is unknown, returns 0 and sets *at to
 * NULL. */
int64_t container_listens_on(const struct container *c, const struct node **at);

#endif
