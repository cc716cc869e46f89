/* SPDX-License-Identifier: Apache-2.0 */
/* Servers in containers, and their probes. */
#ifndef KUBE_SERVER_H
#define KUBE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/command/command.h"
#include "kube/container.h"
#include "kube/object.h"
#include "kube/pod.h"

/* The model and the port of a model server. */

/* Returns the hub id (owner/name) of the model in the container's command or
 * variables; NULL if there is none, it is a path, or it is unknown. */
const char *container_hub_model(const struct argv *argv,
				const struct container *c);
/* Returns the pod's only container besides init containers; NULL if there are
 * several or none. */
const struct container *pod_only_container(const struct pod *pod);
/* Returns the name of the model server that the container starts, such as
 * "vLLM", "SGLang" or "Ollama"; NULL for other programs. */
const char *container_server(const struct container *c);
/* The port on which a container's server listens. */
struct listen_port {
	int64_t number; /* 0 if unknown */
	/* the value that contains it; for a default, the one that names the
	 * server */
	const struct node *at;
	bool by_default;
};
struct listen_port container_listens_on(const struct container *c);

/*
 * Probes of a container with the API server's defaults filled in, and the size
 * of the model that it loads.
 */

struct container_probe {
	const struct node *node;
	int64_t delay, period, failures, timeout;
	bool unknown; /* a number in the probe is unknown */
	bool exec, tcp;
};
/* Reads the probe of that name ("livenessProbe"); returns false if there is
 * none. */
bool container_probe(const struct container *c, const char *name,
		     struct container_probe *out);
/* Returns the seconds until the probe has failed for a container that never
 * answers. */
int64_t probe_budget(const struct container_probe *probe);
/*
 * Returns the number of the model's parameters in units of 0.1 billion, from
 * the container's flags, variables or image name: 700 for "Llama-3.1-70B", 80
 * for "8b", 10 for servers of embedding models. Quantized weights count less:
 * 23 for "7b-awq", 35 for "7b-fp8". Returns 0 if the number is unknown.
 */
int64_t container_model_size(const struct container *c);

#endif
