/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gpugated, checks of their combinations, and its version. */
#include "commands.h"

#include <string.h>

#include "base/array.h"
#include "version.h"
#include "webhook/tls/self_managed.h"

const char program_version[] = GPUGATE_VERSION;
const char program_build[] = GPUGATE_BUILD;

#define AT(member) offsetof(struct serve_options, member)

static const struct option table[] = {
	{"listen", 0, OPTION_TEXT, OPTION_SERVE, AT(listen), "ADDRESS", NULL,
	 .help = "The address that answers reviews over TLS (POST /mutate, "
		 "/validate).",
	 .initial = ":8443"},
	{"probe-listen", 0, OPTION_TEXT, OPTION_SERVE, AT(probe_listen),
	 "ADDRESS", NULL,
	 .help = "The address that answers /healthz, /readyz and /metrics in "
		 "plain HTTP.",
	 .initial = ":8080"},
	{"tls-cert", 0, OPTION_TEXT, OPTION_SERVE, AT(tls_cert), "FILE", NULL,
	 .help = "The PEM file with the certificate and its chain, which is "
		 "reloaded when it changes."},
	{"tls-key", 0, OPTION_TEXT, OPTION_SERVE, AT(tls_key), "FILE", NULL,
	 .help = "The PEM file with the certificate's private key, which is "
		 "reloaded when it changes."},
	{"self-managed", 0, OPTION_FLAG, OPTION_SERVE, AT(self_managed), NULL,
	 NULL,
	 .help = "Instead of using files, issue and rotate a CA and a "
		 "certificate, store them in a Secret that all replicas share, "
		 "and write the CA into the webhook configurations."},
	{"secret", 0, OPTION_TEXT, OPTION_SERVE, AT(secret), "NAME", NULL,
	 .help = "With --self-managed: the name of the Secret."},
	{"namespace", 0, OPTION_TEXT, OPTION_SERVE, AT(namespace), "NAME", NULL,
	 .help = "With --self-managed: the namespace of the Secret."},
	{"webhook-config", 0, OPTION_TEXT, OPTION_SERVE, AT(webhook_config),
	 "NAME", NULL,
	 .help = "With --self-managed: the name of the mutating and of the "
		 "validating webhook configuration (the same for both)."},
	{"dns", 0, OPTION_WORDS, OPTION_SERVE, AT(dns), "NAMES", NULL,
	 .help = "With --self-managed: the names (and addresses) under which "
		 "the API "
		 "server reaches this webhook, separated by commas."},
	{"ca-life", 0, OPTION_TEXT, OPTION_SERVE, AT(ca_life), "TIME", NULL,
	 .help = "With --self-managed: the lifetime of a CA, such as 90d, "
		 "36h, 20m or 45s. A CA is replaced after two thirds of its "
		 "lifetime.",
	 .initial = "1825d"},
	{"leaf-life", 0, OPTION_TEXT, OPTION_SERVE, AT(leaf_life), "TIME", NULL,
	 .help = "With --self-managed: the lifetime of a certificate, which "
		 "is replaced after two thirds of this time.",
	 .initial = "90d"},
	{"ca-settle", 0, OPTION_TEXT, OPTION_SERVE, AT(ca_settle), "TIME", NULL,
	 .help = "With --self-managed: how long a new CA is in the webhook "
		 "configurations before its certificate is served. All API "
		 "servers must have noticed the CA by then.",
	 .initial = "60s"},
	{"client-ca", 0, OPTION_TEXT, OPTION_SERVE, AT(client_ca), "FILE", NULL,
	 .help = "Answer only clients with a certificate that a CA of this "
		 "PEM file issued. The file is reloaded when it changes."},
	{"client-name", 0, OPTION_LIST, OPTION_SERVE, AT(client_names), "NAME",
	 NULL,
	 .help = "With --client-ca: answer only clients with this name (common "
		 "name or alternative name). May be repeated."},
	{"policy", 0, OPTION_TEXT, OPTION_SELFTEST, AT(policy), "FILE", NULL,
	 .help = "Also read this policy file or folder of policy files, and "
		 "fail if it has an error or a warning. Not used with "
		 "--address."},
	{"policy", 0, OPTION_TEXT, OPTION_SERVE, AT(policy), "FILE", NULL,
	 .help = "The policy file, or a folder of policy files: regular files "
		 "of at most 1 MiB, which are reloaded when they change. "
		 "Without this option, the preset `recommended` is enforced."},
	{"cluster", 0, OPTION_TEXT, OPTION_SERVE, AT(cluster), "FILE", NULL,
	 .help = "A cluster snapshot written by `gpugate snapshot`, a regular "
		 "file of at most 256 MiB, which is reloaded when it changes."},
	{"kubeconfig", 0, OPTION_TEXT, OPTION_SERVE, AT(kubeconfig), "FILE",
	 NULL,
	 .help = "The kubeconfig of the API server whose objects are listed "
		 "and watched as cluster state. Without this option and "
		 "--cluster, a pod with a service account token uses its own "
		 "API server. Without cluster state, rules that need it are "
		 "skipped."},
	{"live", 0, OPTION_TEXT, OPTION_SERVE, AT(live), "WHEN", "auto on off",
	 .help = "Keep the cluster state from an API server: on, off, or auto "
		 "(if an API server is known). With off, no rights to read the "
		 "cluster are needed, and --kubeconfig or the token serves only "
		 "--self-managed.",
	 .initial = "auto"},
	{"threads", 0, OPTION_NUMBER, OPTION_SERVE | OPTION_SELFTEST,
	 AT(threads), "N", NULL,
	 .help = "The number of threads that answer reviews (default: one per "
		 "processor, or as many as the container's limit grants, at "
		 "most 8).",
	 .least = 1, .most = 256},
	{"max-body", 0, OPTION_BYTES, OPTION_SERVE, AT(max_body), "BYTES", NULL,
	 .help = "The maximum size of a review. A larger review is denied "
		 "unread, based on its first 64 KiB, or answered with status "
		 "413 if these do not identify the object. The number may "
		 "have the suffix Ki or Mi.",
	 .initial = "7Mi", .least = 1024, .most = (size_t)1 << 30},
	{"max-memory", 0, OPTION_BYTES, OPTION_SERVE, AT(max_memory), "BYTES",
	 NULL,
	 .help = "The memory that all reviews together may use for bodies and "
		 "for checking large reviews. Beyond it, the answer is 429 "
		 "with Retry-After. The default is five eighths of the "
		 "container's limit, or 160Mi, and the minimum is the need of "
		 "--max-body (47Mi by default).",
	 .least = 1 << 20, .most = (size_t)1 << 40},
	{"max-in-flight", 0, OPTION_NUMBER, OPTION_SERVE, AT(max_in_flight),
	 "N", NULL,
	 .help = "The maximum number of reviews in progress; beyond it, the "
		 "answer is 429 with Retry-After.",
	 .initial = "1024", .least = 1, .most = 1000000},
	{"max-connections", 0, OPTION_NUMBER, OPTION_SERVE, AT(max_connections),
	 "N", NULL, .help = "The maximum number of open connections.",
	 .initial = "4096", .least = 1, .most = 1000000},
	{"timeout", 0, OPTION_NUMBER, OPTION_SERVE, AT(timeout), "SECONDS",
	 NULL,
	 .help = "The longest time for a TLS handshake, for the headers of a "
		 "request, and for its body.",
	 .initial = "10", .least = 1, .most = 3600},
	{"drain", 0, OPTION_NUMBER, OPTION_SERVE, AT(drain), "SECONDS", NULL,
	 .help = "The longest time to keep serving after SIGTERM while "
		 "connections are open.",
	 .initial = "95", .least = 0, .most = 86400},
	{"log-level", 0, OPTION_TEXT, OPTION_SERVE, AT(log_level), "LEVEL",
	 "error warn info debug",
	 .help = "The lowest level that is logged: error, warn, info or debug.",
	 .initial = "info"},
	{"log-format", 0, OPTION_TEXT, OPTION_SERVE, AT(log_format), "FORMAT",
	 "json text",
	 .help = "The format of the log, which has one line per event: json "
		 "or text.",
	 .initial = "json"},
	{"reservations", 0, OPTION_TEXT, OPTION_SERVE, AT(reservations), "WHEN",
	 "on off",
	 .help = "Count workloads admitted in the last 30 seconds against a "
		 "quota even if their Pods do not exist yet. A replica knows "
		 "only the workloads that it admitted itself.",
	 .initial = "off"},
	{"sandbox", 0, OPTION_TEXT, OPTION_SERVE, AT(sandbox), "WHEN", "on off",
	 .help = "After the start, let the kernel block system calls that "
		 "serving does not need: running programs, writing files and, without an API server to ask, opening new sockets.",
	 .initial = "on"},
	{"address", 0, OPTION_TEXT, OPTION_SELFTEST, AT(address), "HOST:PORT",
	 NULL,
	 .help = "Test the server at this address instead of starting one. Its "
		 "certificate is not verified."},
	{"help", 'h', OPTION_FLAG, ~0u, AT(help), NULL, NULL,
	 .help = "Print this text."},
};

