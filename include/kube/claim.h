/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic resource allocation: a pod names claims, or templates of claims, and
 * other objects say what devices those request. The linter knows the claims of
 * the file that it reads; of all others it knows only the names.
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
	enum tri gpu;	   /* does it ask for accelerators? */
	const char *class; /* of the first of them, or NULL */
	bool nvidia;	   /* ... of a class of NVIDIA's driver? */
	struct amount devices;
};

struct claim_table {
	/* Of the policy, which may name classes as their resources
	 * (deviceclass.resource.kubernetes.io/...); or NULL. */
	const struct accelerator_extra *extra;
	struct claim *items;
	size_t n, size;
};

/* Is the text one that may hold such objects? */
bool claims_may_be_in(const char *text, size_t len);
/* Add those of a document; the arena keeps them. */
void claims_add(struct claim_table *table, struct arena *arena,
		const struct doc *doc);

/* The requests of an object that is a claim or a template, else NULL. Before v1
 * a request's fields are in the request itself, now in `exactly`, or in each of
 * `firstAvailable`. */
const struct node *claim_requests(const struct object *object);
/* Is such a request for accelerators, as far as its device class says? */
enum tri claim_request_use(const struct object *object,
			   const struct node *request);

/*
 * What an entry of a pod's resourceClaims is for, by the claim that it names
 * where that is known, else by its names. *devices gets how many, for
 * each pod.
 */
enum tri claim_use(const struct pod *pod, const struct node *entry,
		   struct amount *devices);
/* Is it the claim that says so, and not its names? */
bool claim_is_known(const struct pod *pod, const struct node *entry);
/* Is one of the pod's claims for NVIDIA's devices, as far as is known? */
bool pod_claims_nvidia(const struct pod *pod);
/* Do the resources, of a container or a pod, name the pod's claim? */
enum tri resources_claim(const struct node *resources, const char *name);
/* Is one of those that it is given for NVIDIA's devices, as far as is known? */
bool container_claims_nvidia(const struct container *c);
/* The device class of its first claim for accelerators; "": it is not known,
 * NULL: there is no such claim. */
const char *pod_claims_class(const struct pod *pod);

#endif
