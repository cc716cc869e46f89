/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out how to reach the API server, from a kubeconfig or, in a pod, from
 * the variables and the service account that the kubelet provides.
 *
 * A kubeconfig is one file of format v1
 * (k8s.io/client-go/tools/clientcmd/api/v1), read for its current-context.
 * Paths are relative to the file's folder. Inline data has precedence over a
 * file, a tokenFile over a token; a client certificate is used together with a
 * token, as in client-go. In a list with two entries of one name, the first is
 * used.
 */
#include "api.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "certs/disk.h"
#include "certs/ssl.h"
#include "doc/load.h"

enum { CONFIG_BYTES_MAX = 1 << 20 };

struct kubeconfig_reader {
	struct api_config *config;
	const char *path;
	struct source *source;
	struct err *err;
};

/* --- problems ------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int
problem(struct kubeconfig_reader *r, const struct node *at, const char *fmt,
	...)
{
	struct position p = {1, 1};
	uint32_t start = 0, end;
	const char *text;
	va_list ap;

	if (at) {
		node_anchor(at, &start, &end);
		p = source_position(r->source, start);
	}
	va_start(ap, fmt);
	text = arena_vprintf(&r->config->arena, fmt, ap);
	va_end(ap);
	return err_set_at(r->err, p.line, p.column, "%s:%u:%u: %s", r->path,
			  p.line, p.column, text);
}

static void on_issue(void *context, const struct load_issue *issue)
{
	struct kubeconfig_reader *r = context;
	struct position p = source_position(r->source, issue->start);

	if (issue->kind == LOAD_SYNTAX)
		err_set_at(r->err, p.line, p.column, "%s:%u:%u: %s", r->path,
			   p.line, p.column, issue->text);
}

/* --- values --------------------------------------------------------------- */

/* Reads a string; sets *out to NULL if it is missing or empty. */
static int get_text(struct kubeconfig_reader *r, const struct node *map,
		    const char *key, const char **out)
{
	const struct node *node = node_get(map, key);

	*out = NULL;
	if (node_is_unset(node))
		return 0;
	if (!node_str(node))
		return problem(r, node, "%s: expected a string", key);
	if (strlen(node->str) != node->len)
		return problem(r, node, "%s: contains a NUL byte", key);
	if (node->len)
		*out = arena_strdup(&r->config->arena, node->str);
	return 0;
}

static int get_path(struct kubeconfig_reader *r, const struct node *map,
		    const char *key, const char **out)
{
	const char *slash = strrchr(r->path, '/');

	if (get_text(r, map, key, out))
		return -1;
	if (*out && **out != '/' && slash)
		*out = arena_printf(&r->config->arena, "%.*s/%s",
				    (int)(slash - r->path), r->path, *out);
	return 0;
}

/*
 * Reads a PEM text from one of two keys: `key` is the path of a file,
 * `key`-data the text in base64, which has precedence.
 */
static int get_pem(struct kubeconfig_reader *r, const struct node *map,
		   const char *key, struct api_pem *out)
{
	const char *data_key = arena_printf(&r->config->arena, "%s-data", key);
	const char *data;
	struct buf text;

	if (get_text(r, map, data_key, &data) ||
	    get_path(r, map, key, &out->path))
		return -1;
	if (!data)
		return 0;
	out->path = NULL;
	buf_init(&text);
	if (!base64_read(data, strlen(data), &text))
		out->text = arena_strdup(&r->config->arena, text.data);
	disk_wipe(&text);
	if (!text_contains(out->text, "-----BEGIN "))
		return problem(r, node_get(map, data_key),
			       "%s: expected PEM in base64", data_key);
	return 0;
}

struct config_refusal {
	const char *key, *why;
};

static bool asks_for_nothing(const struct node *node)
{
	return node_is_unset(node) || node_is_false(node) ||
	       node_eq(node, "") ||
	       ((node_is_map(node) || node_is_seq(node)) && !node_count(node));
}

