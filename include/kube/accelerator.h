/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accelerators: extended resource names, MIG profiles, node labels, instance
 * types. All of it is data (rules/kube/data), compiled in; a policy may add
 * resource names. The data files name the source of each row.
 */
#ifndef KUBE_ACCELERATOR_H
#define KUBE_ACCELERATOR_H

#include <stdbool.h>
#include <stddef.h>

enum accel_class {
	ACCEL_WHOLE,   /* a unit is a device: nvidia.com/gpu, google.com/tpu */
	ACCEL_SHARED,  /* time-sliced or MPS replica: nvidia.com/gpu.shared */
	ACCEL_MIG,     /* nvidia.com/mig-1g.10gb */
	ACCEL_VIRTUAL, /* vgpu, pgpu, HAMi split device: a device count */
	ACCEL_SHARE, /* a device's memory, cores or percentage: not a number of
			devices */
};

struct accelerator {
	const char *name;   /* exact, or a prefix ending in '*' */
	const char *vendor; /* nvidia, amd, intel, habana, aws, google, ... */
	enum accel_class class;
	const char *taint; /* taint key of the vendor's nodes, or NULL */
	bool named;	   /* not in the tables: a DeviceClass defines it */
};

/* Resource names that the policy adds; zero if there are none. */
struct accelerator_extra {
	const struct accelerator *items;
	size_t n;
	/*
	 * Returns the row of a resource that a DeviceClass defines, or NULL;
	 * called for names that are in no table. May be NULL.
	 */
	const struct accelerator *(*named)(void *context, const char *resource);
	void *context;
};

/* The row for a resource name, or NULL. Exact rows win over prefixes. */
const struct accelerator *
accelerator_find(const struct accelerator_extra *extra, const char *resource);
/* True if the text contains an accelerator's resource name. */
bool accelerator_is_named(const char *text, size_t len);
/* True if a unit is a device (everything but ACCEL_SHARE). */
bool accelerator_counts(const struct accelerator *accelerator);
/* True if a DeviceClass selects the devices, not a device plugin. */
bool accelerator_is_claimed(const struct accelerator *accelerator);
/*
 * The accelerator a misspelled resource name probably means (`nvidia.com/gpus`,
 * `nvidia/gpu`, `nvidia.com/GPU`), or NULL when it resembles none.
 */
const struct accelerator *
accelerator_resembles(const struct accelerator_extra *extra,
		      const char *resource);
/* True if the name (gpu.example.com) is in a domain reserved for examples. */
bool domain_is_reserved(const char *name);
/* Network fabric resources (rdma/..., vpc.amazonaws.com/efa). */
bool fabric_resource(const char *resource);

enum label_meaning {
	LABEL_PRODUCT = 1, /* names an accelerator model */
	LABEL_PRESENCE, /* shows that the node has accelerators (present, count,
			   family) */
	LABEL_COUNT,	/* number of accelerators on the node */
	LABEL_INSTANCE, /* instance type (node.kubernetes.io/instance-type) */
	LABEL_POOL,	/* a node pool that may be a GPU pool */
	LABEL_SPOT,	/* spot or preemptible capacity */
	LABEL_TOPOLOGY, /* TPU topology and similar */
	LABEL_PLATFORM, /* only shows where the nodes run */
};

struct node_label {
	const char *key; /* exact, or prefix ending in '*' */
	enum label_meaning meaning;
	const char *vendor;   /* vendor it implies, or NULL (any) */
	const char *platform; /* gke, eks, karpenter, aks, ...; NULL: any */
};
const struct node_label *node_label_find(const char *key);

/* A valid value of a product label (GKE's cloud.google.com/gke-accelerator). */
struct label_value {
	const char *key, *value;
	const char *vendor;
	const char *product; /* key into mig_profile rows, or NULL */
};
const struct label_value *label_value_find(const char *key, const char *value);
/* True if the list of values of this key is complete (others are
 * suspicious). */
bool label_values_known(const char *key);
const char *label_value_nearest(const char *key, const char *value);

struct instance_type {
	const char *name;   /* p5.48xlarge, a2-highgpu-8g, Standard_ND96... */
	const char *vendor; /* NULL: no accelerator */
	const char *product;
	int accelerators; /* per node; a part of a GPU counts as one */
	int efa;	  /* Elastic Fabric Adapters; 0: unknown */
	int cpus;	  /* vCPUs; 0: not known */
	int memory;	  /* GiB; 0: not known */
};
/* NULL if the type is not in the table. */
const struct instance_type *instance_type_find(const char *name);

/* Taint keys of accelerator nodes (nvidia.com/gpu, amd.com/gpu, ...). */
bool gpu_taint_key(const struct accelerator_extra *extra, const char *key);

/* Images made for GPUs, and infrastructure images (device plugins,
 * dcgm-exporter, drivers) that are not GPU workloads. image may be NULL. */
struct image_type {
	bool gpu, infrastructure;
};
/* Returns both properties at once; for a container use container_image(). */
struct image_type image_type(const char *image);

#endif
