/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The purpose of a pod, derived from its kind, commands, images and namespace.
 */
#ifndef KUBE_CLASS_H
#define KUBE_CLASS_H

#include "kube/object.h"

struct argv;

/* True for pods of a kind made for training, or with a training command. */
bool pod_is_training(const struct pod *pod);
bool pod_is_serving(const struct pod *pod);
/* Returns whether the container answers only after it has loaded a model. Such
 * servers are recognized by command and image; Ollama loads on request; others
 * are unknown. */
enum tri container_loads_model(const struct argv *argv,
			       const struct container *c);
enum pod_purpose { PURPOSE_NONE, PURPOSE_TRAINING, PURPOSE_SERVING };
/* Returns what its command, or its image's entrypoint, starts: a model server,
 * a training. */
enum pod_purpose container_purpose(const struct container *c);
/* True for a role that starts the ranks in other pods. */
bool pod_is_launcher(const struct pod *pod);
/* True for a role without a device that must run near pods with devices: its
 * operator keeps them in one domain. */
bool pod_follows_devices(const struct pod *pod);
/* Yes for a namespace in the policy's `infrastructure:`, or in its default
 * without that key. NULL: unknown. */
enum tri namespace_is_infrastructure(const struct kube_config *config,
				     const char *namespace);
/*
 * True for pods that rules about waste skip: device plugins, drivers,
 * monitoring. Only a namespace that the policy lists makes them infrastructure,
 * since a tenant chooses names of images and kinds; but if the namespace is
 * unknown, a DaemonSet or an image of that name is skipped as well.
 */
bool pod_is_infrastructure(const struct pod *pod);
/* True if it may see devices that it does not request: infrastructure; in an
 * unknown namespace a DaemonSet, or a pod with such images in all of its
 * containers. */
bool pod_is_trusted(const struct pod *pod);
/* Text for the help of findings that infrastructure is exempt from: how a
 * DaemonSet, or a pod with such an image, becomes infrastructure; "" for all
 * others. */
const char *pod_infrastructure_hint(const struct pod *pod);
/* True if a label of the object or of the pod marks it as a test: by its
 * environment, its purpose or its queue. */
bool pod_is_test(const struct pod *pod);
/* True if its object's namespace matches an item of "a,b*". */
bool pod_in_namespaces(struct arena *arena, const struct pod *pod,
		       const char *namespaces);
/* The label key that pins the pod to accelerator nodes, by nodeSelector or
 * required affinity (In, Exists, Gt), or NULL. *label gets its row. */
const struct node *pod_gpu_selector(const struct pod *pod,
				    const struct node_label **label);
/* Returns the key as written there; the row's key may be a pattern. */
const char *gpu_selector_key(const struct node *selector);

#endif
