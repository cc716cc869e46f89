/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table and its parser. Abbreviations are not accepted: they break when
 * an option is added. A list that is given as an argument replaces the one of
 * the environment instead of adding to it.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "self_managed.h"

#define SEPARATORS ", \t\n"
#define AT(member) offsetof(struct options, member)

const struct option option_table[] = {
	{"listen", OPTION_TEXT, OPTION_SERVE, AT(listen), "ADDRESS", ":8443",
	 NULL, 0, 0,
	 "Where reviews are answered over TLS (POST /mutate, /validate)."},
	{"probe-listen", OPTION_TEXT, OPTION_SERVE, AT(probe_listen), "ADDRESS",
	 ":8080", NULL, 0, 0,
	 "Where /healthz, /readyz and /metrics are answered in plain HTTP."},
	{"tls-cert", OPTION_TEXT, OPTION_SERVE, AT(tls_cert), "FILE", NULL,
	 NULL, 0, 0,
	 "The certificate and its chain, PEM; read again when it changes."},
	{"tls-key", OPTION_TEXT, OPTION_SERVE, AT(tls_key), "FILE", NULL, NULL,
	 0, 0, "Its private key, PEM; read again when it changes."},
	{"self-managed", OPTION_FLAG, OPTION_SERVE, AT(self_managed), NULL,
	 NULL, NULL, 0, 0,
	 "Instead of files: issue and rotate a CA and a certificate, keep them "
	 "in a Secret that all replicas share, and write the CA into the "
	 "webhook configurations."},
	{"secret", OPTION_TEXT, OPTION_SERVE, AT(secret), "NAME", NULL, NULL, 0,
	 0, "With --self-managed: the Secret."},
	{"namespace", OPTION_TEXT, OPTION_SERVE, AT(namespace), "NAME", NULL,
	 NULL, 0, 0, "With --self-managed: the namespace of the Secret."},
	{"webhook-config", OPTION_TEXT, OPTION_SERVE, AT(webhook_config),
	 "NAME", NULL, NULL, 0, 0,
	 "With --self-managed: the mutating and the validating webhook "
	 "configuration, which have the same name."},
	{"dns", OPTION_WORDS, OPTION_SERVE, AT(dns), "NAMES", NULL, NULL, 0, 0,
	 "With --self-managed: the names (and addresses) under which the API "
	 "server reaches this webhook, separated by commas."},
	{"ca-life", OPTION_TEXT, OPTION_SERVE, AT(ca_life), "TIME", "1825d",
	 NULL, 0, 0,
	 "With --self-managed: the life of a CA, as 90d, 36h, 20m or 45s. It "
	 "is replaced after two thirds."},
	{"leaf-life", OPTION_TEXT, OPTION_SERVE, AT(leaf_life), "TIME", "90d",
	 NULL, 0, 0, "With --self-managed: the same of a certificate."},
	{"ca-settle", OPTION_TEXT, OPTION_SERVE, AT(ca_settle), "TIME", "60s",
	 NULL, 0, 0,
	 "With --self-managed: how long a new CA is in the webhook "
	 "configurations before a certificate of it is served; all API servers "
	 "must have noticed by then."},
	{"client-ca", OPTION_TEXT, OPTION_SERVE, AT(client_ca), "FILE", NULL,
	 NULL, 0, 0,
	 "Answer only clients with a certificate of these CAs, PEM; read again "
	 "when it changes."},
	{"client-name", OPTION_LIST, OPTION_SERVE, AT(client_names), "NAME",
	 NULL, NULL, 0, 0,
	 "With --client-ca: answer only a client of this name (common name or "
	 "alternative name); may be repeated."},
	{"policy", OPTION_TEXT, OPTION_SERVE, AT(policy), "FILE", NULL, NULL, 0,
	 0,
	 "The policy, or a folder of them, regular files of at most 1 MiB; "
	 "read again when it changes. "
	 "Without one the preset `recommended` is enforced."},
	{"cluster", OPTION_TEXT, OPTION_SERVE, AT(cluster), "FILE", NULL, NULL,
	 0, 0,
	 "The state of the cluster that `gpugate snapshot` wrote, a regular "
	 "file of at most 256 MiB; read again when it changes."},
	{"kubeconfig", OPTION_TEXT, OPTION_SERVE, AT(kubeconfig), "FILE", NULL,
	 NULL, 0, 0,
	 "The API server to keep the state of the cluster from, by list and "
	 "watch. Without --cluster and this, a pod with a service account's "
	 "token asks its own; rules that need the state do not run where there "
	 "is none."},
	{"live", OPTION_TEXT, OPTION_SERVE, AT(live), "WHEN", "auto",
	 "auto on off", 0, 0,
	 "Keep the state of the cluster from an API server: on, off, or auto, "
	 "where there is one to ask. off needs no rights to read the cluster, "
	 "and leaves --kubeconfig or the token to --self-managed."},
	{"threads", OPTION_NUMBER, OPTION_SERVE | OPTION_SELFTEST, AT(threads),
	 "N", NULL, NULL, 1, 256,
	 "Threads that answer reviews (default: one per processor, or as many "
	 "as the container's limit grants, at most 8)."},
	{"max-body", OPTION_BYTES, OPTION_SERVE, AT(max_body), "BYTES", "7Mi",
	 NULL, 1024, (size_t)1 << 30,
	 "A longer review is denied unread, by what its first 64 KiB say; with "
	 "413 where they say nothing. Ki, Mi may follow the number."},
	{"max-in-flight", OPTION_NUMBER, OPTION_SERVE, AT(max_in_flight), "N",
	 "1024", NULL, 1, 1000000,
	 "Beyond so many reviews in work, others get 429 and Retry-After."},
	{"max-connections", OPTION_NUMBER, OPTION_SERVE, AT(max_connections),
	 "N", "4096", NULL, 1, 1000000, "Connections that may be open."},
	{"timeout", OPTION_NUMBER, OPTION_SERVE, AT(timeout), "SECONDS", "10",
	 NULL, 1, 3600,
	 "What a client has for the TLS handshake, for the headers and for "
	 "the body of a request, each."},
	{"drain", OPTION_NUMBER, OPTION_SERVE, AT(drain), "SECONDS", "95", NULL,
	 0, 86400,
	 "After SIGTERM: serve on until all connections are closed, but no "
	 "longer than this."},
	{"log-level", OPTION_TEXT, OPTION_SERVE, AT(log_level), "LEVEL", "info",
	 "error warn info debug", 0, 0, "error, warn, info or debug."},
	{"log-format", OPTION_TEXT, OPTION_SERVE, AT(log_format), "FORMAT",
	 "json", "json text", 0, 0, "json or text, one line an event."},
	{"reservations", OPTION_TEXT, OPTION_SERVE, AT(reservations), "WHEN",
	 "off", "on off", 0, 0,
	 "Count what was admitted in the last 30 seconds against a quota, "
	 "although its Pods are not there yet. A replica knows only what it "
	 "admitted itself."},
	{"sandbox", OPTION_TEXT, OPTION_SERVE, AT(sandbox), "WHEN", "on",
	 "on off", 0, 0,
	 "Once started, have the kernel refuse what serving does not need: "
	 "programs, files for writing, new sockets."},
	{"address", OPTION_TEXT, OPTION_SELFTEST, AT(address), "HOST:PORT",
	 NULL, NULL, 0, 0,
	 "Ask the server there instead of starting one. Its certificate is "
	 "not verified."},
	{"help", OPTION_FLAG, ~0u, AT(help), NULL, NULL, NULL, 0, 0,
	 "Print this text."},
};
const size_t option_count = sizeof(option_table) / sizeof(*option_table);

