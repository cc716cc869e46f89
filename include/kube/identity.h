/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities of objects: (group, kind, namespace, name), whatever the version.
 * Equal hashes count as equal identities: 64 bits under a random key do not
 * collide in any input that can be linted.
 */
#ifndef KUBE_IDENTITY_H
#define KUBE_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct object;

struct object_id {
	const char *api_version, *kind, *namespace, *name; /* "" when unset */
};

/* Returns an object's identity, which refers to the object's texts. */
struct object_id object_id_of(const struct object *object);
/* Copies the texts, too. */
struct object_id object_id_copy(struct arena *arena, struct object_id id);

/* Never 0. scratch is overwritten. */
uint64_t object_id_hash(const struct object_id *id, struct buf *scratch);

/* To hash more than an identity: add its pieces, then hash their sum. */
void identity_part(struct buf *out, const char *text, size_t len);
void identity_add(struct buf *out, const struct object_id *id);
uint64_t identity_hash_of(const struct buf *text);

#endif
