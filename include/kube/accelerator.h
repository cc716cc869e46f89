/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accelerators: extended resource names, node labels and their values, instance
 * types, classes of images, and network fabrics. The tables are compiled in
 * from rules/kube/data, whose files name the source of each row. A policy or a
 * DeviceClass may add resource names.
 */
#ifndef KUBE_ACCELERATOR_H
#define KUBE_ACCELERATOR_H

#include <stdbool.h>
#include <stddef.h>

enum accel_class {
	ACCEL_WHOLE,  /* a unit is a device: nvidia.com/gpu, google.com/tpu */
	ACCEL_SHARED, /* time-sliced or MPS replica: nvidia.com/gpu.shared */
	ACCEL_MIG,    /* a MIG slice: nvidia.com/mig-1g.10gb */
	/* a virtual device or a partition: nvidia.com/vgpu, amd.com/cpx_nps1 */
	ACCEL_VIRTUAL,
	/* memory, cores or percentage of a device, not a number of devices */
	ACCEL_SHARE,
};

struct accelerator {
	const char *name;   /* exact, or a prefix ending in '*' */
	const char *vendor; /* nvidia, amd, intel, habana, aws, google, ... */
	enum accel_class class;
	/* taint key of nodes with the vendor's devices, or NULL */
	const char *taint;
	bool named; /* defined by a DeviceClass, not by the tables */
};

/* Resource names that the policy adds; all zero if it adds none. */
struct accelerator_extra {
	const struct accelerator *items;
	size_t n;
	/*
	 * Returns the row of a resource that a DeviceClass defines, or NULL. It
	 * is called for names that are in no table. The function pointer may be
	 * NULL.
	 */
	const struct accelerator *(*named)(void *context, const char *resource);
	void *context;
};

/* Returns the row of a resource name, or NULL. The first row of the policy that
 * matches has precedence over the table, in which exact names have precedence
 * over prefixes. */
const struct accelerator *
accelerator_find(const struct accelerator_extra *extra, const char *resource);
/* True if the text contains a resource name of the table. Prefixes are not
 * searched. */
bool accelerator_is_named(const char *text, size_t len);
/* True if one unit of the resource is a device (all classes but ACCEL_SHARE).
 * False for NULL. */
bool accelerator_counts(const struct accelerator *accelerator);
/* True if a DeviceClass provides the devices instead of a device plugin. */
bool accelerator_is_claimed(const struct accelerator *accelerator);
/*
 * Returns the accelerator that a misspelled resource name probably means
 * (`nvidia.com/gpus`, `nvidia/gpu`, `nvidia.com/GPU`), or NULL if it resembles
 * none.
 */
const struct accelerator *
accelerator_resembles(const struct accelerator_extra *extra,
		      const char *resource);
/* True if the name (gpu.example.com) is in a domain reserved for examples. */
bool domain_is_reserved(const char *name);
/* True for network fabric resources (rdma/..., vpc.amazonaws.com/efa). */
bool fabric_resource(const char *resource);

enum label_meaning {
	LABEL_PRODUCT = 1, /* names an accelerator model */
	/* shows that the node has accelerators: their presence, number or
	 * family */
	LABEL_PRESENCE,
	LABEL_COUNT,	/* number of accelerators on the node */
	LABEL_INSTANCE, /* instance type (node.kubernetes.io/instance-type) */
	LABEL_POOL,	/* a node pool that may be a GPU pool */
	LABEL_SPOT,	/* spot or preemptible capacity */
	LABEL_TOPOLOGY, /* topology of TPU slices and similar */
	LABEL_PLATFORM, /* only the platform or location of the node */
};

struct node_label {
	const char *key; /* exact, or a prefix ending in '*' */
	enum label_meaning meaning;
	const char *vendor;   /* vendor that the label implies, or NULL (any) */
	const char *platform; /* gke, eks, karpenter, aks, ..., or NULL (any) */
};
const struct node_label *node_label_find(const char *key);

/* A valid value of a product label (GKE's cloud.google.com/gke-accelerator). */
struct label_value {
	const char *key, *value;
	const char *vendor;
	const char *product; /* its name in the MIG profile rows, or NULL */
};
const struct label_value *label_value_find(const char *key, const char *value);
/* Returns the next row of the key after `after` (NULL: the first), or NULL. If
 * a key has rows, they list all of its values. */
const struct label_value *label_value_next(const char *key,
					   const struct label_value *after);

struct instance_type {
	const char *name;   /* p5.48xlarge, a2-highgpu-8g, Standard_ND96... */
	const char *vendor; /* NULL: the type has no accelerators */
	const char *product;
	int accelerators; /* number per node; a part of a GPU counts as one */
	/* number of Elastic Fabric Adapters, or 0 (unknown) */
	int efa;
	int cpus;   /* vCPUs; 0: unknown */
	int memory; /* GiB; 0: unknown */
};
/* Returns NULL if the type is not in the table. */
const struct instance_type *instance_type_find(const char *name);

/* True for taint keys of accelerator nodes (nvidia.com/gpu, amd.com/gpu,
 * ...). */
bool gpu_taint_key(const struct accelerator_extra *extra, const char *key);

/* Classes of an image: made for GPUs, and infrastructure (device plugins,
 * dcgm-exporter, drivers) that is not a GPU workload. */
struct image_type {
	bool gpu, infrastructure;
};
/* Returns the classes of an image. All are false for NULL and for unknown
 * images. container_image() returns those of a container. */
struct image_type image_type(const char *image);

#endif
