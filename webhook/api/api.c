/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client of the API server. Credentials are read under a lock and copied into
 * each transfer, so that a token may be replaced while other transfers are in
 * progress.
 *
 * With tls-server-name, the URL contains the name to verify, CURLOPT_CONNECT_TO
 * the address of the server, and the Host header the name of the server.
 */
#include "api.h"

#include <jansson.h>
#include <netdb.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "certs/disk.h"

enum {
	CONNECT_SECONDS = 10,
	REQUEST_SECONDS = 10,
	BODY_MAX = 16 << 20,
	STATUS_MAX = 300,
};

#define PEM_MARK "-----BEGIN "

struct api {
	struct api_config config;
	char *host, *base; /* "host[:port]" and "/path" or "" */
	pthread_mutex_t lock;
	/* texts read last; protected by the lock */
	struct buf ca, cert, key, token;
};

/* --- opening -------------------------------------------------------------- */

static void split_server(struct api *api)
{
	const char *host = api->config.server + strlen("https://");
	size_t len = strcspn(host, "/");

	api->host = strndup(host, len);
	api->base = strdup(host + len);
	if (!api->host || !api->base)
		OUT_OF_MEMORY();
}

static void take_text(struct buf *out, const char *text)
{
	buf_init(out);
	if (text)
		buf_adds(out, text);
}

static void take_texts(struct api *api)
{
	const struct api_config *c = &api->config;

	take_text(&api->ca, c->ca.text);
	take_text(&api->cert, c->cert.text);
	take_text(&api->key, c->key.text);
	take_text(&api->token, c->token);
}

struct api *api_open(const char *kubeconfig, struct err *err)
{
	struct api *api = calloc(1, sizeof(*api));
	int rc;

	if (!api || curl_global_init(CURL_GLOBAL_DEFAULT))
		OUT_OF_MEMORY();
	pthread_mutex_init(&api->lock, NULL);
	take_texts(api);
	if (kubeconfig)
		rc = api_config_load(&api->config, kubeconfig, err);
	else
		rc = api_config_in_cluster(&api->config, err);
	if (rc) {
		api_close(api);
		return NULL;
	}
	take_texts(api);
	split_server(api);
	return api;
}

void api_close(struct api *api)
{
	if (!api)
		return;
	api_config_release(&api->config);
	disk_wipe(&api->ca);
	disk_wipe(&api->cert);
	disk_wipe(&api->key);
	disk_wipe(&api->token);
	free(api->host);
	free(api->base);
	pthread_mutex_destroy(&api->lock);
	free(api);
}

const char *api_server(const struct api *api)
{
	return api->config.server;
}

/* --- credentials (under the lock) ----------------------------------------- */

/* A text, and the file from which it is read again for each transfer. */
struct followed {
	const char *path; /* may be NULL */
	struct buf *text;
};

static int read_text(const char *path, const char *must, struct buf *out,
		     struct err *err)
{
	if (!path)
		return 0;
	if (disk_read(path, out, err))
		return -1;
	if (!out->len)
		return err_set(err, 0, "%s: the file is empty", path);
	if (!strstr(out->data, must))
		return err_set(err, 0, "%s: expected PEM", path);
	return 0;
}

struct fresh {
	struct buf items[2];
};

static void drop_fresh(void *context)
{
	struct fresh *fresh = context;

	disk_wipe(&fresh->items[0]);
	disk_wipe(&fresh->items[1]);
}

/* Reads n <= 2 files, and uses all of them or none. If one cannot be read, the
 * texts read before stay in use; returns -1 only if one of them was never
 * read. */
static int refresh(const struct followed *files, size_t n, const char *must,
		   struct err *err)
{
	struct escape_guard guard;
	struct err mine = {0};
	struct fresh fresh;
	bool have = true;
	int rc = 0;

	buf_init(&fresh.items[0]);
	buf_init(&fresh.items[1]);
	escape_guard(&guard, drop_fresh, &fresh);
	for (size_t i = 0; i < n && !rc; i++)
		rc = read_text(files[i].path, must, &fresh.items[i], &mine);
	escape_unguard(&guard);
	for (size_t i = 0; i < n; i++) {
		struct buf old = *files[i].text;

		if (!rc && fresh.items[i].len) {
			*files[i].text = fresh.items[i];
			fresh.items[i] = old;
		}
		have = have && files[i].text->len;
	}
	drop_fresh(&fresh);
	return rc && !have ? err_set(err, mine.code, "%s", mine.text) : 0;
}

static int refresh_all(struct api *api, struct err *err)
{
	const struct api_config *c = &api->config;
	const struct followed ca = {c->ca.path, &api->ca},
			      pair[] = {{c->cert.path, &api->cert},
					{c->key.path, &api->key}},
			      token = {c->token_file, &api->token};

	if (refresh(&ca, 1, PEM_MARK, err) || refresh(pair, 2, PEM_MARK, err))
		return -1;
	return refresh(&token, 1, "", err);
}

