/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses of environment variables in a container, new entries, and lists of
 * devices. Any mention of a variable's name counts as a use, because a command
 * may refer to it as $(NAME), a shell as $NAME and a script by the name alone.
 * Programs that read it without a mention are not detected.
 */
#include "kube/command/env.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/edit.h"

static bool mentions(const struct node *list, const char *name)
{
	if (node_is_unknown(list))
		return true;
	FOR_EACH_CHILD(list, item)
		if (node_is_unknown(item) ||
		    text_contains(node_str(item), name))
			return true;
	return false;
}

bool container_says(const struct container *c, const char *text)
{
	return mentions(node_get(c->node, "command"), text) ||
	       mentions(node_get(c->node, "args"), text);
}

bool container_may_choose(const struct container *c)
{
	static const char *const texts[] = {"||",    "[ ",    "[[ ",
					    "grep ", "test ", NULL};

	for (const char *const *text = texts; *text; text++)
		if (container_says(c, *text))
			return true;
	return false;
}

bool container_env_is_free(const struct container *c, const struct node *entry)
{
	const char *name = node_str(node_get(entry, "name"));

	if (!name || container_says(c, name))
		return false;
	FOR_EACH_CHILD(node_get(c->node, "env"), other)
		if (other != entry &&
		    (node_eq(node_get(other, "name"), name) ||
		     text_contains(node_str(node_get(other, "value")), name)))
			return false;
	return true;
}

struct node *env_entry(struct arena *arena, const char *name, const char *value)
{
	struct node *entry = edit_map(arena);

	edit_member_string(arena, entry, "name", name);
	return edit_member_string(arena, entry, "value", value);
}

int64_t device_list_size(const char *text)
{
	int64_t n = 1;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

const char *device_list_fault(const char *text, int64_t n)
{
	for (;;) {
		char *end;
		long ordinal;

		text += strspn(text, " ");
		if (text_starts(text, "GPU-") || text_starts(text, "MIG-"))
			return NULL;
		ordinal = strtol(text, &end, 10);
		if (end == text || ordinal < 0 ||
		    !isdigit((unsigned char)*text))
			return text;
		end += strspn(end, " ");
		if ((*end && *end != ',') || (n && ordinal >= n))
			return text;
		if (!*end)
			return NULL;
		text = end + 1;
	}
}

static const struct node *env_first(const struct node *env, const char *name,
				    const struct node **after)
{
	FOR_EACH_CHILD(env, entry) {
		bool same = node_is_map(env)
				    ? text_eq(entry->key, name)
				    : node_eq(node_get(entry, "name"), name);

		if (same && !*after)
			return entry;
		if (entry == *after)
			*after = NULL;
	}
	return NULL;
}

const struct node *container_env_after(const struct container *c,
				       const char *name,
				       const struct node *after)
{
	const struct node *lists[] = {node_get(c->node, "env"),
				      node_get(c->node, "envs"),
				      node_get(c->node, "envVars")};
	const struct node *injected = node_get(c->pod->injected, "env");

	/* The tags show that the list `env` lacks the name. */
	if (node_is_seq(lists[0]) &&
	    !container_may_have_env(c, node_tag(name, strlen(name))))
		lists[0] = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct node *found = env_first(lists[i], name, &after);

		if (found)
			return found;
	}
	if (node_is_unknown(injected))
		return after ? NULL : injected;
	return env_first(injected, name, &after);
}
