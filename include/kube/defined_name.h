/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that other objects of the input define, for rules that check one
 * object: resources of DeviceClasses, RuntimeClasses that select nodes, models
 * of KServe's caches, namespaces, kinds of CustomResourceDefinitions, and
 * variables that containers take from ConfigMaps and Secrets by envFrom. Pods
 * can request devices of a DeviceClass by a resource name, like devices of a
 * device plugin. Kubernetes enables this by default since 1.36 (feature gate
 * DRAExtendedResource).
 */
#ifndef KUBE_DEFINED_NAME_H
#define KUBE_DEFINED_NAME_H

#include "doc/load.h"
#include "kube/cluster/cluster.h"

enum defined_kind {
	DEFINED_DEVICE,	 /* extended resource of a DeviceClass */
	DEFINED_RUNTIME, /* RuntimeClass with `scheduling` */
	/* sourceModelUri of a LocalModelCache or LocalModelNamespaceCache */
	DEFINED_MODEL,
	/* Namespace that may have claims with adminAccess */
	DEFINED_ADMIN,
	DEFINED_NO_ADMIN, /* Namespace that may not have such claims */
	/* GROUP/KIND of a CustomResourceDefinition */
	DEFINED_KIND,
	/* NAMESPACE/KIND/NAME/KEY of a ConfigMap or Secret whose key is
	 * NVIDIA_VISIBLE_DEVICES or CUDA_VERSION, or the end of one of these
	 * names, to which envFrom may add a prefix */
	DEFINED_VARIABLE,
	/* NAMESPACE/KIND/NAME of a ConfigMap or Secret without such a key */
	DEFINED_NO_VARIABLE,
};

struct defined_name {
	enum defined_kind kind;
	const char *text;
	const char *vendor; /* NULL: not known to be an accelerator */
};

/* True if the text may define names. */
bool defined_names_may_be_in(const char *text, size_t len);
/* Calls found() for each name that the document defines. The strings are in the
 * document or in the arena. */
void defined_names_of(const struct doc *doc, struct arena *arena,
		      void (*found)(void *context,
				    const struct defined_name *name),
		      void *context);
/* True if the defined name covers the requested one. A cache also covers the
 * folders below its model. */
bool defined_name_is(const struct defined_name *name, enum defined_kind kind,
		     const char *text);

/* The resources that the DeviceClasses of a cluster define, sorted. They are
 * read once, because an object may request tens of thousands of names. */
struct cluster_names {
	struct arena arena; /* memory of the names; the owner releases it */
	uint64_t serial;    /* serial number of the cluster, or 0 */
	struct defined_name *items;
	size_t n;
};

/* Reads the names of the cluster, unless they are those that were read last. */
void cluster_names_read(struct cluster_names *names,
			const struct cluster *cluster);
/* Finds a resource, or returns NULL. */
const struct defined_name *cluster_name_find(const struct cluster_names *names,
					     const char *resource);

#endif
