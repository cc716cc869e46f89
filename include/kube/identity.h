/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities of objects: (group, kind, namespace, name), without the version.
 * Equal hashes count as equal identities, because 64 bits under a random key
 * practically never collide.
 */
#ifndef KUBE_IDENTITY_H
#define KUBE_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct object;

struct object_id {
	const char *api_version, *kind, *namespace, *name; /* "" if unset */
};

/* Returns an object's identity, whose texts belong to the object. */
struct object_id object_id_of(const struct object *object);
/* Copies an identity and its texts. */
struct object_id object_id_copy(struct arena *arena, struct object_id id);

/* Returns a hash that is never 0. scratch is overwritten. */
uint64_t object_id_hash(const struct object_id *id, struct buf *scratch);

/* Append a piece of text or an identity to out, to hash several things
 * together. */
void identity_part(struct buf *out, const char *text, size_t len);
void identity_add(struct buf *out, const struct object_id *id);
uint64_t identity_hash_of(const struct buf *text);

#endif
