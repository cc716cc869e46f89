/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container of a pod, read-only for rules. Strings are NULL when absent,
 * not a string, or unknown.
 */
#ifndef KUBE_CONTAINER_H
#define KUBE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "doc/node.h"
#include "kube/accelerator.h"
#include "kube/amount.h"
#include "kube/quantity.h"
#include "kube/tri.h"

struct pod;
struct container_memo;

enum container_role {
	CONTAINER_MAIN,
	CONTAINER_INIT,	   /* runs before the main ones */
	CONTAINER_SIDECAR, /* init container with restartPolicy Always */
};

/* A value of `limits` or `requests`. */
struct resource_entry {
	const struct node *node; /* its key is the resource's name */
	const struct accelerator *accelerator; /* of that name, or NULL */
	/* The request with the name of this limit, the limit with the name of
	 * this request, or NULL. */
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
	unsigned index;		      /* within its list */
	const struct node *resources; /* map with limits, requests, claims */
	const struct node *limits, *requests; /* values of these keys */
	/* Their values, if they are maps: limits first. */
	const struct resource_entry *entries;
	size_t nlimits, nrequests;
	/* Some resource name has a domain, as all accelerators have. */
	bool extended;
	/* env is a list of maps with strings for name and value. */
	bool env_plain;
	const struct env_entry *env; /* in order; without envFrom */
	size_t nenv;
	/* node_tag_bit() of their names, indexed by the two higher bits of the
	 * tag. */
	uint64_t env_tags[4];
	/* Devices: sum over accelerators of limits, else requests. */
	struct amount gpus;
	const struct accelerator
		*accelerator;	     /* first one requested, or NULL */
	const char *resource;	     /* that resource's name, or NULL */
	struct container_memo *memo; /* answers given before (rules/kube) */
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

/* Each requested resource once: a limit hides the request of its name. */
#define FOR_EACH_ASKED(c_, entry_)                                             \
	for (const struct resource_entry *entry_ = (c_)->entries;              \
	     entry_ &&                                                         \
	     entry_ < (c_)->entries + (c_)->nlimits + (c_)->nrequests;         \
	     entry_++)                                                         \
		if (entry_ < (c_)->entries + (c_)->nlimits ||                  \
		    !entry_->other || node_is_unset(entry_->other->node))

/* Reads a value of its limits or requests; NULL: it is not set. */
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
 * The limit of the resource that bounds the container: its own, or the pod's
 * (spec.resources) where that is lower or the container has none. by, which may
 * be NULL, gets the place where it is written, or NULL.
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

/* Returns the name for messages; a placeholder stays as written. A file may
 * lack the name that the API server requires. */
const char *container_title(const struct container *c);

/* The map `limits` or `requests`, or NULL. */
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

/* The env entry of that name (the last one wins), or NULL; its literal
 * value is node_str(node_get(entry, "value")). envFrom is not looked at.
 * Many rules ask for variables, and most containers have none of them. */
static inline const struct node *container_env(const struct container *c,
					       const char *name)
{
	uint16_t tag = node_tag(name, strlen(name));

	return container_may_have_env(c, tag)
		       ? container_env_tagged(c, name, tag)
		       : NULL;
}

/* A field of its securityContext, else of the pod's. */
const struct node *container_security(const struct container *c,
				      const char *key);
/* The volumeMounts entry at exactly this path (with or without a trailing
 * '/'). */
const struct node *container_mount(const struct container *c, const char *path);
/* The tag of an image; NULL if it has none, or a digest. */
const char *image_tag(const char *image);
/* True for a digest, or a tag that does not move (latest, nightly, main ...
 * do). */
bool image_is_fixed(const char *image);
/* Returns the purpose of its image, by the image's name. */
struct image_type container_image(const struct container *c);
/*
 * Returns whether the container requests a device (or a claim that may be one).
 */
enum tri container_uses_gpu(const struct container *c);
/* accelerator_resembles() of an entry's name, looked up once per pod. */
const struct accelerator *
container_resembles(const struct accelerator_extra *extra,
		    const struct container *c,
		    const struct resource_entry *entry);

#endif
