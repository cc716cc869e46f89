/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that other objects of the input define, for rules that check one
 * object: resources of DeviceClasses, RuntimeClasses that select nodes, and
 * models of KServe's caches. Pods can request devices of a DeviceClass by a
 * resource name, like devices of a device plugin; the feature gate
 * DRAExtendedResource is on by default since Kubernetes 1.36.
 */
#ifndef KUBE_DEFINED_NAME_H
#define KUBE_DEFINED_NAME_H

#include "kube/cluster/cluster.h"

enum defined_kind {
	DEFINED_DEVICE,	 /* extended resource of a DeviceClass */
	DEFINED_RUNTIME, /* RuntimeClass with `scheduling` */
	DEFINED_MODEL,	 /* sourceModelUri of a LocalModelCache */
};

struct defined_name {
	enum defined_kind kind;
	const char *text;
	const char *vendor; /* NULL: not known to be an accelerator */
};

/* Calls found() for each name in the documents of a text; the strings live as
 * long as the arena. */
void defined_names_of_text(struct arena *arena, const char *text, size_t len,
			   void (*found)(void *context,
					 const struct defined_name *name),
			   void *context);
/* True if the defined name covers the requested one. A cache also covers the
 * folders below its model. */
bool defined_name_is(const struct defined_name *name, enum defined_kind kind,
		     const char *text);
/* Finds a DeviceClass's resource. cluster may be NULL; *name receives the
 * result. */
bool defined_name_in_cluster(const struct cluster *cluster,
			     const char *resource, struct arena *arena,
			     struct defined_name *name);

#endif
