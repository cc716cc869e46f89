/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic resource allocation: a pod names claims, or templates of claims, and
 * other objects define which devices they request. Claims are looked up in the
 * pod's file, then in the other files of its folder. Other claims are known by
 * name alone.
 */
#ifndef KUBE_CLAIM_H
#define KUBE_CLAIM_H

#include "base/arena.h"
#include "doc/load.h"
#include "kube/object.h"

/* End of the key under which a quota counts the devices of a class. */
#define CLASS_DEVICES ".deviceclass.resource.k8s.io/devices"

/* Number of devices of a class that quotas count for a claim. */
struct class_count {
	const char *class;
	int64_t n;
};

/* A ResourceClaim, or a ResourceClaimTemplate. */
struct claim {
	const char *namespace, *name; /* namespace is NULL if it is not set */
	bool template;
	enum tri gpu; /* requests accelerators */
	/* device class of the first accelerator request, or NULL */
	const char *class;
	bool nvidia; /* the name of an accelerator class contains "nvidia" */
	struct amount devices;
	struct class_count *counts;
	size_t ncounts;
	bool uncounted; /* some counts are unknown */
	/* names of the requests; NULL if one is unknown or there are too
	 * many */
	const char **requests;
	size_t nrequests;
	/* a setting in a request for which Kueue does not admit the pods, or
	 * NULL */
	const char *unqueued;
};

struct claim_table {
	/* The policy's resource names, which may contain device classes
	 * (deviceclass.resource.kubernetes.io/...); or NULL. */
	const struct accelerator_extra *extra;
	struct claim *items;
	size_t n, size;
	/* Finds a claim in other files. May be NULL. */
	const struct claim *(*find)(void *context, const char *namespace,
				    const char *name, bool template);
	void *context;
};

/* True if the text may contain claims or templates of claims. */
bool claims_may_be_in(const char *text, size_t len);
/* Adds the claims of a document, allocated in the arena. */
void claims_add(struct claim_table *table, struct arena *arena,
		const struct doc *doc);

/* True if the names are those of the claim. A namespace that is not set may be
 * any. */
bool claim_is(const struct claim *claim, const char *namespace,
	      const char *name, bool template);
/* Returns whether a class of this name selects accelerators. table holds the
 * file's claims and the policy's names of classes; it may be NULL. */
enum tri claim_class_use(const struct claim_table *table, const char *class);
/*
 * Returns the devices that a quota counts for the requests of a claim or a
 * template, by class, in the arena. Sets *n to the number of classes, and
 * *unknown to whether there may be more devices.
 */
struct class_count *claim_counts(struct arena *arena,
				 const struct node *requests, size_t *n,
				 bool *unknown);
/* Returns the requests of an object that is a claim or a template, else NULL.
 * Up to v1beta1, the fields of a request are in the request itself; since
 * v1beta2 they are in `exactly` or in each item of `firstAvailable`. */
const struct node *claim_requests(const struct object *object);

/* Returns the claim or template to which an entry of a pod's resourceClaims
 * refers; NULL if it is not found. */
const struct claim *claim_of(const struct pod *pod, const struct node *entry);
/*
 * Returns whether an entry of a pod's resourceClaims is for accelerators, by
 * the claim if it is known, else by the names. Sets *devices to the number for
 * each pod.
 */
enum tri claim_use(const struct pod *pod, const struct node *entry,
		   struct amount *devices);
struct pod_demand;
/* Returns the devices of the claims that templates make for each pod, under the
 * keys of quotas, and sets *n to the number of keys. */
struct pod_demand *pod_claim_demands(struct arena *arena, const struct pod *pod,
				     size_t *n);
/*
 * Returns whether the resources of a container or a pod use the pod's claim of
 * this name.
 */
enum tri resources_claim(const struct node *resources, const char *name);

#endif
