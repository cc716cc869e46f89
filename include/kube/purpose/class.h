/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The purpose of a pod, as far as its kind, commands, images and namespace show
 * it.
 */
#ifndef KUBE_CLASS_H
#define KUBE_CLASS_H

#include "kube/object.h"

struct argv;

/* Pods of a kind made for training, or whose command is one. */
bool pod_is_training(const struct pod *pod);
bool pod_is_serving(const struct pod *pod);
/* Returns whether the container answers only after it has loaded a model.
 * Such servers are known by command and image; Ollama loads on request;
 * others are unknown. */
enum tri container_loads_model(const struct argv *argv,
			       const struct container *c);
/* True if its command, or its image's entrypoint, is a model server or starts
 * a training. */
bool container_computes(const struct container *c);
/* A role that starts the ranks in other pods. */
bool pod_is_launcher(const struct pod *pod);
/* A role without a device whose place is that of pods with devices: its
 * operator keeps them in one domain. */
bool pod_follows_devices(const struct pod *pod);
/* One of the policy's, or without that key of its default? NULL: unknown. */
enum tri namespace_is_infrastructure(const struct kube_config *config,
				     const char *namespace);
/*
 * Left out by rules about waste: device plugins, drivers, monitoring. Only a
 * namespace that the policy lists makes them so, since names of images and
 * kinds are a tenant's to choose; but where the namespace is not known,
 * a DaemonSet or an image of that name is not judged either.
 */
bool pod_is_infrastructure(const struct pod *pod);
/* True if it may see devices that it does not request. The second function:
 * the same with an unknown namespace and such images in all of its
 * containers. */
bool pod_is_trusted(const struct pod *pod);
/* For the help of what infrastructure may do: how a DaemonSet, or a pod with
 * such an image, becomes infrastructure; "" for all others. */
const char *pod_infrastructure_hint(const struct pod *pod);
/* Does a label of the object or of the pod say that it is there for a test: by
 * its environment, its purpose or its queue? */
bool pod_is_test(const struct pod *pod);
/* True if its object's namespace matches one of "a,b*". */
bool pod_in_namespaces(struct arena *arena, const struct pod *pod,
		       const char *namespaces);
/* The label key that pins the pod to accelerator nodes, by nodeSelector or
 * required affinity (In, Exists, Gt), or NULL. *label gets its row. */
const struct node *pod_gpu_selector(const struct pod *pod,
				    const struct node_label **label);
/* Returns the key as written there; the row's key may be a pattern. */
const char *gpu_selector_key(const struct node *selector);

#endif