struct parser {
	struct options *options;
	enum option_command command;
	char **next; /* argument after the one being looked at */
	FILE *errors;
	/* Lists that hold values of the environment. */
	bool inherited[sizeof(option_table) / sizeof(*option_table)];
};

__attribute__((format(printf, 2, 3))) static int usage(struct parser *p,
						       const char *fmt, ...)
{
	va_list ap;

	fputs("gpugated: ", p->errors);
	va_start(ap, fmt);
	vfprintf(p->errors, fmt, ap);
	va_end(ap);
	fputs("\ntry: gpugated help\n", p->errors);
	return 2;
}

/* --- values --------------------------------------------------------------- */

static bool is_list(const struct option *o)
{
	return o->kind == OPTION_LIST || o->kind == OPTION_WORDS;
}

/* Digits and, for bytes, Ki or Mi; within the option's range. */
static bool parse_number(const struct option *o, const char *text, size_t *out)
{
	unsigned long long value;
	unsigned shift = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (o->kind == OPTION_BYTES && !strcmp(end, "Ki"))
		shift = 10;
	else if (o->kind == OPTION_BYTES && !strcmp(end, "Mi"))
		shift = 20;
	else if (*end)
		return false;
	if (errno || value > o->most >> shift || value << shift < o->least)
		return false;
	*out = (size_t)value << shift;
	return true;
}