static int check_lives(const struct option_parser *p)
{
	const struct serve_options *o = p->options;
	int64_t ca = self_managed_life(o->ca_life);
	int64_t leaf = self_managed_life(o->leaf_life);
	int64_t settle = self_managed_life(o->ca_settle);

	if (ca < 0 || leaf < 0 || settle < 0)
		return option_usage(
			p, "--ca-life, --leaf-life and --ca-settle are "
			   "written like 90d, 36h, 20m or 45s");
	if (leaf > ca || settle > leaf / 6)
		return option_usage(
			p, "--leaf-life must not exceed --ca-life, nor "
			   "--ca-settle a sixth of --leaf-life");
	return 0;
}

static int check_certificates(const struct option_parser *p)
{
	const struct serve_options *o = p->options;

	if (!o->self_managed && (!o->tls_cert || !o->tls_key))
		return option_usage(
			p,
			"--tls-cert and --tls-key are needed; `gpugated certs` "
			"creates both files");
	if (!o->self_managed)
		return 0;
	if (o->tls_cert || o->tls_key)
		return option_usage(p, "--self-managed cannot be used together "
				       "with --tls-cert and --tls-key");
	if (!o->secret || !o->namespace || !o->webhook_config || !o->dns.n)
		return option_usage(
			p, "--self-managed needs --secret, --namespace, "
			   "--webhook-config and --dns");
	return check_lives(p);
}