/* Rejects settings that gpugate does not support. */
static int reject_field(struct kubeconfig_reader *r, const struct node *map,
			const struct config_refusal *list)
{
	for (; list->key; list++) {
		const struct node *node = node_get(map, list->key);

		if (!asks_for_nothing(node))
			return problem(r, node, "%s: %s", list->key, list->why);
	}
	return 0;
}

/* --- server --------------------------------------------------------------- */

static const char *check_server(struct kubeconfig_reader *r,
				const struct node *node)
{
	const char *text = node_str(node), *rest;
	size_t len = text ? strlen(text) : 0;

	if (!text || !len) {
		problem(r, node, "server: expected the URL of an API server");
		return NULL;
	}
	if (!text_starts(text, "https://")) {
		problem(r, node, "server: only https:// is supported");
		return NULL;
	}
	rest = text + strlen("https://");
	if (!*rest || *rest == '/' || strpbrk(rest, "@?# \t\r\n\\\"")) {
		problem(r, node, "server: expected https://HOST[:PORT][/PATH]");
		return NULL;
	}
	while (text[len - 1] == '/')
		len--;
	return arena_strndup(&r->config->arena, text, len);
}

static int read_cluster(struct kubeconfig_reader *r, const struct node *cluster)
{
	static const struct config_refusal refusals[] = {
		{"insecure-skip-tls-verify",
		 "the API server's certificate is always verified; give "
		 "certificate-authority"},
		{"proxy-url", "proxies are not supported"},
		{NULL, NULL},
	};
	struct api_config *config = r->config;

	config->server = check_server(r, node_get(cluster, "server"));
	if (!config->server || reject_field(r, cluster, refusals) ||
	    get_pem(r, cluster, "certificate-authority", &config->ca) ||
	    get_text(r, cluster, "tls-server-name", &config->tls_server_name))
		return -1;
	return 0;
}

/* --- user ----------------------------------------------------------------- */

static int check_pair(struct kubeconfig_reader *r, const struct node *user)
{
	const struct api_config *config = r->config;
	bool cert = config->cert.path || config->cert.text;
	bool key = config->key.path || config->key.text;

	if (cert == key)
		return 0;
	return problem(r, user,
		       cert ? "client-certificate without client-key"
			    : "client-key without client-certificate");
}

static int read_user(struct kubeconfig_reader *r, const struct node *user)
{
	static const char password[] =
		"API servers no longer accept passwords; give a token or a "
		"client certificate";
	static const char plugin[] =
		"credential plugins are not supported; give a token, a client "
		"certificate or a pod's service account, or --cluster FILE "
		"from `gpugate snapshot`";
	static const char impersonation[] = "impersonation is not supported";
	static const struct config_refusal refusals[] = {
		{"username", password},
		{"password", password},
		{"auth-provider", plugin},
		{"exec", plugin},
		{"as", impersonation},
		{"as-uid", impersonation},
		{"as-groups", impersonation},
		{"as-user-extra", impersonation},
		{NULL, NULL},
	};
	struct api_config *config = r->config;

	if (reject_field(r, user, refusals) ||
	    get_pem(r, user, "client-certificate", &config->cert) ||
	    get_pem(r, user, "client-key", &config->key) ||
	    get_text(r, user, "token", &config->token) ||
	    get_path(r, user, "tokenFile", &config->token_file))
		return -1;
	return check_pair(r, user);
}

/* --- the file ------------------------------------------------------------- */

/* Returns the entry with the given name from a list of {name, KEY}. */
static const struct node *find_named(const struct node *list, const char *name,
				     const char *key)
{
	FOR_EACH_CHILD(list, entry)
		if (node_eq(node_get(entry, "name"), name))
			return node_get(entry, key);
	return NULL;
}

/* Finds the entry of the list whose name is the value of `from` at key. Returns
 * the content of that entry. */
