/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of devices that a container's commands expect: processes of torchrun,
 * accelerate, deepspeed and mpirun, shards and replicas of a model server. They
 * are read from flags, from environment variables of the same meaning, and from
 * fields that the operator turns into a command. A variable in a value is
 * resolved if the container or its script sets it.
 */
#ifndef KUBE_PARALLEL_H
#define KUBE_PARALLEL_H

#include "base/arena.h"
#include "kube/container.h"

enum parallel_type {
	PARALLEL_SERVER,   /* serves a model that it spreads over devices */
	PARALLEL_LAUNCHER, /* starts processes on this node */
	PARALLEL_MPI,	   /* starts processes on all hosts of its list */
};

enum degree_of {
	DEGREE_TENSOR,	  /* shards of each layer */
	DEGREE_PIPELINE,  /* groups of layers that run one after the other */
	DEGREE_CONTEXT,	  /* parts of a prompt (vLLM) */
	DEGREE_DATA,	  /* copies of the model */
	DEGREE_LOCAL,	  /* data-parallel copies on this node */
	DEGREE_PROCESSES, /* processes on this node */
	DEGREE_TOTAL,	  /* processes on all nodes */
	DEGREE_NODES,
	DEGREES
};

struct degree {
	bool given;   /* set by a flag, a variable or a field of the server */
	bool unknown; /* set, but to an unknown number */
	bool all;     /* set to the number of devices: `gpu`, `auto` */
	int64_t n;    /* the smaller number of "2:4" (least and most) */
	int64_t max;  /* the larger number */
	/* name of the flag, variable or field: "--nproc-per-node" */
	const char *by;
	const struct node *node; /* node that contains it */
};

struct parallel {
	enum parallel_type type;
	const char *program;	 /* "torchrun", "vLLM" */
	const struct node *node; /* node of the word, or of the container */
	struct degree degrees[DEGREES];
	/* Ray, a hostfile, a settings file or copies on other nodes may place
	 * or count its processes. */
	bool spread;
	bool unknown; /* unknown parts may hide flags */
	bool cpu;     /* runs without devices */
	bool alone;   /* runs with Ray in one container, also in a group */
	bool one_pod; /* counts devices of one pod, also in a group */
	/* only the operator versions that `program` names read these degrees */
	bool versions;
};

struct parallel_list {
	struct parallel *items;
	size_t n, size;
};

/* Finds all commands of the container that use several devices, in order. */
struct parallel_list container_parallel(const struct container *c);
/*
 * Returns the number of devices that a server, or a launcher for this node,
 * uses in its container; 0 if unknown or all devices, and for a command with
 * spread or cpu. *by (by may be NULL) gets the largest degree that is set, or
 * NULL.
 */
int64_t parallel_devices(const struct parallel *parallel,
			 const struct degree **by);
/*
 * Returns the number of nodes of the container's only launcher, if it is
 * torchrun on several nodes, and neither a flag nor a variable gives it an
 * address, a rendezvous or a rank: it is then node 0 at 127.0.0.1. Otherwise
 * returns NULL.
 */
const struct degree *torchrun_without_address(struct parallel_list list,
					      const struct container *c);
/*
 * Returns the number of whole devices that the container requests, if they are
 * of a vendor whose programs start one process per device. Returns 0 if there
 * are none, for parts of devices, or if unknown. Chips of a TPU host and cores
 * of Neuron devices are not counted here.
 */
int64_t container_devices(const struct container *c);

#endif
