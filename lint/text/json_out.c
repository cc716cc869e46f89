/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jansson refuses text that is not UTF-8 and returns NULL when memory is
 * exhausted; both are handled here, so that formats need no error paths.
 */
#include "json_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "json_stream.h"

static json_t *need(json_t *value)
{
	if (!value) {
		fprintf(stderr, "gpugate: out of memory\n");
		exit(2);
	}
	return value;
}

json_t *json_new_object(void)
{
	return need(json_object());
}

/* Bytes of valid UTF-8 that s begins with. */
static size_t valid_length(const char *s, size_t len)
{
	size_t i = 0, step;

	while (i < len) {
		step = (unsigned char)s[i] < 0x80 ? 1
						  : utf8_length(s + i, len - i);
		if (!step)
			break;
		i += step;
	}
	return i;
}

static json_t *repaired(const char *s, size_t len)
{
	struct buf buf;
	json_t *value;

	buf_init(&buf);
	while (len) {
		size_t valid = valid_length(s, len);

		buf_add(&buf, s, valid);
		s += valid;
		len -= valid;
		if (!len)
			break;
		buf_adds(&buf, "\xef\xbf\xbd");
		s++;
		len--;
	}
	value = need(json_stringn_nocheck(buf.data, buf.len));
	buf_release(&buf);
	return value;
}

json_t *json_new_text(const char *s)
{
	size_t len = strlen(s);

	if (valid_length(s, len) < len)
		return repaired(s, len);
	return need(json_stringn_nocheck(s, len));
}

/* value is taken. */
static void json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(object, key, need(value)) != 0)
		need(NULL);
}

void json_put_text(json_t *object, const char *key, const char *s)
{
	json_put(object, key, json_new_text(s));
}

void json_put_int(json_t *object, const char *key, int64_t value)
{
	json_put(object, key, json_integer(value));
}

void json_put_bool(json_t *object, const char *key, bool value)
{
	json_put(object, key, json_boolean(value));
}

json_t *json_put_object(json_t *object, const char *key)
{
	json_t *value = json_new_object();

	json_put(object, key, value);
	return value;
}

json_t *json_put_array(json_t *object, const char *key)
{
	json_t *value = need(json_array());

	json_put(object, key, value);
	return value;
}

void json_add(json_t *array, json_t *value)
{
	if (json_array_append_new(array, need(value)) != 0)
		need(NULL);
}

json_t *json_add_object(json_t *array)
{
	json_t *value = json_new_object();

	json_add(array, value);
	return value;
}

/* Chunks end between characters. */
static int append(const char *data, size_t len, void *context)
{
	stream_visible(context, data, len);
	return 0;
}

void json_write(json_t *value, struct buf *out)
{
	if (json_dump_callback(value, append, out,
			       JSON_COMPACT | JSON_ENCODE_ANY) != 0)
		need(NULL);
	json_decref(value);
}
