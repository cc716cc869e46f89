/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs `gpugated certs --dir DIR --dns NAME...`: issues a CA and a serving
 * certificate, which the user then manages. Files are written only after both
 * are issued, and existing files are replaced only with --force.
 */
#include "commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "certs/disk.h"
#include "certs/issue.h"
#include "certs/pair.h"
#include "cli/options.h"

enum { DAY = 86400, DAYS_MAX = 36500, FILES = 4 };

struct certs_request {
	struct arena arena;
	const char *dir;
	struct list dns;
	struct list names; /* values of --ip; after parsing, all names */
	unsigned days, ca_days;
	bool force, help;
};

/* --- options -------------------------------------------------------------- */

#define AT(member) offsetof(struct certs_request, member)

static const struct option table[] = {
	{"dir", 0, OPTION_TEXT, 1, AT(dir), "DIR", NULL,
	 .help = "The folder to write to; created if it does not exist."},
	{"dns", 0, OPTION_LIST, 1, AT(dns), "NAME...", NULL, .many = true,
	 .help = "DNS names of the webhook, such as SERVICE.NAMESPACE.svc, or "
		 "IP addresses."},
	{"ip", 0, OPTION_LIST, 1, AT(names), "ADDR...", NULL, .many = true,
	 .help = "IP addresses, for a webhook that is reached by `url`."},
	{"days", 0, OPTION_NUMBER, 1, AT(days), "N", NULL,
	 .help = "Lifetime of the serving certificate, in days.",
	 .initial = "365", .least = 1, .most = DAYS_MAX},
	{"ca-days", 0, OPTION_NUMBER, 1, AT(ca_days), "N", NULL,
	 .help = "Lifetime of the CA, in days.", .initial = "3650", .least = 1,
	 .most = DAYS_MAX},
	{"force", 0, OPTION_FLAG, 1, AT(force), NULL, NULL,
	 .help = "Overwrite files that exist."},
	{"help", 'h', OPTION_FLAG, 1, AT(help), NULL, NULL,
	 .help = "Print this text."},
};

static int usage(const struct option_parser *p, const char *text)
{
	fprintf(p->context, "gpugated certs: %s\n", text);
	return 2;
}

const struct option_set certs_options = {
	.items = table,
	.n = ARRAY_SIZE(table),
	.usage = usage,
};

static void print_help(FILE *out)
{
	struct buf text;

	buf_init(&text);
	buf_adds(&text,
		 "Usage: gpugated certs --dir DIR --dns NAME... [OPTIONS]\n\n"
		 "Issue a CA and a serving certificate signed by it (ECDSA "
		 "P-256):\nDIR/ca.crt, DIR/ca.key, DIR/tls.crt, DIR/tls.key."
		 "\n\n");
	options_print(&certs_options, 1, &text);
	fputs(text.data, out);
	buf_release(&text);
}

static int parse(struct certs_request *request, char **argv, FILE *err)
{
	struct option_parser parser = {
		.set = &certs_options,
		.options = request,
		.arena = &request->arena,
		.command = 1,
		.context = err,
	};
	int rc = options_read(&parser, argv + 1);

	if (rc || request->help)
		return rc;
	if (!request->dir || !*request->dir)
		return option_usage(&parser, "--dir is missing");
	if (!request->dns.n && !request->names.n)
		return option_usage(&parser, "--dns is missing");
	if (request->days > request->ca_days)
		return option_usage(&parser,
				    "--days: the certificate would outlive its "
				    "CA (--ca-days %u)",
				    request->ca_days);
	for (size_t i = 0; i < request->names.n; i++)
		if (!name_is_address(request->names.items[i]))
			return option_usage(&parser,
					    "'%.100s' is not an IP address",
					    request->names.items[i]);
	for (size_t i = 0; i < request->dns.n; i++)
		list_add(&request->arena, &request->names,
			 request->dns.items[i]);
	return 0;
}

/* --- files ---------------------------------------------------------------- */

static int issue(const struct certs_request *request, int64_t now,
		 struct issued *ca, struct issued *leaf, struct err *err)
{
	struct issue_ask ask = {.common_name = "gpugate CA",
				.now = now,
				.seconds = (int64_t)request->ca_days * DAY};

	if (issue_ca(&ask, ca, err) < 0)
		return -1;
	ask.common_name = NULL;
	ask.names = request->names.items;
	ask.seconds = (int64_t)request->days * DAY;
	return issue_leaf(&ask, ca, leaf, err);
}

static int write_files(const struct certs_request *request,
		       const struct issued *ca, const struct issued *leaf,
		       struct err *err)
{
	const struct disk_file files[FILES] = {
		{"ca.crt", ca->cert.data, ca->cert.len, 0644},
		{"ca.key", ca->key.data, ca->key.len, 0600},
		{"tls.crt", leaf->cert.data, leaf->cert.len, 0644},
		{"tls.key", leaf->key.data, leaf->key.len, 0600},
	};

	return disk_write(request->dir, files, FILES, request->force, err);
}

static void print_bundle(FILE *out, struct arena *arena, const struct buf *cert)
{
	unsigned char *text = arena_alloc(arena, (cert->len + 2) / 3 * 4 + 1);

	EVP_EncodeBlock(text, (const unsigned char *)cert->data,
			(int)cert->len);
	fprintf(out,
		"\nclientConfig of the webhook configuration:\n"
		"    caBundle: %s\n",
		text);
}

static void print_written(struct certs_request *request, int64_t now, FILE *out,
			  const struct issued *ca)
{
	struct arena *arena = &request->arena;
	const char *dir = request->dir;

	fprintf(out, "%s/ca.crt   CA, until %s\n", dir,
		pair_time(arena, now + (int64_t)request->ca_days * DAY));
	fprintf(out,
		"%s/ca.key   the CA's key, which can issue certificates for "
		"any name: do not store it in the cluster\n",
		dir);
	fprintf(out, "%s/tls.crt  for", dir);
	for (int address = 0; address < 2; address++)
		for (const char *const *n = request->names.items; *n; n++)
			if (name_is_address(*n) == address)
				fprintf(out, " %s", *n);
	fprintf(out, ", until %s\n",
		pair_time(arena, now + (int64_t)request->days * DAY));
	fprintf(out, "%s/tls.key  its key\n", dir);
	print_bundle(out, arena, &ca->cert);
}

static int run(struct certs_request *request, FILE *out, struct err *err)
{
	int64_t now = time(NULL);
	struct issued ca, leaf;
	int result = -1;

	issued_init(&ca);
	issued_init(&leaf);
	if (issue(request, now, &ca, &leaf, err) == 0)
		result = write_files(request, &ca, &leaf, err);
	if (result == 0)
		print_written(request, now, out, &ca);
	issued_release(&ca);
	issued_release(&leaf);
	return result;
}

static int fail(const struct err *error, FILE *err)
{
	fprintf(err, "gpugated certs: %s\n", error->text);
	if (error->code == EEXIST)
		fputs("gpugated certs: --force overwrites existing files\n",
		      err);
	return 2;
}

int certs_command(char **argv, FILE *out, FILE *err)
{
	struct certs_request request = {0};
	struct err error = {0};
	int rc = parse(&request, argv, err);

	if (!rc && request.help)
		print_help(out);
	else if (!rc && run(&request, out, &error))
		rc = fail(&error, err);
	if (!rc && fflush(out)) {
		err_set(&error, errno, "standard output: %s", strerror(errno));
		rc = fail(&error, err);
	}
	arena_release(&request.arena);
	return rc;
}
