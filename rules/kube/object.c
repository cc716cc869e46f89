/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of an object. */
#include "kinds.h"

#include <string.h>

#include "base/text.h"

/*
 * Replaces each `{{x}}` by a placeholder of the same length ("<XXX>"), which is
 * recognized also next to other text ("<XXX>Gi"). The markup is replaced before
 * the string is read as YAML, which it may not be itself. With the same length,
 * positions stay valid. A `{{` without `}}` on its line ends the replacement.
 */
const char *text_without_markup(struct arena *arena, const char *text,
				size_t len)
{
	char *copy = arena_strndup(arena, text, len);
	char *at = copy;

	while ((at = strstr(at, "{{")) != NULL) {
		char *stop = strstr(at, "}}");

		if (!stop || memchr(at, '\n', (size_t)(stop - at)))
			break;
		*at++ = '<';
		for (; at < stop + 1; at++) {
			bool lower = *at >= 'a' && *at <= 'z';
			bool upper = *at >= 'A' && *at <= 'Z';

			*at = lower ? (char)(*at - 32) : upper ? *at : 'X';
		}
		*at = '>';
	}
	return copy;
}

struct amount object_copies(const struct object *o)
{
	struct amount copies = amount_of(1);

	for (; o && o->parent && !o->parent->npods; o = o->parent)
		copies = amount_mul(copies, o->copies);
	return copies;
}

bool object_kind_has(const struct object *object, unsigned flags)
{
	return object->type && object->type->flags & flags;
}

const struct node *object_kueue_label(const struct object *object)
{
	static const char label[] = "kueue.x-k8s.io/queue-name";

	if (object->class != KIND_BATCH ||
	    !object_is(object, "batch", "CronJob"))
		return object_label(object, label);
	return node_if_set(node_get(
		node_path(object->root, "spec.jobTemplate.metadata.labels"),
		label));
}

bool object_has_role(const struct object *object, const char *role)
{
	FOR_EACH_POD(object, pod)
		if (text_eq(pod->role, role))
			return true;
	return false;
}

const char *object_main_container(const struct object *object)
{
	return object->type ? object->type->main : NULL;
}
