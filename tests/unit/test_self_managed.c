/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of self-managed certificates: values read from and written to a
 * Secret, and patches of webhooks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "certs/ssl.h"
#include "webhook/tls/self_managed.h"
#include "webhook/tls/self_managed_internal.h"

static json_t *parse(const char *text)
{
	json_t *object = json_loads(text, 0, NULL);

	assert_non_null(object);
	return object;
}

static void text_is(const struct buf *buf, const char *text)
{
	assert_string_equal(buf->data, text);
	assert_int_equal(buf->len, strlen(text));
}

static void base64_is_written_and_read(void **state)
{
	static const char *const pairs[][2] = {
		{"", ""},	 {"f", "Zg=="},	       {"fo", "Zm8="},
		{"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"a\n", "YQo="},
	};
	static const char *const bad[] = {
		"Zg",	 "Zg=",	  "====",  "Z=g=",
		"Zm9v!", "Zm9v-", "Zm\n=", "\xff\xff\xff\xff"};
	struct buf in, out;

	(void)state;
	buf_init(&in);
	buf_init(&out);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		buf_reset(&in);
		buf_adds(&in, pairs[i][0]);
		base64_write(&in, &out);
		text_is(&out, pairs[i][1]);
		assert_int_equal(
			base64_read(pairs[i][1], strlen(pairs[i][1]), &out), 0);
		text_is(&out, pairs[i][0]);
	}
	assert_int_equal(base64_read("Zm9v\nYg==\n", 10, &out), 0);
	text_is(&out, "foob");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (base64_read(bad[i], strlen(bad[i]), &out) != -1)
			fail_msg("%s is taken", bad[i]);
	buf_release(&in);
	buf_release(&out);
}

static void times_are_read(void **state)
{
	(void)state;
	assert_int_equal(managed_time("1970-01-02T00:00:01Z"), 86401);
	assert_int_equal(managed_time("2026-11-21T06:59:00Z"), 1795244340);
	assert_int_equal(managed_time(NULL), -1);
	assert_int_equal(managed_time(""), -1);
	assert_int_equal(managed_time("2026-11-21T06:59:00"), -1);
	assert_int_equal(managed_time("2026-11-21T06:59:00+01:00"), -1);
}

static void lifetimes_are_read_or_refused(void **state)
{
	static const char *const bad[] = {"",
					  "d",
					  "-1d",
					  "+1d",
					  "1.5h",
					  "0",
					  "0d",
					  "1w",
					  "1 d",
					  "1dd",
					  "99999999999999999999",
					  "40000d"};

	(void)state;
	assert_int_equal(self_managed_life("45"), 45);
	assert_int_equal(self_managed_life("45s"), 45);
	assert_int_equal(self_managed_life("20m"), 1200);
	assert_int_equal(self_managed_life("36h"), 129600);
	assert_int_equal(self_managed_life("1825d"), 157680000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (self_managed_life(bad[i]) != -1)
			fail_msg("%s is taken", bad[i]);
}

/* --- the Secret ----------------------------------------------------------- */

static void secret_is_read(void **state)
{
	struct rotate_state s;
	json_t *object =
		parse("{\"data\": {\"ca.crt\": \"Y2E=\", \"ca.key\": \"Y2s=\","
		      "\"ca-old.crt\": \"b2xk\", \"ca-old.until\": \"MTIz\","
		      "\"tls.crt\": \"Y3J0\", \"tls.key\": \"a2V5\"}}");

	(void)state;
	rotate_state_init(&s);
	secret_state(object, &s);
	text_is(&s.ca.cert, "ca");
	text_is(&s.ca.key, "ck");
	text_is(&s.old, "old");
	text_is(&s.leaf.cert, "crt");
	text_is(&s.leaf.key, "key");
	assert_int_equal(s.old_until, 123);
	rotate_state_release(&s);
	managed_wipe(object);
}

/* A value of another type, or that is not base64, counts as missing. */
static void strange_secrets_are_left_out(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"data\": null}",
		"{\"data\": []}",
		"{\"data\": {\"ca.crt\": 1, \"ca.key\": null, \"tls.crt\": "
		"{}}}",
		"{\"data\": {\"ca.crt\": \"*\", \"tls.key\": \"Zg\","
		"\"ca-old.until\": \"LTU=\"}}",
		"{\"data\": {\"ca-old.until\": \"eA==\"}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		json_t *object = parse(texts[i]);
		struct rotate_state s;

		rotate_state_init(&s);
		secret_state(object, &s);
		assert_int_equal(s.ca.cert.len + s.ca.key.len + s.old.len +
					 s.leaf.cert.len + s.leaf.key.len,
				 0);
		assert_int_equal(s.old_until, 0);
		secret_set(object, &s);
		assert_true(json_is_object(json_object_get(object, "data")));
		rotate_state_release(&s);
		managed_wipe(object);
	}
}

