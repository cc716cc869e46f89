/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a pod without a device request is meant to use a device.
 * Signs are the image, the command, and how the pod selects its node. Images
 * and commands are guesses; selectors and runtime classes state the author's
 * intent. Signs against it are an image or a command option for CPUs, a
 * visibility variable that hides all GPUs, and a role that only starts other
 * pods or routes requests to them.
 */
#ifndef KUBE_INTENT_H
#define KUBE_INTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/accelerator.h"
#include "kube/command/env.h"
#include "kube/object.h"

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
