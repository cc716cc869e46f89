/* SPDX-License-Identifier: Apache-2.0 */
/* The purpose of a pod, and the signs that it computes on a GPU. */
#ifndef KUBE_PURPOSE_PURPOSE_H
#define KUBE_PURPOSE_PURPOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/accelerator.h"
#include "kube/command/env.h"
#include "kube/object.h"

/*
 * The purpose of a pod, derived from its kind, commands, images and namespace,
 * and the selector that restricts it to accelerator nodes.
 */

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

/*
 * Decides whether a pod without a device request is meant to use a device.
 * Signs are the image, the command, and how the pod selects its node. Images
 * and commands are guesses; selectors and runtime classes state the author's
 * intent. Signs against it are an image or a command option for CPUs, a
 * visibility variable that hides all GPUs, and a role that only starts other
 * pods or routes requests to them.
 */

enum intent_by {
	INTENT_NONE,
	/* a flag, or NUM_SHARD, for several processes or shards */
	INTENT_FLAG,
	INTENT_PROGRAM,	      /* a program that needs a GPU */
	INTENT_RUNTIME_CLASS, /* runtimeClassName: nvidia */
	INTENT_SELECTOR,      /* requires a label of GPU nodes */
	INTENT_TOLERATION,    /* tolerates the taint of GPU nodes */
	INTENT_IMAGE, /* an image built for GPUs with an unknown program */
};

struct intent {
	enum intent_by by;
	/* Container that would use the device. */
	const struct container *container;
	/* node that shows the intent, to which a finding may refer */
	const struct node *at;
	const char *what; /* name of the flag, program, class, key or image */
	int64_t devices;  /* number in the flag or NUM_SHARD, else 0 */
};

/* Returns the strongest sign that the pod should use a device. Returns
 * INTENT_NONE if the pod shows none, or if a sign says the opposite. */
struct intent pod_gpu_intent(const struct accelerator_extra *extra,
			     const struct pod *pod);

/* True for images that use no GPU: proxies, databases, shells, `*-cpu`. */
bool image_is_cpu(const char *image);
/* True if the pod is a template that other objects use and change (a serving or
 * training runtime, a preset), so that its resources may come from them. */
bool pod_is_preset(const struct pod *pod);
/* True for a role named worker in an object with several roles, where the
 * leader or head gets the requests. */
bool pod_is_group_worker(const struct pod *pod);

/* The effect of the env entry of a visibility variable. */
enum visible {
	VISIBLE_UNSET,
	VISIBLE_UNKNOWN, /* not in the manifest, or a placeholder */
	VISIBLE_NONE,	 /* "", none, void, -1, NoDevFiles */
	VISIBLE_ALL,
	VISIBLE_SOME, /* a list of devices */
};
enum visible env_visible(const struct env_value *value);
/* Like env_visible(), except that in a list with `$X`, which may be meant
 * literally, the other items count. */
enum visible env_shows(const struct env_value *value);
/* Classifies the last entry of that name; *value (value may be NULL) gets its
 * value. */
enum visible container_visible(const struct container *c, const char *name,
			       struct env_value *value);

/*
 * True if CUDA_VERSION would make the nvidia container runtime show the
 * container all GPUs: it has no device, so that no plugin sets
 * NVIDIA_VISIBLE_DEVICES, and sets neither that variable nor
 * NVIDIA_REQUIRE_CUDA.
 */
bool container_is_old_cuda(const struct container *c);

/*
 * False if the value comes from a runtime. The image, runtime class, selector
 * and tolerations of a runtime serve jobs with and without devices, so they do
 * not show the intent of the job's author.
 */
bool pod_wrote(const struct pod *pod, const struct node *node);

#endif
