/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environment variables of a container: their values, entries that can be
 * removed without effect, new entries, and lists of devices.
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
	ENV_UNKNOWN, /* set, but to an unknown value */
};

/* The value that a process sees. */
struct env_value {
	enum env_state state;
	const char *text; /* the value if it is known */
	/* node of the value or of its source, else the entry */
	const struct node *at;
	bool written; /* text equals the text of the node `at` */
};

/*
 * Resolves one env entry, or a value node, as the kubelet does: `$(NAME)` by
 * earlier entries, fieldRef by the pod, resourceFieldRef by the containers.
 * Values from ConfigMaps, Secrets, files, the pod's status and the node are
 * unknown.
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

/* Returns the value of the last entry of that name, or NULL if it is unset or
 * unknown. */
static inline const char *container_env_text(const struct container *c,
					     const char *name)
{
	return container_env_value(c, name).text;
}

/* Returns the next source in envFrom after `after` (NULL: the first) that may
 * contain a variable of that name, or NULL. An entry of that name in env hides
 * all sources. */
const struct node *container_env_source(const struct container *c,
					const char *name,
					const struct node *after);
static inline const struct node *container_env_from(const struct container *c,
						    const char *name)
{
	return container_env_source(c, name, NULL);
}

/*
 * Returns the next entry of that name after `after` (NULL: the first), in env,
 * in the fields that some operators have instead, and in the injected env. The
 * fields are Dynamo's envs, and maps (Spark's envVars, KubeAI's env). For a
 * map, returns the value. An unknown injected env is returned as the last
 * entry.
 */
const struct node *container_env_after(const struct container *c,
				       const char *name,
				       const struct node *after);

/* True if the container's command or args contain the text, or are unknown and
 * may contain it. */
bool container_says(const struct container *c, const char *text);
/* True if a script may run one of several commands, depending on the node. */
bool container_may_choose(const struct container *c);
/*
 * True if the variable of this entry can be removed: the container's command,
 * args and other variables do not refer to it, and no other entry of the same
 * name would take effect.
 */
bool container_env_is_free(const struct container *c, const struct node *entry);
/* Returns a new env entry, a map with `name` and `value`. */
struct node *env_entry(struct arena *arena, const char *name,
		       const char *value);

/* Returns the first entry of a list of devices that is not an ordinal below n,
 * or NULL. n is 0 to accept any ordinal. The search ends at a UUID. */
const char *device_list_fault(const char *text, int64_t n);
/* Returns the number of entries of a list of devices, valid or not. */
int64_t device_list_size(const char *text);

#endif
