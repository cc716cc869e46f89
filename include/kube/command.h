/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a container's command: does it end by itself, does it
 * only wait, or is it a shell for people? All of it is a guess from the words;
 * a command that could be anything gets COMMAND_UNKNOWN.
 */
#ifndef KUBE_COMMAND_H
#define KUBE_COMMAND_H

#include "base/arena.h"
#include "kube/object.h"

enum command_sort {
	COMMAND_UNKNOWN,
	COMMAND_ENDS,	     /* nvidia-smi, python x.py, a sample's binary */
	COMMAND_WAITS,	     /* sleep infinity, tail -f /dev/null */
	COMMAND_INTERACTIVE, /* jupyter, code-server, bash on a terminal */
};

struct command {
	enum command_sort sort;
	const char *what;      /* the telling word: "nvidia-smi", "sleep" */
	const struct node *at; /* where it stands (or the image) */
};

struct command container_command(struct arena *arena,
				 const struct container *c);
/* The command list, else args, else NULL. */
const struct node *container_command_node(const struct container *c);

#endif
