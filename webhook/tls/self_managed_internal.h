/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that hold self-managed certificates, as JSON.
 *
 *	self_managed.c         the thread, and the order of requests
 *	self_managed_secret.c  requests to the API server, the Secret, times
 *	self_managed_hooks.c   webhook configurations and their caBundle
 */
#ifndef WEBHOOK_SELF_MANAGED_INTERNAL_H
#define WEBHOOK_SELF_MANAGED_INTERNAL_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/escape.h"
#include "certs/rotate.h"
#include "webhook/api/api.h"

/* Result of a request that changes an object. */
enum change {
	CHANGE_DONE,
	/* another replica has changed the object: read again */
	CHANGE_CONFLICT,
	CHANGE_FAILED, /* err is set */
};

/* The API server, and a flag that ends requests to it. */
struct managed_link {
	struct api *api;
	const atomic_bool *stop;
};

/* Reads an object; sets *object to NULL, without an error, if the object does
 * not exist. */
int managed_read(const struct managed_link *link, const char *path,
		 json_t **object, struct err *err);
/* Initializes an empty reply, which is erased if the work is interrupted. */
void managed_guard(struct escape_guard *guard, struct api_reply *reply);
/* Overwrites the secret strings of the object and frees it. */
void managed_wipe(json_t *object);

/* -- Secret ---------------------------------------------------------------- */

/* Reads the state; the caller initializes it. Values that cannot be read are
 * left empty. */
void secret_state(const json_t *object, struct rotate_state *state);
/* Writes the state into the object that was read. */
void secret_set(json_t *object, const struct rotate_state *state);
enum change secret_write(const struct managed_link *link, const char *path,
			 const json_t *object, struct err *err);
/* Creates an empty Secret. */
enum change secret_create(const struct managed_link *link, const char *path,
			  struct err *err);

/* -- webhook configurations ------------------------------------------------ */

/* Appends the bundles that the API server trusts now. */
void hooks_bundles(const json_t *object, struct buf *out);
/* Returns true if every webhook of the configuration has the bundle. */
bool hooks_have(const json_t *object, const struct buf *bundle);
/* Appends a text that differs after each change of the object's webhooks. */
void hooks_version(const json_t *object, struct buf *out);
/* Appends a strategic merge patch for webhooks that lack the bundle; the patch
 * applies only to this version of the object. */
void hooks_patch(const json_t *object, const struct buf *bundle,
		 struct buf *out);
enum change hooks_write(const struct managed_link *link, const char *path,
			const json_t *object, const struct buf *bundle,
			struct err *err);

/* -- texts ----------------------------------------------------------------- */

/* Parses "2026-11-21T06:59:00Z"; returns -1 for any other text. */
int64_t managed_time(const char *text);

#endif
