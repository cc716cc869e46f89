/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of a container with the API server's defaults filled in, and the size
 * of the model that it loads.
 */
#ifndef KUBE_PROBE_H
#define KUBE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/object.h"

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
