/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of devices that a container's commands expect: the processes of
 * torchrun, accelerate, deepspeed and mpirun, the shards and replicas of a
 * model server. It reads flags, variables of the same meaning, and variables in
 * values if the container or its script sets them.
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
	DEGREE_PIPELINE,  /* groups of layers, one after the other */
	DEGREE_CONTEXT,	  /* parts of a prompt (vLLM) */
	DEGREE_DATA,	  /* copies of the model */
	DEGREE_LOCAL,	  /* the data-parallel ranks on this node */
	DEGREE_PROCESSES, /* processes on this node */
	DEGREE_TOTAL,	  /* processes on all nodes */
	DEGREE_NODES,
	DEGREES
};

struct degree {
	bool given;   /* set by a flag, a variable, or a field of the server */
	bool unknown; /* given, but its number is unknown */
	bool all;     /* as many as there are devices: `gpu`, `auto` */
	int64_t n;    /* "2:4": the smaller one */
	int64_t max;
	const char *by;		 /* "--nproc-per-node", "NUM_SHARD" */
	const struct node *node; /* where it is */
};

struct parallel {
	enum parallel_type type;
	const char *program;	 /* "torchrun", "vLLM" */
	const struct node *node; /* the word, or the container */
	struct degree degrees[DEGREES];
	/* Ray, a hostfile, a settings file or copies on other nodes may place
	 * or count the processes. */
	bool spread;
	bool unknown; /* unknown parts may hide flags */
	bool cpu;     /* runs without devices */
};

struct parallel_list {
	struct parallel *items;
	size_t n, size;
};

/* Finds each such command of the container, in order. */
struct parallel_list container_parallel(const struct container *c);
/* True if one of its main containers runs vLLM without setting VLLM_PORT, and
 * Kubernetes sets variables for Services in it. */
bool pod_reads_vllm_port(const struct pod *pod);
/*
 * Devices that a server, or a launcher of this node, occupies in its container;
 * 0: unknown, or all devices. *by (may be NULL) gets the largest degree that is
 * set, or NULL.
 */
int64_t parallel_devices(const struct parallel *parallel,
			 const struct degree **by);
/*
 * Whole devices that the container requests, of vendors whose programs start
 * one process for each; 0: none, parts of devices, or unknown. The chips of a
 * TPU host and Neuron's cores are counted elsewhere.
 */
int64_t container_devices(const struct container *c);

#endif
