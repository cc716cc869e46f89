/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a credential plugin prints: an ExecCredential, whose status has a
 * token, or a certificate and its key, and perhaps a time when both end.
 */
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api_exec.h"

void api_credential_init(struct api_credential *c)
{
	buf_init(&c->token);
	buf_init(&c->cert);
	buf_init(&c->key);
	c->expires = 0;
}

void api_credential_release(struct api_credential *c)
{
	OPENSSL_cleanse(c->token.data, c->token.len);
	OPENSSL_cleanse(c->key.data, c->key.len);
	buf_release(&c->token);
	buf_release(&c->cert);
	buf_release(&c->key);
	c->expires = 0;
}

/* RFC 3339, or -1. */
static int64_t parse_time(const char *text)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t at = timegm(&tm);
	int hours, minutes;
	char sign;

	if (!rest)
		return -1;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (!strcmp(rest, "Z") || !strcmp(rest, "z"))
		return at;
	/* NOLINTNEXTLINE(cert-err34-c): two digits each */
	if (sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) != 3 ||
	    (sign != '+' && sign != '-'))
		return -1;
	return at - (sign == '+' ? 1 : -1) * (hours * 3600 + minutes * 60);
}

static void take(struct buf *out, json_t *status, const char *key)
{
	const char *text = json_string_value(json_object_get(status, key));

	if (text)
		buf_adds(out, text);
}

static int check(struct api_credential *c, const char *expires, struct err *err)
{
	if (!c->token.len && !(c->cert.len && c->key.len))
		return err_set(err, 0,
			       "credential plugin: neither a token nor a "
			       "certificate and key");
	if (!expires)
		return 0;
	c->expires = parse_time(expires);
	if (c->expires >= 0)
		return 0;
	return err_set(err, 0,
		       "credential plugin: expirationTimestamp `%.40s` is no "
		       "time",
		       expires);
}

int api_credential_parse(struct api_credential *credential, const char *text,
			 size_t len, struct err *err)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	json_t *status = json_object_get(root, "status");
	struct api_credential fresh, old = *credential;
	int rc = -1;

	api_credential_init(&fresh);
	take(&fresh.token, status, "token");
	take(&fresh.cert, status, "clientCertificateData");
	take(&fresh.key, status, "clientKeyData");
	if (!root)
		err_set(err, 0, "credential plugin: no JSON was printed");
	else
		rc = check(&fresh,
			   json_string_value(json_object_get(
				   status, "expirationTimestamp")),
			   err);
	json_decref(root);
	if (!rc) {
		*credential = fresh;
		fresh = old;
	}
	api_credential_release(&fresh);
	return rc;
}