/* Checks combinations of options. */
static int check(const struct option_parser *p)
{
	const struct serve_options *o = p->options;

	if (o->help || p->command != OPTION_SERVE)
		return 0;
	if (check_certificates(p))
		return 2;
	if (o->cluster && !strcmp(o->live, "on"))
		return option_usage(
			p, "--cluster and --live on cannot be used together");
	/* With --self-managed, --kubeconfig may name the API server for the
	 * certificates while the cluster state comes from a file. */
	if (o->cluster && o->kubeconfig && !o->self_managed)
		return option_usage(
			p,
			"--cluster and --kubeconfig cannot be used together");
	if (o->client_names.n && !o->client_ca)
		return option_usage(p, "--client-name needs --client-ca");
	return 0;
}

static int usage(const struct option_parser *p, const char *text)
{
	fprintf(p->context, "gpugated: %s\ntry: gpugated help\n", text);
	return 2;
}

const struct option_set option_set = {
	.items = table,
	.n = ARRAY_SIZE(table),
	.variables = "GPUGATED_",
	.list_separators = ", \t\n",
	.usage = usage,
};

int serve_options_parse(struct serve_options *options,
			enum option_command command, char **argv, FILE *errors)
{
	struct option_parser parser = {
		.set = &option_set,
		.options = options,
		.arena = &options->arena,
		.command = command,
		.context = errors,
	};
	int rc = options_read(&parser, argv);

	return rc ? rc : check(&parser);
}

void serve_options_release(struct serve_options *options)
{
	arena_release(&options->arena);
}