/* what: how the user wrote the option, for messages. */
static int set_value(struct parser *p, const struct option *o, const char *what,
		     const char *value)
{
	void *at = (char *)p->options + o->at;
	size_t number = 0;

	if (o->choices && !word_among(o->choices, value))
		return usage(p, "%s: `%s` is none of: %s", what, value,
			     o->choices);
	if ((o->kind == OPTION_NUMBER || o->kind == OPTION_BYTES) &&
	    !parse_number(o, value, &number))
		return usage(p, "%s: `%s` is no number within %zu..%zu", what,
			     value, o->least, o->most);
	if (o->kind == OPTION_NUMBER)
		*(unsigned *)at = (unsigned)number;
	else if (o->kind == OPTION_BYTES)
		*(size_t *)at = number;
	else if (o->kind == OPTION_LIST)
		list_add(&p->options->arena, at, value);
	else if (o->kind == OPTION_WORDS)
		list_split(&p->options->arena, at, value, SEPARATORS);
	else
		*(const char **)at = value;
	return 0;
}

static int parse_defaults(struct parser *p)
{
	int rc = 0;

	for (size_t i = 0; i < option_count && !rc; i++)
		if (option_table[i].initial)
			rc = set_value(p, &option_table[i],
				       option_table[i].name,
				       option_table[i].initial);
	return rc;
}

static int flag_from_environment(struct parser *p, const struct option *o,
				 const char *name, const char *value)
{
	int word = word_flag(value);

	if (word < 0)
		return usage(p, "%s: `%s` is neither yes nor no", name, value);
	*(bool *)(void *)((char *)p->options + o->at) = word;
	return 0;
}

static int parse_environment(struct parser *p)
{
	int rc = 0;

	for (size_t i = 0; i < option_count && !rc; i++) {
		const struct option *o = &option_table[i];
		const char *value;
		char name[64];

		if (!(o->commands & p->command) ||
		    o->at == offsetof(struct options, help))
			continue;
		word_variable(VARIABLES, o->name, name);
		value = getenv(name);
		if (!value || !*value)
			continue;
		if (is_list(o))
			list_split(&p->options->arena,
				   (void *)((char *)p->options + o->at), value,
				   SEPARATORS);
		else if (o->kind == OPTION_FLAG)
			rc = flag_from_environment(p, o, name, value);
		else
			rc = set_value(p, o, name, value);
		p->inherited[i] = true;
	}
	return rc;
}

/* --- arguments ------------------------------------------------------------ */

static void drop_inherited(struct parser *p, const struct option *o)
{
	size_t i = (size_t)(o - option_table);

	if (p->inherited[i] && is_list(o))
		memset((char *)p->options + o->at, 0, sizeof(struct list));
	p->inherited[i] = false;
}

static const struct option *find_name(enum option_command command,
				      const char *name, size_t len)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (o->commands & command && strlen(o->name) == len &&
		    !memcmp(o->name, name, len))
			return o;
	}
	return NULL;
}

static int unknown_name(struct parser *p, const char *name, size_t len)
{
	const char *names[sizeof(option_table) / sizeof(*option_table)];
	const char *near = NULL;
	char word[64] = "";
	size_t n = 0;

	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].commands & p->command)
			names[n++] = option_table[i].name;
	if (len < sizeof(word)) {
		memcpy(word, name, len);
		near = text_nearest(word, names, n);
	}
	if (near)
		return usage(p, "unknown option `--%.*s`; did you mean `--%s`?",
			     (int)len, name, near);
	return usage(p, "unknown option `--%.*s`", (int)len, name);
}

