/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind of a container's command: a program that ends by itself, a wait, or
 * an interactive shell. It is guessed from the words; a command that fits none
 * of these is COMMAND_UNKNOWN.
 */
#ifndef KUBE_COMMAND_H
#define KUBE_COMMAND_H

#include <stdint.h>

#include "base/arena.h"
#include "kube/object.h"

enum command_type {
	COMMAND_UNKNOWN,
	/* nvidia-smi, python x.py, an image of a CUDA sample */
	COMMAND_ENDS,
	COMMAND_WAITS,	     /* sleep infinity, tail -f /dev/null */
	COMMAND_INTERACTIVE, /* jupyter, code-server, bash on a terminal */
};

struct container_command {
	enum command_type type;
	/* the word that decides: "nvidia-smi", "sleep" */
	const char *what;
	const struct node *at; /* node of that word, or of the image */
	/* length of the wait, or 0 if it is endless or unknown */
	int64_t seconds;
};

struct container_command container_command(const struct container *c);
/* True if a word of the command is a program that lists or tests devices, and
 * none is a Python script, a launcher or vLLM; also true if the image is a
 * sample. */
bool container_tests_devices(const struct container *c);
/* Returns the seconds in the argument of `sleep` or `timeout` (1d, inf, 3600);
 * 0 for a text that does not start with a number. */
double sleep_seconds(const char *time);
/* True if the command has a `while` loop, sleeps in another loop, follows a
 * file, or sleeps for an hour or more or for an unknown time, possibly after
 * its work. */
bool container_goes_on(const struct container *c);
/* Returns the command list, else args, else NULL. */
const struct node *container_command_node(const struct container *c);

#endif