/* --- transfers ------------------------------------------------------------ */

/* Stops the work if memory ran out: a transfer that lacks a setting, such as
 * its CA, must not start. */
static void need(CURLcode code)
{
	if (code == CURLE_OUT_OF_MEMORY)
		OUT_OF_MEMORY();
}

static void set_blob(CURL *easy, CURLoption option, const struct buf *text)
{
	struct curl_blob blob = {text->data, text->len, CURL_BLOB_COPY};

	if (text->len)
		need(curl_easy_setopt(easy, option, &blob));
}

static void drop_secret(void *text)
{
	disk_wipe(text);
}

static void add_header(struct api_transfer *t, const char *header)
{
	struct curl_slist *list = curl_slist_append(t->headers, header);

	if (!list)
		OUT_OF_MEMORY();
	t->headers = list;
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, list);
}

static void set_credentials(const struct api *api, struct api_transfer *t)
{
	size_t len = strcspn(api->token.data, "\r\n");

	set_blob(t->easy, CURLOPT_CAINFO_BLOB, &api->ca);
	set_blob(t->easy, CURLOPT_SSLCERT_BLOB, &api->cert);
	set_blob(t->easy, CURLOPT_SSLKEY_BLOB, &api->key);
	if (len) {
		struct escape_guard guard;
		struct buf header;

		buf_init(&header);
		escape_guard(&guard, drop_secret, &header);
		buf_adds(&header, "Authorization: Bearer ");
		buf_add(&header, api->token.data, len);
		add_header(t, header.data);
		escape_unguard(&guard);
		disk_wipe(&header);
	}
}

static const char *port_of(const char *host)
{
	const char *colon = strrchr(host, ':');

	return colon && !strchr(colon, ']') ? colon : "";
}

static void set_url(const struct api *api, struct api_transfer *t,
		    const char *path)
{
	const char *name = api->config.tls_server_name;
	struct escape_guard guard;
	struct buf url;

	buf_init(&url);
	escape_guard(&guard, buf_drop, &url);
	if (name) {
		buf_addf(&url, "Host: %s", api->host);
		add_header(t, url.data);
		buf_reset(&url);
		buf_addf(&url, "::%s%s", api->host,
			 *port_of(api->host) ? "" : ":443");
		t->connect_to = curl_slist_append(NULL, url.data);
		if (!t->connect_to)
			OUT_OF_MEMORY();
		curl_easy_setopt(t->easy, CURLOPT_CONNECT_TO, t->connect_to);
		buf_reset(&url);
		buf_addf(&url, "https://%s%s%s%s", name, port_of(api->host),
			 api->base, path);
	} else {
		buf_addf(&url, "%s%s", api->config.server, path);
	}
	need(curl_easy_setopt(t->easy, CURLOPT_URL, url.data));
	escape_unguard(&guard);
	buf_release(&url);
}

static void set_limits(struct api_transfer *t)
{
	CURL *easy = t->easy;

	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	need(curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https"));
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	need(curl_easy_setopt(easy, CURLOPT_PROXY, ""));
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION,
			 (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
			 (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 10L);
	need(curl_easy_setopt(easy, CURLOPT_USERAGENT, "gpugated"));
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
}

static void unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

int api_transfer_begin(struct api *api, struct api_transfer *t,
		       const char *path, struct err *err)
{
	struct escape_guard guard;
	int rc;

	*t = (struct api_transfer){.easy = curl_easy_init()};
	if (!t->easy)
		OUT_OF_MEMORY();
	set_limits(t);
	set_url(api, t, path);
	add_header(t, "Accept: application/json");
	pthread_mutex_lock(&api->lock);
	escape_guard(&guard, unlock, &api->lock);
	rc = refresh_all(api, err);
	if (!rc)
		set_credentials(api, t);
	escape_unguard(&guard);
	pthread_mutex_unlock(&api->lock);
	if (rc)
		api_transfer_end(t);
	return rc;
}

void api_transfer_end(struct api_transfer *t)
{
	if (t->easy)
		curl_easy_cleanup(t->easy);
	for (struct curl_slist *h = t->headers; h; h = h->next)
		OPENSSL_cleanse(h->data, strlen(h->data));
	curl_slist_free_all(t->headers);
	curl_slist_free_all(t->connect_to);
	*t = (struct api_transfer){0};
}

void api_add_escaped(struct buf *out, const char *text)
{
	char *escaped = curl_easy_escape(NULL, text, 0);
	struct escape_guard guard;

	if (!escaped)
		OUT_OF_MEMORY();
	escape_guard(&guard, curl_free, escaped);
	buf_adds(out, escaped);
	escape_unguard(&guard);
	curl_free(escaped);
}

const char *api_transfer_error(const struct api_transfer *t, CURLcode code)
{
	return *t->error ? t->error : curl_easy_strerror(code);
}

struct piece {
	struct buf *body;
	const char *data;
	size_t len;
};

static void add_piece(void *context)
{
	const struct piece *piece = context;

	buf_add(piece->body, piece->data, piece->len);
}

size_t api_take_body(struct buf *body, size_t max, const char *data, size_t len)
{
	struct piece piece = {body, data, len};

	if (body->len + len > max ||
	    escape_run(add_piece, &piece, NULL) != ESCAPE_NONE)
		return 0;
	return len;
}

/* --- requests ------------------------------------------------------------- */

struct exchange {
	const struct api_call *call;
	struct api_reply *reply;
};

static size_t on_data(char *data, size_t one, size_t len, void *context)
{
	struct exchange *x = context;
	size_t max = x->call->max ? x->call->max : BODY_MAX;

	return api_take_body(&x->reply->body, max, data, len);
}

static int on_progress(void *context, curl_off_t dltotal, curl_off_t dlnow,
		       curl_off_t ultotal, curl_off_t ulnow)
{
	const struct exchange *x = context;

	return x->call->stop && atomic_load(x->call->stop);
}

static void set_call(struct api_transfer *t, struct exchange *x)
{
	const struct api_call *call = x->call;
	char header[128];

	curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(t->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(t->easy, CURLOPT_XFERINFODATA, x);
	curl_easy_setopt(t->easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(
		t->easy, CURLOPT_TIMEOUT,
		(long)(call->timeout ? call->timeout : REQUEST_SECONDS));
	if (call->body) {
		curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)call->len);
		curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, call->body);
		snprintf(header, sizeof(header), "Content-Type: %s",
			 call->content_type ? call->content_type
					    : "application/json");
		add_header(t, header);
		add_header(t, "Expect:");
	}
	if (call->method)
		need(curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST,
				      call->method));
}