static void secret_is_written(void **state)
{
	json_t *object = parse("{\"metadata\": {\"resourceVersion\": \"7\","
			       "\"labels\": {\"a\": \"b\"}}, \"type\": "
			       "\"Opaque\", \"data\": {\"mine\": \"eA==\","
			       "\"tls.crt\": \"b2xk\"}}");
	struct rotate_state s, again;
	json_t *data;

	(void)state;
	rotate_state_init(&s);
	rotate_state_init(&again);
	buf_adds(&s.ca.cert, "ca");
	buf_adds(&s.leaf.cert, "leaf");
	buf_adds(&s.old, "old");
	s.old_until = 1795244340;
	secret_set(object, &s);
	secret_state(object, &again);
	text_is(&again.ca.cert, "ca");
	text_is(&again.leaf.cert, "leaf");
	text_is(&again.old, "old");
	assert_int_equal(again.old_until, s.old_until);
	data = json_object_get(object, "data");
	/* The type kubernetes.io/tls requires both keys, even empty ones. */
	assert_string_equal(json_string_value(json_object_get(data, "tls.key")),
			    "");
	assert_string_equal(json_string_value(json_object_get(data, "mine")),
			    "eA==");
	assert_non_null(json_object_get(object, "metadata"));
	buf_reset(&s.old);
	secret_set(object, &s);
	assert_null(json_object_get(data, "ca-old.crt"));
	assert_null(json_object_get(data, "ca-old.until"));
	rotate_state_release(&s);
	rotate_state_release(&again);
	managed_wipe(object);
}

/* --- webhook configurations ----------------------------------------------- */

static const char hooks[] =
	"{\"metadata\": {\"uid\": \"u\", \"generation\": 3,"
	"\"resourceVersion\": \"41\"}, \"webhooks\": ["
	"{\"name\": \"a\", \"clientConfig\": {\"caBundle\": \"bmV3\"}},"
	"{\"name\": \"b\", \"clientConfig\": {\"caBundle\": \"b2xk\"}},"
	"{\"name\": \"c\", \"clientConfig\": {}}]}";

static void hooks_are_patched(void **state)
{
	json_t *object = parse(hooks), *patch, *list;
	struct buf bundle, out;

	(void)state;
	buf_init(&bundle);
	buf_init(&out);
	buf_adds(&bundle, "new");
	assert_false(hooks_have(object, &bundle));
	hooks_patch(object, &bundle, &out);
	patch = parse(out.data);
	assert_string_equal(
		json_string_value(json_object_get(
			json_object_get(patch, "metadata"), "resourceVersion")),
		"41");
	list = json_object_get(patch, "webhooks");
	assert_int_equal(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *entry = json_array_get(list, i);
		json_t *client = json_object_get(entry, "clientConfig");

		assert_string_equal(
			json_string_value(json_object_get(entry, "name")),
			i ? "c" : "b");
		/* Other fields of the webhook are not changed. */
		assert_int_equal(json_object_size(entry), 2);
		assert_int_equal(json_object_size(client), 1);
		assert_string_equal(
			json_string_value(json_object_get(client, "caBundle")),
			"bmV3");
	}
	json_decref(patch);
	json_decref(object);
	buf_release(&bundle);
	buf_release(&out);
}

static void hooks_are_read(void **state)
{
	json_t *object = parse(hooks), *none = parse("{}");
	struct buf bundle, out;

	(void)state;
	buf_init(&bundle);
	buf_init(&out);
	hooks_bundles(object, &out);
	text_is(&out, "new\nold\n\n");
	buf_reset(&out);
	hooks_version(object, &out);
	text_is(&out, "u/3 ");
	buf_adds(&bundle, "new");
	/* Without webhooks, every client has the bundle. */
	assert_true(hooks_have(none, &bundle));
	buf_reset(&out);
	hooks_bundles(none, &out);
	text_is(&out, "");
	json_decref(object);
	json_decref(none);
	buf_release(&bundle);
	buf_release(&out);
}

static void only_names_of_objects_are_accepted(void **state)
{
	static const char *const bad[] = {"",	 "../x", "a/b", "A",
					  "a?b", "a%2f", NULL};
	struct self_managed_options options = {.namespace = "gpu",
					       .webhook_config = "gpugate"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = {0};

		options.secret = bad[i];
		assert_null(self_managed_start(&options, &err));
		assert_true(err.set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_is_written_and_read),
		cmocka_unit_test(times_are_read),
		cmocka_unit_test(lifetimes_are_read_or_refused),
		cmocka_unit_test(secret_is_read),
		cmocka_unit_test(strange_secrets_are_left_out),
		cmocka_unit_test(secret_is_written),
		cmocka_unit_test(hooks_are_patched),
		cmocka_unit_test(hooks_are_read),
		cmocka_unit_test(only_names_of_objects_are_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