static int parse_long(struct parser *p, const char *arg)
{
	const char *equals = strchr(arg, '=');
	const char *value = equals ? equals + 1 : NULL;
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct option *o = find_name(p->command, arg, len);
	char what[72];

	if (!o)
		return unknown_name(p, arg, len);
	drop_inherited(p, o);
	if (!o->value) {
		if (value)
			return usage(p, "option `--%s` takes no value",
				     o->name);
		*(bool *)(void *)((char *)p->options + o->at) = true;
		return 0;
	}
	if (!value)
		value = *p->next ? *p->next++ : NULL;
	if (!value || !*value)
		return usage(p, "option `--%s` needs a value: %s", o->name,
			     o->value);
	snprintf(what, sizeof(what), "--%s", o->name);
	return set_value(p, o, what, value);
}

static int parse_arguments(struct parser *p)
{
	int rc = 0;

	while (*p->next && !rc) {
		const char *arg = *p->next++;

		if (!strcmp(arg, "-h"))
			p->options->help = true;
		else if (arg[0] == '-' && arg[1] == '-' && arg[2])
			rc = parse_long(p, arg + 2);
		else
			rc = usage(p, "what is `%s`? options begin with --",
				   arg);
	}
	return rc;
}

static int check_lives(struct parser *p)
{
	const struct options *o = p->options;
	int64_t ca = self_managed_life(o->ca_life);
	int64_t leaf = self_managed_life(o->leaf_life);
	int64_t settle = self_managed_life(o->ca_settle);

	if (ca < 0 || leaf < 0 || settle < 0)
		return usage(p, "--ca-life, --leaf-life and --ca-settle are "
				"written like 90d, 36h, 20m or 45s");
	if (leaf > ca || settle > leaf / 6)
		return usage(p, "--leaf-life must not exceed --ca-life, nor "
				"--ca-settle a sixth of --leaf-life");
	return 0;
}

static int check_certificates(struct parser *p)
{
	const struct options *o = p->options;

	if (!o->self_managed && (!o->tls_cert || !o->tls_key))
		return usage(p, "--tls-cert and --tls-key are needed; to make "
				"them: gpugated certs --help");
	if (!o->self_managed)
		return 0;
	if (o->tls_cert || o->tls_key)
		return usage(p, "either --self-managed or --tls-cert and "
				"--tls-key");
	if (!o->secret || !o->namespace || !o->webhook_config || !o->dns.n)
		return usage(p, "--self-managed needs --secret, --namespace, "
				"--webhook-config and --dns");
	return check_lives(p);
}

/* What one option asks of another. */
static int check(struct parser *p)
{
	const struct options *o = p->options;

	if (o->help || p->command != OPTION_SERVE)
		return 0;
	if (check_certificates(p))
		return 2;
	if (o->cluster && !strcmp(o->live, "on"))
		return usage(p, "either --cluster or --live on");
	/* Who manages certificates asks an API server in any case. */
	if (o->cluster && o->kubeconfig && !o->self_managed)
		return usage(p, "either --cluster or --kubeconfig");
	if (o->client_names.n && !o->client_ca)
		return usage(p, "--client-name needs --client-ca");
	return 0;
}

int options_parse(struct options *options, enum option_command command,
		  char **argv, FILE *errors)
{
	struct parser parser = {options, command, argv, errors, {false}};
	int rc = parse_defaults(&parser);

	if (!rc)
		rc = parse_environment(&parser);
	if (!rc)
		rc = parse_arguments(&parser);
	if (!rc)
		rc = check(&parser);
	return rc;
}

void options_release(struct options *options)
{
	arena_release(&options->arena);
}

/* --- help ----------------------------------------------------------------- */

void options_help(enum option_command command, struct buf *out)
{
	enum { INDENT = 8 };

	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		struct buf text;

		if (!(o->commands & command))
			continue;
		buf_init(&text);
		buf_adds(&text, o->help);
		if (o->initial)
			buf_addf(&text, " Default: %s", o->initial);
		buf_addf(out, "  --%s%s%s\n", o->name, o->value ? " " : "",
			 o->value ? o->value : "");
		buf_addf(out, "%*s", INDENT, "");
		words_wrap(out, text.data, INDENT, INDENT);
		buf_release(&text);
	}
}
