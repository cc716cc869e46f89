/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The response is written key by key into one buffer. The uid is that of the
 * request. patch and patchType occur together or not at all, and only from
 * /mutate: the API server rejects anything else (apiserver
 * admission/plugin/webhook/request).
 */
#include "respond.h"

#include <openssl/evp.h>
#include <string.h>

#include "doc/node.h"

static void add_string(struct buf *out, const char *text)
{
	text_json(text, strlen(text), out);
}

/* Writes the operations as JSON after the existing bytes, encodes them after
 * that, and moves the code to their place. */
static void add_patch(struct buf *out, const struct node *patch)
{
	size_t at, len;

	if (!patch)
		return;
	buf_adds(out, ",\"patchType\":\"JSONPatch\",\"patch\":\"");
	at = out->len;
	node_json(patch, out);
	len = out->len - at;
	buf_grow(out, len / 3 * 4 + 5);
	len = (size_t)EVP_EncodeBlock((unsigned char *)out->data + out->len,
				      (unsigned char *)out->data + at,
				      (int)len);
	memmove(out->data + at, out->data + out->len, len);
	out->len = at + len;
	buf_addc(out, '"');
}

/* The uid identifies the review in the logs of the API server and of
 * gpugated. */
static void add_denial(struct buf *out, const struct verdict *v,
		       const struct review *review)
{
	buf_adds(out, ",\"status\":{\"status\":\"Failure\",\"message\":");
	add_string(out, arena_printf(v->arena, "%s\nreview %.*s", v->message,
				     (int)review->uid_len, review->uid));
	buf_adds(out, ",\"reason\":\"Forbidden\",\"code\":403}");
}

/* Writes names of rules, no byte of which needs an escape. */
static void add_names(struct buf *out, const char *key,
		      const struct list *names)
{
	if (!names->n)
		return;
	buf_addc(out, '"');
	buf_adds(out, key);
	buf_adds(out, "\":\"");
	for (size_t i = 0; i < names->n; i++) {
		if (i)
			buf_addc(out, ',');
		buf_adds(out, names->items[i]);
	}
	buf_adds(out, "\",");
}

/* An object without findings gets no annotations. */
static void add_annotations(struct buf *out, const struct verdict *v,
			    const char *policy)
{
	if (!v->rules.n && !v->suppressed.n)
		return;
	buf_adds(out, ",\"auditAnnotations\":{");
	add_names(out, "rules", &v->rules);
	add_names(out, "patched", &v->patched);
	add_names(out, "suppressed", &v->suppressed);
	add_names(out, "would-deny", &v->would_deny);
	add_names(out, "would-patch", &v->would_patch);
	if (v->break_glass) {
		buf_adds(out, "\"break-glass\":");
		add_string(out, v->break_glass);
		buf_addc(out, ',');
	}
	buf_adds(out, "\"policy\":");
	add_string(out, policy);
	buf_addc(out, '}');
}

static void add_warnings(struct buf *out, const struct list *warnings)
{
	if (!warnings->n)
		return;
	buf_adds(out, ",\"warnings\":[");
	for (size_t i = 0; i < warnings->n; i++) {
		if (i)
			buf_addc(out, ',');
		add_string(out, warnings->items[i]);
	}
	buf_addc(out, ']');
}

void respond(const struct verdict *v, const struct review *review,
	     const char *policy, struct buf *out)
{
	buf_reset(out);
	buf_adds(out, "{\"apiVersion\":\"admission.k8s.io/v1\","
		      "\"kind\":\"AdmissionReview\",\"response\":{\"uid\":");
	text_json(review->uid, review->uid_len, out);
	buf_adds(out, v->allowed ? ",\"allowed\":true" : ",\"allowed\":false");
	if (!v->allowed)
		add_denial(out, v, review);
	add_patch(out, v->patch);
	add_warnings(out, &v->warnings);
	add_annotations(out, v, policy);
	buf_adds(out, "}}");
}
