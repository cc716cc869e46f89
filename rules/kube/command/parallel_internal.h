/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of programs that use several devices, and of their flags. Each table
 * ends with a row of zeros.
 */
#ifndef KUBE_PARALLEL_INTERNAL_H
#define KUBE_PARALLEL_INTERNAL_H

#include "kube/command/argv.h"
#include "kube/command/parallel.h"
#include "rules/kube/kinds.h"

enum parallel_id {
	ID_TORCHRUN,
	ID_TUNE,
	ID_ACCELERATE,
	ID_DEEPSPEED,
	ID_MPIRUN,
	ID_HOROVODRUN,
	ID_VLLM,
	ID_SGLANG,
	ID_TGI,
	ID_LMDEPLOY,
	ID_TRTLLM,
	ID_TRITON,
};

struct parallel_program {
	const char *name;
	enum parallel_id id;
	enum parallel_type type;
	struct argv_names words; /* base names of the program or module */
	/* word that must follow the program's name, or NULL */
	const char *then;
	const char *image;  /* part of the name of images that start it */
	const char *format; /* KServe's model format that starts it */
	/* the number for each node is known from its flags and --nnodes */
	bool per_node;
	bool by_env;	/* environment variables are read as well */
	bool takes_all; /* by default it uses all devices */
	/* flags by which processes may run on other nodes */
	const char *const *spread;
};
extern struct parallel_program parallel_programs[];

/* A name without a dash is a variable, listed after the flag with the same
 * meaning; rows are in the order of the programs' ids. */
struct parallel_flag {
	enum parallel_id program;
	enum degree_of of;
	const char *name;
};
extern const struct parallel_flag parallel_flags[];

/* Returns the value that the container's command assigns to a variable by
 * NAME=value, and sets *set to whether it is assigned. Returns NULL if it is
 * not assigned, or if its value is unknown, as after several assignments. */
const char *assigned_value(const struct container *c, const char *name,
			   bool *set);

#endif
