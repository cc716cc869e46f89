/* SPDX-License-Identifier: Apache-2.0 */
/* The model and the port of a model server. */
#ifndef KUBE_SERVER_H
#define KUBE_SERVER_H

#include "kube/command/argv.h"
#include "kube/container.h"
#include "kube/pod.h"

/* Returns the hub id (owner/name) of the model in the container's command or
 * variables; NULL if there is none, it is a path, or it is unknown. */
const char *container_hub_model(const struct argv *argv,
				const struct container *c);
/* Returns the pod's only container besides init containers; NULL if there are
 * several or none. */
const struct container *pod_only_container(const struct pod *pod);
/* The port on which a container's server listens. */
struct listen_port {
	int64_t number; /* 0 if unknown */
	/* the value that contains it; for a default, the one that names the
	 * server */
	const struct node *at;
	bool by_default;
};
struct listen_port container_listens_on(const struct container *c);

#endif
