/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of an object, its identity, and whether its API version is
 * removed.
 */
#include "kinds.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "data.h"
#include "kube/object.h"

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

/* Hashes the identities of objects under a random key. */

struct object_id object_id_of(const struct object *o)
{
	return (struct object_id){
		text_or_empty(o->api_version), text_or_empty(o->kind),
		text_or_empty(o->namespace), text_or_empty(o->name)};
}

struct object_id object_id_copy(struct arena *arena, struct object_id id)
{
	return (struct object_id){arena_strdup(arena, id.api_version),
				  arena_strdup(arena, id.kind),
				  arena_strdup(arena, id.namespace),
				  arena_strdup(arena, id.name)};
}

void identity_part(struct buf *out, const char *text, size_t len)
{
	buf_add(out, text, len);
	buf_addc(out, '\0');
}

void identity_add(struct buf *out, const struct object_id *id)
{
	const char *slash = strchr(id->api_version, '/');

	identity_part(out, id->api_version,
		      slash ? (size_t)(slash - id->api_version) : 0);
	identity_part(out, id->kind, strlen(id->kind));
	identity_part(out, id->namespace, strlen(id->namespace));
	identity_part(out, id->name, strlen(id->name));
}

uint64_t identity_hash_of(const struct buf *text)
{
	uint64_t hash = text_keyed_hash(text->data, text->len);

	return hash ? hash : 1;
}

uint64_t object_id_hash(const struct object_id *id, struct buf *scratch)
{
	buf_reset(scratch);
	identity_add(scratch, id);
	return identity_hash_of(scratch);
}

/*
 * API versions that Kubernetes or an operator removed, from
 * data/removed_versions.tsv. Clouds support a release for two years, so a
 * version removed in a recent release may still be served.
 */

enum { OLDEST_SUPPORTED = 32 };

static int by_kind(const void *row, const void *kind)
{
	return strcmp(((const struct removed_version *)row)->kind, kind);
}

const struct removed_version *object_removed_version(const struct object *o)
{
	const struct removed_version *one, *end;

	if (!o->version || !o->kind)
		return NULL;
	end = data_removed_versions + data_removed_versions_n;
	one = data_removed_versions +
	      array_first(data_removed_versions, data_removed_versions_n,
			  sizeof(*one), o->kind, by_kind);
	for (; one < end && text_eq(o->kind, one->kind); one++) {
		if (object_is(o, one->group, one->kind) &&
		    (!one->version || text_eq(o->version, one->version)))
			return one;
	}
	return NULL;
}

bool version_is_gone(const struct removed_version *removed)
{
	return removed && removed->since && removed->since <= OLDEST_SUPPORTED;
}
