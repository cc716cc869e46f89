/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind of a container's command: a program that ends by itself, a wait, or
 * an interactive shell. It is guessed from the words; a command that may be
 * anything is COMMAND_UNKNOWN.
 */
#ifndef KUBE_COMMAND_H
#define KUBE_COMMAND_H

#include <stdint.h>

#include "base/arena.h"
#include "kube/object.h"

enum command_type {
	COMMAND_UNKNOWN,
	COMMAND_ENDS,	     /* nvidia-smi, python x.py, a sample's binary */
	COMMAND_WAITS,	     /* sleep infinity, tail -f /dev/null */
	COMMAND_INTERACTIVE, /* jupyter, code-server, bash on a terminal */
};

struct container_command {
	enum command_type type;
	const char *what;      /* identifying word: "nvidia-smi", "sleep" */
	const struct node *at; /* place of the command (or the image) */
	int64_t seconds; /* length of the wait; 0: without end, or unknown */
};

struct container_command container_command(const struct container *c);
/* True if the container only lists or burns in the devices. */
bool container_tests_devices(const struct container *c);
/* True if `timeout` ends its work after at least ten minutes. */
bool container_is_timed(const struct container *c);
/* True if it sleeps, waits or loops, even if only after its work. */
bool container_goes_on(const struct container *c);
/* The command list, else args, else NULL. */
const struct node *container_command_node(const struct container *c);

#endif
