/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes the identities of objects under a random key. */
#include "kube/identity.h"

#include <string.h>

#include "base/text.h"
#include "kube/object.h"

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
