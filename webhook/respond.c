/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jansson writes the answer, unless it is a bare yes. The uid is the request's,
 * byte for byte. patch and patchType come together or not at all, and only from
 * /mutate: the API server refuses the rest (apiserver
 * admission/plugin/webhook/request).
 */
#include "respond.h"

#include <jansson.h>
#include <string.h>

#include "base/err.h"

static void encode_base64(const struct buf *in, struct buf *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < in->len; i += 3) {
		size_t left = in->len - i;
		const unsigned char *p = (const unsigned char *)in->data + i;
		unsigned v = (unsigned)p[0] << 16 |
			     (left > 1 ? (unsigned)p[1] << 8 : 0) |
			     (left > 2 ? p[2] : 0);

		buf_addc(out, digits[v >> 18]);
		buf_addc(out, digits[v >> 12 & 63]);
		buf_addc(out, left > 1 ? digits[v >> 6 & 63] : '=');
		buf_addc(out, left > 2 ? digits[v & 63] : '=');
	}
}

static void add_patch(json_t *response, const struct node *patch)
{
	struct buf text, code;

	if (!patch)
		return;
	buf_init(&text);
	buf_init(&code);
	node_json(patch, &text);
	encode_base64(&text, &code);
	json_object_set_new(response, "patchType", json_string("JSONPatch"));
	json_object_set_new(response, "patch",
			    json_stringn_nocheck(code.data, code.len));
	buf_release(&text);
	buf_release(&code);
}

static void add_denial(json_t *response, const char *message)
{
	json_t *status = json_object();

	json_object_set_new(status, "status", json_string("Failure"));
	json_object_set_new(status, "message", json_string(message));
	json_object_set_new(status, "reason", json_string("Forbidden"));
	json_object_set_new(status, "code", json_integer(403));
	json_object_set_new(response, "status", status);
}

static void add_names(json_t *object, const char *key,
		      const struct names *names)
{
	struct buf text;

	if (!names->n)
		return;
	buf_init(&text);
	for (size_t i = 0; i < names->n; i++) {
		if (i)
			buf_addc(&text, ',');
		buf_adds(&text, names->items[i]);
	}
	json_object_set_new(object, key, json_stringn(text.data, text.len));
	buf_release(&text);
}

/* Nothing is annotated for an object that nothing is said about. */
static void add_annotations(json_t *response, const struct verdict *v,
			    const char *policy)
{
	json_t *notes;

	if (!v->rules.n && !v->suppressed.n)
		return;
	notes = json_object();
	add_names(notes, "rules", &v->rules);
	add_names(notes, "patched", &v->patched);
	add_names(notes, "suppressed", &v->suppressed);
	add_names(notes, "would-deny", &v->would_deny);
	add_names(notes, "would-patch", &v->would_patch);
	if (v->break_glass)
		json_object_set_new(notes, "break-glass",
				    json_string(v->break_glass));
	json_object_set_new(notes, "policy", json_string(policy));
	json_object_set_new(response, "auditAnnotations", notes);
}

static void add_warnings(json_t *response, const struct names *warnings)
{
	json_t *list;

	if (!warnings->n)
		return;
	list = json_array();
	for (size_t i = 0; i < warnings->n; i++)
		json_array_append_new(list, json_string(warnings->items[i]));
	json_object_set_new(response, "warnings", list);
}

/* Does the answer say more than yes? */
static bool is_plain(const struct verdict *v)
{
	return v->allowed && !v->patch && !v->warnings.n && !v->rules.n &&
	       !v->suppressed.n;
}

/* No byte of it needs an escape in JSON, nor is it more than ASCII. */
static bool is_plain_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' ||
		    text[i] == '\\')
			return false;
	return true;
}

/* Nearly all answers: jansson would write these bytes in ten times as long. */
static void respond_yes(const struct review *review, struct buf *out)
{
	static const char head[] = "{\"apiVersion\":\"admission.k8s.io/v1\","
				   "\"kind\":\"AdmissionReview\","
				   "\"response\":{\"uid\":\"";
	static const char tail[] = "\",\"allowed\":true}}";

	buf_reset(out);
	buf_add(out, head, sizeof(head) - 1);
	buf_add(out, review->uid, review->uid_len);
	buf_add(out, tail, sizeof(tail) - 1);
}

static int append(const char *data, size_t len, void *out)
{
	buf_add(out, data, len);
	return 0;
}

void respond(const struct verdict *v, const struct review *review,
	     const char *policy, struct buf *out)
{
	json_t *root, *response;

	if (is_plain(v) && is_plain_text(review->uid, review->uid_len)) {
		respond_yes(review, out);
		return;
	}
	root = json_object();
	response = json_object();
	json_object_set_new(root, "apiVersion",
			    json_string("admission.k8s.io/v1"));
	json_object_set_new(root, "kind", json_string("AdmissionReview"));
	json_object_set_new(response, "uid",
			    json_stringn(review->uid, review->uid_len));
	json_object_set_new(response, "allowed", json_boolean(v->allowed));
	if (!v->allowed)
		add_denial(response, v->message);
	add_patch(response, v->patch);
	add_warnings(response, &v->warnings);
	add_annotations(response, v, policy);
	json_object_set_new(root, "response", response);
	buf_reset(out);
	if (json_dump_callback(root, append, out, JSON_COMPACT))
		BUG("the answer cannot be written");
	json_decref(root);
}
