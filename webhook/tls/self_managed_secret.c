/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of self-managed TLS to the API server: reads objects, writes the CA
 * bundle into the webhook configurations, and creates and updates the Secret.
 * Its keys: tls.crt and tls.key (which a Secret of the type
 * kubernetes.io/tls must have), ca.crt and ca.key, and while two CAs are in
 * use, ca-old.crt, and ca-old.until in seconds since the epoch. All other
 * fields of the object stay unchanged. Also parses times and lifetimes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>

#include "base/array.h"
#include "base/escape.h"
#include "base/json_stream.h"
#include "certs/disk.h"
#include "certs/ssl.h"
#include "self_managed.h"
#include "self_managed_internal.h"

int64_t managed_time(const char *text)
{
	struct tm tm = {0};
	const char *end =
		text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return end && !strcmp(end, "Z") ? (int64_t)timegm(&tm) : -1;
}

int64_t self_managed_life(const char *text)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	const int64_t most = 100LL * 366 * 86400;
	long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name) && !errno && value > 0 &&
		    value <= most / units[i].seconds)
			return value * units[i].seconds;
	return -1;
}

/* --- requests ------------------------------------------------------------- */

static void drop_reply(void *context)
{
	struct api_reply *reply = context;

	disk_wipe(&reply->body);
}

static void drop_text(void *text)
{
	OPENSSL_cleanse(text, strlen(text));
	free(text);
}

void managed_guard(struct escape_guard *guard, struct api_reply *reply)
{
	*reply = (struct api_reply){0};
	buf_init(&reply->body);
	escape_guard(guard, drop_reply, reply);
}

int managed_read(const struct managed_link *link, const char *path,
		 json_t **object, struct err *err)
{
	struct api_call call = {.path = path, .stop = link->stop};
	struct escape_guard guard;
	struct api_reply reply;
	int rc;

	*object = NULL;
	managed_guard(&guard, &reply);
	rc = api_request(link->api, &call, &reply, err);
	if (!rc && reply.status == 200) {
		*object = json_loadb(reply.body.data, reply.body.len, 0, NULL);
		if (!json_is_object(*object))
			rc = err_set(err, 0,
				     "%s: the response is not a JSON object",
				     path);
	} else if (!rc && reply.status != 404) {
		rc = api_refused(&reply, err);
		err_wrap(err, "GET %s", path);
	}
	if (rc) {
		json_decref(*object);
		*object = NULL;
	}
	escape_unguard(&guard);
	disk_wipe(&reply.body);
	return rc;
}

/* Sends a request that changes the object to body. The API server records the
 * changed fields as fields of `manager`. */
static enum change change(const struct managed_link *link, struct api_call call,
			  const char *manager, const char *body,
			  struct err *err)
{
	enum change result = CHANGE_FAILED;
	struct escape_guard path_guard, reply_guard;
	struct api_reply reply;
	struct buf target;

	buf_init(&target);
	escape_guard(&path_guard, buf_drop, &target);
	managed_guard(&reply_guard, &reply);
	buf_addf(&target, "%s?fieldManager=%s", call.path, manager);
	call.path = target.data;
	call.body = body;
	call.len = strlen(body);
	call.stop = link->stop;
	if (!api_request(link->api, &call, &reply, err)) {
		if (reply.status == 200 || reply.status == 201)
			result = CHANGE_DONE;
		else if (reply.status == 409)
			result = CHANGE_CONFLICT;
		else
			api_refused(&reply, err);
	}
	if (result == CHANGE_FAILED)
		err_wrap(err, "%s %s", call.method, call.path);
	escape_unguard(&reply_guard);
	escape_unguard(&path_guard);
	disk_wipe(&reply.body);
	buf_release(&target);
	return result;
}

enum change hooks_write(const struct managed_link *link, const char *path,
			const json_t *object, const struct buf *bundle,
			struct err *err)
{
	const struct api_call call = {
		.method = "PATCH",
		.path = path,
		.content_type = "application/strategic-merge-patch+json",
	};
	struct escape_guard guard;
	enum change result;
	struct buf patch;

	buf_init(&patch);
	escape_guard(&guard, buf_drop, &patch);
	hooks_patch(object, bundle, &patch);
	result = change(link, call, "gpugated", patch.data, err);
	escape_unguard(&guard);
	buf_release(&patch);
	return result;
}

