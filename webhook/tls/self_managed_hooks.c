/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caBundle of each webhook of a configuration. Only we write the field; it
 * is compared byte by byte, since the API server stores it unchanged.
 */
#include <stdlib.h>
#include <string.h>

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
	struct buf bundle;
	size_t i;

	buf_init(&bundle);
	json_array_foreach(json_object_get(object, "webhooks"), i, webhook)
	{
		read_bundle(webhook, &bundle);
		buf_add(out, bundle.data, bundle.len);
		buf_addc(out, '\n');
	}
	buf_release(&bundle);
}

static bool has(const json_t *webhook, const struct buf *wanted)
{
	struct buf bundle;
	bool same;

	buf_init(&bundle);
	read_bundle(webhook, &bundle);
	same = bundle.len == wanted->len &&
	       !memcmp(bundle.data, wanted->data, wanted->len);
	buf_release(&bundle);
	return same;
}

bool hooks_have(const json_t *object, const struct buf *bundle)
{
	const json_t *webhook;
	size_t i;

	json_array_foreach(json_object_get(object, "webhooks"), i,
			   webhook) if (!has(webhook, bundle)) return false;
	return true;
}

void hooks_version(const json_t *object, struct buf *out)
{
	const json_t *meta = json_object_get(object, "metadata");
	json_int_t generation =
		json_integer_value(json_object_get(meta, "generation"));

	buf_addf(out, "%s/%lld ", text_of(meta, "uid"), (long long)generation);
}

void hooks_patch(const json_t *object, const struct buf *bundle,
		 struct buf *out)
{
	const json_t *webhook;
	json_t *list = json_array(), *patch;
	const char *version =
		text_of(json_object_get(object, "metadata"), "resourceVersion");
	struct buf text;
	char *dump;
	size_t i;

	buf_init(&text);
	base64_write(bundle, &text);
	json_array_foreach(json_object_get(object, "webhooks"), i,
			   webhook) if (!has(webhook, bundle))
		json_array_append_new(list, json_pack("{s:s, s:{s:s}}", "name",
						      text_of(webhook, "name"),
						      "clientConfig",
						      "caBundle", text.data));
	patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion",
			  version, "webhooks", list);
	dump = json_dumps(patch, JSON_COMPACT);
	if (!dump)
		OUT_OF_MEMORY();
	buf_adds(out, dump);
	free(dump);
	json_decref(patch);
	buf_release(&text);
}
