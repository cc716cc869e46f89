/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container of a pod, which rules may only read. Strings are NULL if
 * absent, not a string, or unknown.
 */
#ifndef KUBE_CONTAINER_H
#define KUBE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "doc/node.h"
#include "kube/accelerator.h"
#include "kube/quantity.h"

struct pod;
struct container_memo;

enum container_role {
	CONTAINER_MAIN,
	CONTAINER_INIT,	   /* runs before the main containers */
	CONTAINER_SIDECAR, /* init container with restartPolicy Always */
};

/* A value of `limits` or `requests`. */
struct resource_entry {
	/* the key of the node is the resource's name */
	const struct node *node;
	const struct accelerator *accelerator; /* row of that name, or NULL */
	/* The request with the name of this limit, or the limit with the name
	 * of this request; NULL if it is not set. */
	const struct resource_entry *other;
	enum quantity_state state;
	struct quantity quantity;
};

/* An entry of `env` that has a name. */
struct env_entry {
	const struct node *name, *node;
	const struct node *value; /* its `value`, or NULL */
	uint16_t tag;		  /* node_tag() of the name */
};

struct container {
	const struct pod *pod;
	const struct node *node; /* the Container map */
	const char *name;
	const char *image;
	enum container_role role;
	unsigned index; /* index in its list */
	/* map that contains limits, requests and claims */
	const struct node *resources;
	const struct node *limits, *requests; /* maps of resources */
	/* Entries of limits, then of requests, as far as these are maps. */
	const struct resource_entry *entries;
	size_t nlimits, nrequests;
	/* Some resource name contains a domain, as the names of all
	 * accelerators do; or limits or requests are unknown. */
	bool extended;
	const struct env_entry *env; /* in order, without those of envFrom */
	size_t nenv;
	/* node_tag_bit() of the names of env, in four sets selected by bits 6
	 * and 7 of the tag. All bits are set if the injected env is unknown. */
	uint64_t env_tags[4];
	/* Number of devices: sum of the limits, else of the requests, of all
	 * accelerators. */
	struct amount gpus;
	/* row of the requested accelerator, or NULL; if there are several,
	 * devices precede shares, and then the lowest name is used */
	const struct accelerator *accelerator;
	const char *resource; /* name of that resource, or NULL */
	/* cache of results, private to rules/kube */
	struct container_memo *memo;
};

#define FOR_EACH_LIMIT(c_, entry_)                                             \
	for (const struct resource_entry *entry_ = (c_)->entries;              \
	     entry_ && entry_ < (c_)->entries + (c_)->nlimits; entry_++)

#define FOR_EACH_REQUEST(c_, entry_)                                           \
	for (const struct resource_entry *entry_ =                             \
		     (c_)->entries ? (c_)->entries + (c_)->nlimits : NULL;     \
	     entry_ &&                                                         \
	     entry_ < (c_)->entries + (c_)->nlimits + (c_)->nrequests;         \
	     entry_++)

/* Loops over the requested resources, each once: if a resource has a limit, its
 * request is skipped. */
#define FOR_EACH_ASKED(c_, entry_)                                             \
	for (const struct resource_entry *entry_ = (c_)->entries;              \
	     entry_ &&                                                         \
	     entry_ < (c_)->entries + (c_)->nlimits + (c_)->nrequests;         \
	     entry_++)                                                         \
		if (entry_ < (c_)->entries + (c_)->nlimits ||                  \
		    !entry_->other || node_is_unset(entry_->other->node))

/* Reads an entry of limits or requests; value is NULL if it is not set. */
enum quantity_state container_value(const struct container *c,
				    const struct node *value,
				    struct quantity *q);

static inline enum quantity_state container_limit(const struct container *c,
						  const char *resource,
						  struct quantity *q)
{
	return container_value(c, node_get(c->limits, resource), q);
}

/*
 * Reads the limit of the resource that bounds the container: its own, or the
 * pod's (spec.resources) if that is lower or the container has none. *by (by
 * may be NULL) gets the node of the limit, or NULL.
 */
enum quantity_state container_bound(const struct container *c,
				    const char *resource, struct quantity *q,
				    const struct node **by);

static inline enum quantity_state container_request(const struct container *c,
						    const char *resource,
						    struct quantity *q)
{
	return container_value(c, node_get(c->requests, resource), q);
}

/* Returns the container's name for messages. A placeholder is returned as
 * written. If the name, which the API server requires, is missing in a file,
 * returns "(without a name)". */
const char *container_title(const struct container *c);

/* Returns the map `limits` or `requests`, or NULL. */
static inline const struct node *container_limits(const struct container *c)
{
	return node_is_map(c->limits) ? c->limits : NULL;
}

static inline const struct node *container_requests(const struct container *c)
{
	return node_is_map(c->requests) ? c->requests : NULL;
}

const struct node *container_env_tagged(const struct container *c,
					const char *name, uint16_t tag);

static inline bool container_may_have_env(const struct container *c,
					  uint16_t tag)
{
	return c->env_tags[tag >> 6 & 3] & node_tag_bit(tag);
}

/* Returns the env entry of that name (the last one counts), or NULL; its
 * literal value is node_str(node_get(entry, "value")). Ignores envFrom. If the
 * injected env is unknown, returns its node instead of NULL. The function is
 * inline because many rules ask for variables that most containers lack. */
static inline const struct node *container_env(const struct container *c,
					       const char *name)
{
	uint16_t tag = node_tag(name, strlen(name));

	return container_may_have_env(c, tag)
		       ? container_env_tagged(c, name, tag)
		       : NULL;
}

/* Returns a field of the container's securityContext, or else of the pod's. */
const struct node *container_security(const struct container *c,
				      const char *key);
/* Returns the volumeMounts entry at exactly this path (with or without trailing
 * slashes), or NULL. */
const struct node *container_mount(const struct container *c, const char *path);
/* Returns the tag of an image; NULL if it has a digest or lacks a tag. */
const char *image_tag(const char *image);
/* True for a digest, or for a tag that is not updated (unlike latest, nightly,
 * main ...). */
bool image_is_fixed(const char *image);
/* Returns the classes of the container's image, by its name. */
struct image_type container_image(const struct container *c);
/*
 * Returns whether the container requests a device, or uses a claim for one;
 * unknown for a claim that may be for one.
 */
enum tri container_uses_gpu(const struct container *c);

#endif