enum change secret_write(const struct managed_link *link, const char *path,
			 const json_t *object, struct err *err)
{
	const struct api_call call = {.method = "PUT", .path = path};
	char *body = json_dumps(object, JSON_COMPACT);
	struct escape_guard guard;
	enum change result;

	if (!body)
		OUT_OF_MEMORY();
	escape_guard(&guard, drop_text, body);
	result = change(link, call, "gpugated", body, err);
	escape_unguard(&guard);
	drop_text(body);
	return result;
}

/*
 * Creates the Secret by server-side apply, because its path contains the name:
 * the right to create can then be granted for this one name.
 */
enum change secret_create(const struct managed_link *link, const char *path,
			  struct err *err)
{
	const struct api_call call = {
		.method = "PATCH",
		.path = path,
		.content_type = "application/apply-patch+yaml",
	};
	struct escape_guard guard;
	enum change result;
	struct buf body;

	buf_init(&body);
	escape_guard(&guard, buf_drop, &body);
	stream_open(&body, NULL, '{');
	stream_text(&body, "apiVersion", "v1");
	stream_text(&body, "kind", "Secret");
	stream_open(&body, "metadata", '{');
	stream_text(&body, "name", strrchr(path, '/') + 1);
	stream_close(&body, '}');
	stream_text(&body, "type", "Opaque");
	stream_close(&body, '}');
	result = change(link, call, "gpugated-create", body.data, err);
	escape_unguard(&guard);
	buf_release(&body);
	return result;
}

/* --- the object ----------------------------------------------------------- */

void managed_wipe(json_t *object)
{
	json_t *data = json_object_get(object, "data"), *value;
	const char *key;

	/* jansson's strings may be overwritten here, because only this object
	 * refers to them. */
	json_object_foreach(data, key, value) if (json_is_string(value))
		OPENSSL_cleanse((void *)(uintptr_t)json_string_value(value),
				json_string_length(value));
	json_decref(object);
}

static void get(const json_t *object, const char *key, struct buf *out)
{
	const json_t *value =
		json_object_get(json_object_get(object, "data"), key);

	if (json_is_string(value))
		base64_read(json_string_value(value), json_string_length(value),
			    out);
}

void secret_state(const json_t *object, struct rotate_state *state)
{
	struct escape_guard guard;
	struct buf until;
	char *end;

	get(object, "ca.crt", &state->ca.cert);
	get(object, "ca.key", &state->ca.key);
	get(object, "ca-old.crt", &state->old);
	get(object, "tls.crt", &state->leaf.cert);
	get(object, "tls.key", &state->leaf.key);
	buf_init(&until);
	escape_guard(&guard, buf_drop, &until);
	get(object, "ca-old.until", &until);
	state->old_until = strtoll(until.data, &end, 10);
	if (*end || state->old_until < 0)
		state->old_until = 0;
	escape_unguard(&guard);
	buf_release(&until);
}

static void drop_secret(void *text)
{
	disk_wipe(text);
}

static void set(json_t *data, const char *key, const struct buf *value)
{
	struct escape_guard guard;
	struct buf text;

	buf_init(&text);
	escape_guard(&guard, drop_secret, &text);
	base64_write(value, &text);
	if (json_object_set_new(data, key, json_stringn(text.data, text.len)))
		OUT_OF_MEMORY();
	escape_unguard(&guard);
	disk_wipe(&text);
}

void secret_set(json_t *object, const struct rotate_state *state)
{
	json_t *data = json_object_get(object, "data");
	struct escape_guard guard;
	struct buf until;

	if (!json_is_object(data)) {
		data = json_object();
		if (json_object_set_new(object, "data", data))
			OUT_OF_MEMORY();
	}
	set(data, "ca.crt", &state->ca.cert);
	set(data, "ca.key", &state->ca.key);
	set(data, "tls.crt", &state->leaf.cert);
	set(data, "tls.key", &state->leaf.key);
	if (!state->old.len) {
		json_object_del(data, "ca-old.crt");
		json_object_del(data, "ca-old.until");
		return;
	}
	buf_init(&until);
	escape_guard(&guard, buf_drop, &until);
	buf_addf(&until, "%lld", (long long)state->old_until);
	set(data, "ca-old.crt", &state->old);
	set(data, "ca-old.until", &until);
	escape_unguard(&guard);
	buf_release(&until);
}