static void drop_transfer(void *transfer)
{
	api_transfer_end(transfer);
}

int api_request(struct api *api, const struct api_call *call,
		struct api_reply *reply, struct err *err)
{
	struct exchange x = {.call = call};
	struct api_transfer t = {0};
	struct escape_guard guard;
	curl_off_t retry = 0;
	CURLcode code;

	*reply = (struct api_reply){0};
	x.reply = reply;
	buf_init(&reply->body);
	escape_guard(&guard, drop_transfer, &t);
	if (api_transfer_begin(api, &t, call->path, err)) {
		escape_unguard(&guard);
		return -1;
	}
	set_call(&t, &x);
	escape_unguard(&guard);
	code = curl_easy_perform(t.easy);
	curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &reply->status);
	curl_easy_getinfo(t.easy, CURLINFO_RETRY_AFTER, &retry);
	reply->retry_after = (unsigned)retry;
	if (code != CURLE_OK)
		err_set(err, 0, "%s: %s", api->config.server,
			code == CURLE_WRITE_ERROR
				? "the response is too long"
				: api_transfer_error(&t, code));
	api_transfer_end(&t);
	return code == CURLE_OK ? 0 : -1;
}

static void drop_json(void *root)
{
	json_decref(root);
}

void api_status_message(const char *text, size_t len, struct buf *out)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	const char *message =
		json_string_value(json_object_get(root, "message"));
	struct escape_guard guard;
	size_t start = out->len;

	escape_guard(&guard, drop_json, root);
	if (message)
		buf_adds(out, message);
	else
		buf_add(out, text, len);
	escape_unguard(&guard);
	json_decref(root);
	if (out->len > start + STATUS_MAX)
		out->len = start + STATUS_MAX;
	while (out->len > start &&
	       (unsigned char)out->data[out->len - 1] <= ' ')
		out->len--;
	for (size_t i = start; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ')
			out->data[i] = ' ';
	if (out->size)
		out->data[out->len] = '\0';
}

int api_refused(const struct api_reply *reply, struct err *err)
{
	struct escape_guard guard;
	struct buf text;

	buf_init(&text);
	escape_guard(&guard, buf_drop, &text);
	api_status_message(reply->body.data, reply->body.len, &text);
	err_set(err, 0, "HTTP %ld%s%s", reply->status, text.len ? ": " : "",
		text.data);
	escape_unguard(&guard);
	buf_release(&text);
	return -1;
}

/* --- warming up ----------------------------------------------------------- */

int api_warm_up(struct api *api, struct err *err)
{
	struct addrinfo *list = NULL;
	char *host = strdup(api->host);
	int rc;

	if (!host)
		OUT_OF_MEMORY();
	host[strlen(host) - strlen(port_of(host))] = '\0';
	/* A host in brackets is an IPv6 address, which needs no resolver. */
	rc = *host == '[' ? 0 : getaddrinfo(host, NULL, NULL, &list);
	if (list)
		freeaddrinfo(list);
	if (rc)
		err_set(err, 0, "%s: %s", host, gai_strerror(rc));
	free(host);
	return rc ? -1 : 0;
}
