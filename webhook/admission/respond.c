/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the response key by key into one buffer. The uid is that of the
 * request. patch and patchType occur together or not at all, and only from
 * /mutate: the API server rejects anything else (apiserver
 * admission/plugin/webhook/request).
 */
#include "respond.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/json_stream.h"
#include "doc/node.h"

/* Writes the operations as JSON after the existing bytes, and their base64
 * after that; then moves the base64 to the place of the JSON. */
static void add_patch(struct buf *out, const struct node *patch)
{
	size_t at, len;

	if (!patch)
		return;
	stream_text(out, "patchType", "JSONPatch");
	stream_key(out, "patch");
	buf_addc(out, '"');
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
	stream_open(out, "status", '{');
	stream_text(out, "status", "Failure");
	stream_text(out, "message",
		    arena_printf(v->arena, "%s\nreview %.*s", v->message,
				 (int)review->uid_len, review->uid));
	stream_text(out, "reason", "Forbidden");
	stream_int(out, "code", 403);
	stream_close(out, '}');
}

/* Adds names of rules, which contain no byte that needs an escape. */
static void add_names(struct buf *out, const char *key,
		      const struct list *names)
{
	if (!names->n)
		return;
	stream_key(out, key);
	for (size_t i = 0; i < names->n; i++) {
		buf_addc(out, i ? ',' : '"');
		buf_adds(out, names->items[i]);
	}
	buf_addc(out, '"');
}

/* Adds the audit annotations if a finding has an outcome or is suppressed. */
static void add_annotations(struct buf *out, const struct verdict *v,
			    const char *policy)
{
	if (!v->rules.n && !v->suppressed.n)
		return;
	stream_open(out, "auditAnnotations", '{');
	add_names(out, "rules", &v->rules);
	add_names(out, "patched", &v->patched);
	add_names(out, "suppressed", &v->suppressed);
	add_names(out, "would-deny", &v->would_deny);
	add_names(out, "would-patch", &v->would_patch);
	if (v->break_glass)
		stream_text(out, "break-glass", v->break_glass);
	stream_text(out, "policy", policy);
	stream_close(out, '}');
}

static void add_warnings(struct buf *out, const struct list *warnings)
{
	if (!warnings->n)
		return;
	stream_open(out, "warnings", '[');
	for (size_t i = 0; i < warnings->n; i++)
		stream_text(out, NULL, warnings->items[i]);
	stream_close(out, ']');
}

void respond(const struct verdict *v, const struct review *review,
	     const char *policy, struct buf *out)
{
	buf_reset(out);
	stream_open(out, NULL, '{');
	stream_text(out, "apiVersion", "admission.k8s.io/v1");
	stream_text(out, "kind", "AdmissionReview");
	stream_open(out, "response", '{');
	stream_bytes(out, "uid", review->uid, review->uid_len);
	stream_bool(out, "allowed", v->allowed);
	if (!v->allowed)
		add_denial(out, v, review);
	add_patch(out, v->patch);
	add_warnings(out, &v->warnings);
	add_annotations(out, v, policy);
	stream_close(out, '}');
	stream_close(out, '}');
}
