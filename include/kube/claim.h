/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic resource allocation: a pod names claims, or templates of claims, and
 * other objects define which devices they request. The linter knows the claims
 * in the file it reads; of other claims it knows only the names.
 */
#ifndef KUBE_CLAIM_H
#define KUBE_CLAIM_H

#include "base/arena.h"
#include "doc/load.h"
#include "kube/object.h"

/* A ResourceClaim, or a ResourceClaimTemplate. */
struct claim {
	const char *namespace, *name; /* namespace NULL: not said */
	bool template;
	enum tri gpu;	   /* whether it requests accelerators */
	const char *class; /* of the first accelerator request, or NULL */
	bool nvidia;	   /* that class is one of NVIDIA's driver */
	struct amount devices;
};

struct claim_table {
	/* The policy's resource names, which may name classes
	 * (deviceclass.resource.kubernetes.io/...); or NULL. */
	const struct accelerator_extra *extra;
	struct claim *items;
	size_t n, size;
};

/* True if the text may hold claims or classes. */
bool claims_may_be_in(const char *text, size_t len);
/* Adds the claims of a document; the arena holds them. */
void claims_add(struct claim_table *table, struct arena *arena,
		const struct doc *doc);

/* Returns whether a class of this name is one of accelerators. table: the
 * file's claims, with the policy's names of classes, or NULL. */
enum tri claim_class_use(const struct claim_table *table, const char *class);
/* The requests of an object that is a claim or a template, else NULL. Before v1
 * a request's fields are in the request itself; since v1 they are in `exactly`
 * or in each item of `firstAvailable`. */
const struct node *claim_requests(const struct object *object);

/* The claim, or the template, that an entry of a pod's resourceClaims names;
 * NULL: the file does not have it. */
const struct claim *claim_of(const struct pod *pod, const struct node *entry);
/*
 * Returns whether an entry of a pod's resourceClaims is for accelerators: by
 * the claim if it is known, else by the names. Sets *devices to their number,
 * for each pod.
 */
enum tri claim_use(const struct pod *pod, const struct node *entry,
		   struct amount *devices);
/*
 * Returns whether the resources of a container or a pod name the pod's claim.
 */
enum tri resources_claim(const struct node *resources, const char *name);
/* The device class of its first claim for accelerators; "" if it is unknown,
 * NULL if there is no such claim. */
const char *pod_claims_class(const struct pod *pod);

#endif