static const struct node *follow(struct kubeconfig_reader *r,
				 const struct node *from, const char *key,
				 const struct node *list)
{
	const struct node *name = node_get(from, key);
	const struct node *found;

	if (!node_str(name) || !*node_str(name)) {
		problem(r, name ? name : from, "expected %s", key);
		return NULL;
	}
	/* current-context names an entry of contexts, which has the key
	 * `context`, and so on. */
	if (!strcmp(key, "current-context"))
		key = "context";
	found = find_named(list, node_str(name), key);
	if (!found)
		problem(r, name, "there is no %s `%.100s`", key,
			node_str(name));
	return found;
}

static int read_root(struct kubeconfig_reader *r, const struct node *root)
{
	const struct node *context, *cluster, *user;

	if (!node_is_map(root) || !node_eq(node_get(root, "kind"), "Config"))
		return problem(r, root, "expected a kubeconfig: kind Config");
	if (!node_eq(node_get(root, "apiVersion"), "v1"))
		return problem(r, root, "expected apiVersion v1");
	context =
		follow(r, root, "current-context", node_get(root, "contexts"));
	if (!context)
		return -1;
	cluster = follow(r, context, "cluster", node_get(root, "clusters"));
	if (!cluster || read_cluster(r, cluster))
		return -1;
	user = follow(r, context, "user", node_get(root, "users"));
	return user ? read_user(r, user) : -1;
}

int api_config_parse(struct api_config *config, const char *path,
		     const char *text, size_t len, struct err *err)
{
	struct err mine = {0};
	struct arena arena = ARENA_INIT;
	struct source source;
	struct loader loader;
	struct doc doc = {0};
	struct kubeconfig_reader r = {config, path, &source, err ? err : &mine};
	int rc;

	*config = (struct api_config){.arena = ARENA_INIT};
	source_init(&source, &arena, path, text, len);
	loader_init(&loader, &source, &load_limits_default, &arena);
	loader.issue = on_issue;
	loader.context = &r;
	rc = loader_next(&loader, &doc);
	if (r.err->set)
		rc = -1;
	else if (!rc || !doc.root)
		rc = problem(&r, NULL, "the file is empty");
	else
		rc = read_root(&r, doc.root);
	arena_release(&arena);
	if (rc < 0)
		api_config_release(config);
	return rc < 0 ? -1 : 0;
}

int api_config_load(struct api_config *config, const char *path,
		    struct err *err)
{
	const struct file_how how = {.limit = CONFIG_BYTES_MAX,
				     .may_pipe = true};
	struct buf text;
	int rc;

	buf_init(&text);
	/* All memory is allocated at once: growing the buffer would leave
	 * copies of a token in the heap. */
	buf_grow(&text, CONFIG_BYTES_MAX + 1);
	if (file_load(path, &how, &text, err))
		rc = err_wrap(err, "%s", path);
	else
		rc = api_config_parse(config, path, text.data, text.len, err);
	buf_release(&text);
	return rc;
}

void api_config_release(struct api_config *config)
{
	arena_release(&config->arena);
	*config = (struct api_config){.arena = ARENA_INIT};
}

/* --- in a pod ------------------------------------------------------------- */

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"

int api_config_in_cluster(struct api_config *config, struct err *err)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");
	bool v6;

	*config = (struct api_config){.arena = ARENA_INIT};
	if (!host || !*host || !port || !*port)
		return err_set(err, 0,
			       "not in a pod: KUBERNETES_SERVICE_HOST and "
			       "KUBERNETES_SERVICE_PORT are not set");
	v6 = strchr(host, ':') != NULL;
	config->server = arena_printf(&config->arena, "https://%s%s%s:%s",
				      v6 ? "[" : "", host, v6 ? "]" : "", port);
	config->ca.path = ACCOUNT "ca.crt";
	config->token_file = ACCOUNT "token";
	if (access(config->token_file, R_OK)) {
		err_set(err, errno, "%s: %s (automountServiceAccountToken?)",
			config->token_file, strerror(errno));
		api_config_release(config);
		return -1;
	}
	return 0;
}
