/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caBundle of each webhook of a configuration. Only gpugated writes the
 * field, and the API server stores it unchanged, so it is compared byte by
 * byte.
 */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "certs/ssl.h"
#include "self_managed_internal.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void read_bundle(const json_t *webhook, struct buf *out)
{
	const char *text =
		text_of(json_object_get(webhook, "clientConfig"), "caBundle");

	base64_read(text, strlen(text), out);
}

void hooks_bundles(const json_t *object, struct buf *out)
{
	const json_t *webhook;
	struct escape_guard guard;
	struct buf bundle;
	size_t i;

	buf_init(&bundle);
	escape_guard(&guard, buf_drop, &bundle);
	json_array_foreach(json_object_get(object, "webhooks"), i, webhook)
	{
		read_bundle(webhook, &bundle);
		buf_add(out, bundle.data, bundle.len);
		buf_addc(out, '\n');
	}
	escape_unguard(&guard);
	buf_release(&bundle);
}

static bool has_bundle(const json_t *webhook, const struct buf *wanted)
{
	struct escape_guard guard;
	struct buf bundle;
	bool same;

	buf_init(&bundle);
	escape_guard(&guard, buf_drop, &bundle);
	read_bundle(webhook, &bundle);
	escape_unguard(&guard);
	same = bundle.len == wanted->len &&
	       !memcmp(bundle.data, wanted->data, wanted->len);
	buf_release(&bundle);
	return same;
}

bool hooks_have(const json_t *object, const struct buf *bundle)
{
	const json_t *webhook;
	size_t i;

	json_array_foreach(
		json_object_get(object, "webhooks"), i,
		webhook) if (!has_bundle(webhook, bundle)) return false;
	return true;
}

void hooks_version(const json_t *object, struct buf *out)
{
	const json_t *meta = json_object_get(object, "metadata");
	json_int_t generation =
		json_integer_value(json_object_get(meta, "generation"));

	buf_addf(out, "%s/%lld ", text_of(meta, "uid"), (long long)generation);
}

/* Adds the webhooks that lack the bundle to a list, in the form of a patch. */
static void add_webhooks(const json_t *object, const struct buf *bundle,
			 json_t *list)
{
	const json_t *webhook;
	struct escape_guard guard;
	struct buf text;
	size_t i;

	buf_init(&text);
	escape_guard(&guard, buf_drop, &text);
	base64_write(bundle, &text);
	json_array_foreach(
		json_object_get(object, "webhooks"), i,
		webhook) if (!has_bundle(webhook, bundle) &&
			     json_array_append_new(
				     list, json_pack("{s:s, s:{s:s}}", "name",
						     text_of(webhook, "name"),
						     "clientConfig", "caBundle",
						     text.data)))
		OUT_OF_MEMORY();
	escape_unguard(&guard);
	buf_release(&text);
}

static void drop_json(void *json)
{
	json_decref(json);
}

void hooks_patch(const json_t *object, const struct buf *bundle,
		 struct buf *out)
{
	const char *version =
		text_of(json_object_get(object, "metadata"), "resourceVersion");
	json_t *list = json_array();
	json_t *patch = json_pack("{s:{s:s}, s:o}", "metadata",
				  "resourceVersion", version, "webhooks", list);
	struct escape_guard patch_guard, dump_guard;
	char *dump;

	if (!patch)
		OUT_OF_MEMORY();
	escape_guard(&patch_guard, drop_json, patch);
	add_webhooks(object, bundle, list);
	dump = json_dumps(patch, JSON_COMPACT);
	if (!dump)
		OUT_OF_MEMORY();
	escape_guard(&dump_guard, free, dump);
	buf_adds(out, dump);
	escape_unguard(&dump_guard);
	escape_unguard(&patch_guard);
	free(dump);
	json_decref(patch);
}
