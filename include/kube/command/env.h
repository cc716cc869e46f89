/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environment variables of a container: finding entries that can be removed
 * without effect, writing new ones, and lists of devices.
 */
#ifndef KUBE_ENV_H
#define KUBE_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/container.h"
#include "kube/object.h"

enum env_state {
	ENV_UNSET, /* no entry sets it */
	ENV_KNOWN,
	ENV_UNKNOWN, /* set by another object, the node or the controller */
};

/* The value that a process sees. */
struct env_value {
	enum env_state state;
	const char *text;      /* where it is known */
	const struct node *at; /* the value or its source, or the entry */
	bool written;	       /* text is exactly the value at `at` */
};

/*
 * Resolves one env entry, or a value alone, as the kubelet does: `$(NAME)` by
 * the entries before it, fieldRef by the pod, resourceFieldRef by the
 * containers. ConfigMaps, Secrets, files, status and node are unknown.
 */
struct env_value env_entry_value(const struct container *c,
				 const struct node *entry);
/* Resolves the last entry of that name. */
static inline struct env_value container_env_value(const struct container *c,
						   const char *name)
{
	const struct node *entry = container_env(c, name);

	return entry ? env_entry_value(c, entry)
		     : (struct env_value){.state = ENV_UNSET};
}

/* Returns the text of that value, or NULL if it is unset or unknown. */
static inline const char *container_env_text(const struct container *c,
					     const char *name)
{
	return container_env_value(c, name).text;
}

/* The first source in envFrom that may hold a variable of that name, unless an
 * entry of env hides it; else NULL. */
const struct node *container_env_from(const struct container *c,
				      const char *name);

/*
 * Returns the next entry of that name after `after` (NULL: the first), in env
 * and in the fields that operators have instead: maps (Spark's envVars,
 * KubeAI's env), whose value is returned, and Dynamo's envs.
 */
const struct node *container_env_after(const struct container *c,
				       const char *name,
				       const struct node *after);

/* A variable by which a container runtime, other than NVIDIA's, shows devices
 * to a container (data/visible_variables.tsv). */
struct visible_variable {
	const char *name, *runtime;
};
const struct visible_variable *visible_variables(size_t *n);

/* True if the container's command or args contain the text, or are unknown and
 * may contain it. */
bool container_says(const struct container *c, const char *text);
/*
 * True if nothing in the container's command, args or variables refers to this
 * entry's variable and no other entry of the same name would take effect.
 */
bool container_env_is_free(const struct container *c, const struct node *entry);
/* Makes a new entry: {name: ..., value: ...}. */
struct node *env_entry(struct arena *arena, const char *name,
		       const char *value);

/* The first entry of a list of devices that is not an ordinal below n, or NULL;
 * n 0: any ordinal. A UUID ends the search. */
const char *device_list_fault(const char *text, int64_t n);
/* Returns the number of its entries, valid or not. */
int64_t device_list_size(const char *text);

#endif
