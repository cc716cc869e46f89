/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The purpose of a pod, derived from its kind, commands, images and namespace,
 * and the selector that restricts it to accelerator nodes.
 */
#ifndef KUBE_CLASS_H
#define KUBE_CLASS_H

#include "kube/object.h"

struct argv;

/* True for pods of a kind made for training, for pods with a training command,
 * and for pods of a JobSet with several pods if nothing shows another purpose.
 * If a kind made for training also runs other work, its operator or the command
 * decides. False in kinds made for serving, and for DaemonSets. */
bool pod_is_training(const struct pod *pod);
/* True for pods of a kind that serves, for pods with the command or image of a
 * server, and for pods of a Deployment or a similar kind that have a port and
 * no known purpose. False in kinds made for training, and for DaemonSets. */
bool pod_is_serving(const struct pod *pod);
/* Returns whether the container answers only after it has loaded a model. Yes
 * in kinds made for serving, for servers recognized by command or image, and
 * for commands that name a model. No for simulators and for Ollama, which loads
 * on request. Unknown for others. */
enum tri container_loads_model(const struct argv *argv,
			       const struct container *c);
enum pod_purpose { PURPOSE_NONE, PURPOSE_TRAINING, PURPOSE_SERVING };
/* Returns the kind of program that the container's command, or the entrypoint
 * of its image, starts. */
enum pod_purpose container_purpose(const struct container *c);
/* True for a role that starts the ranks in other pods. */
bool pod_is_launcher(const struct pod *pod);
/* True for a role without devices whose operator keeps it in the topology
 * domain of pods with devices, or selects nodes with GPUs for it. */
bool pod_follows_devices(const struct pod *pod);
/* Returns yes for a namespace in the policy's `infrastructure:`, or in the
 * default list if the policy lacks it; unknown for NULL. */
enum tri namespace_is_infrastructure(const struct kube_config *config,
				     const char *namespace);
/*
 * True for pods that rules about waste skip: device plugins, drivers,
 * monitoring. Only its namespace (namespace_is_infrastructure()) makes a pod
 * infrastructure, because tenants can choose the names of images and kinds. If
 * the namespace is unknown, a DaemonSet that runs no model server, or a pod
 * with an image of such a name, is skipped as well.
 */
bool pod_is_infrastructure(const struct pod *pod);
/* True if the pod may see devices that it does not request: infrastructure, or
 * in an unknown namespace a DaemonSet or a pod with infrastructure images in
 * all of its containers. */
bool pod_is_trusted(const struct pod *pod);
/* Returns a second sentence of help for findings that infrastructure is exempt
 * from: how a DaemonSet, or a pod with an infrastructure image, is declared
 * infrastructure. Returns "" for other pods. */
const char *pod_infrastructure_hint(const struct pod *pod);
/* True if a label of the object or of the pod marks it as a test, by its
 * environment, its purpose or its queue. */
bool pod_is_test(const struct pod *pod);
/* True if the namespace of the pod's object matches an item of "a,b*". */
bool pod_in_namespaces(struct arena *arena, const struct pod *pod,
		       const char *namespaces);
/* Returns the entry of nodeSelector, or the `key` of an expression of required
 * affinity (In, Exists, Gt), that restricts the pod to accelerator nodes; or
 * NULL. Sets *label (label may be NULL) to the row of the key. */
const struct node *pod_gpu_selector(const struct pod *pod,
				    const struct node_label **label);
/* Returns the key as written in the selector; the row's key may be a
 * pattern. */
const char *gpu_selector_key(const struct node *selector);

#endif
