/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugated certs --dir DIR --dns NAME...`: a CA and a serving certificate
 * for who keeps certificates by hand. Nothing is written before everything
 * is issued, and nothing that exists is touched without --force.
 */
#include "certs_command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "certs/disk.h"
#include "certs/issue.h"
#include "certs/pair.h"
#include "cli/words.h"

enum { DAY = 86400, DAYS_MAX = 36500, FILES = 4 };

struct certs_request {
	struct arena arena;
	const char *dir;
	struct list dns, addresses;
	long days, ca_days;
	bool force, help;
};

static const char usage[] =
	"Usage: gpugated certs --dir DIR --dns NAME... [OPTIONS]\n"
	"\n"
	"Issue a CA and a serving certificate signed by it (ECDSA P-256):\n"
	"DIR/ca.crt, DIR/ca.key, DIR/tls.crt, DIR/tls.key.\n"
	"\n"
	"  --dir DIR      folder to write to; made when it is absent\n"
	"  --dns NAME...  names of the webhook: SERVICE.NAMESPACE.svc\n"
	"  --ip ADDR...   addresses, for a webhook that is reached by url:\n"
	"  --days N       life of the serving certificate (365)\n"
	"  --ca-days N    life of the CA (3650)\n"
	"  --force        overwrite files that exist\n"
	"  --help         this text\n";

enum kind { DIR, DNS, ADDRESS, DAYS, CA_DAYS, FORCE, HELP, UNKNOWN };

static enum kind kind_of(const char *name, size_t len)
{
	static const char *const names[] = {"dir",     "dns",	"ip",  "days",
					    "ca-days", "force", "help"};

	for (size_t i = 0; i < UNKNOWN; i++) {
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return i;
	}
	return UNKNOWN;
}

static int parse_days(const char *option, const char *value, long *out,
		      struct err *err)
{
	char *end;

	errno = 0;
	*out = strtol(value, &end, 10);
	if (errno || end == value || *end || *out < 1 || *out > DAYS_MAX)
		return err_set(err, 0, "%s: '%.40s' is not 1 to %d days",
			       option, value, DAYS_MAX);
	return 0;
}

static int set_option(struct certs_request *request, enum kind kind,
		      const char *option, const char *value, struct err *err)
{
	switch (kind) {
	case DIR:
		request->dir = value;
		return 0;
	case DNS:
		list_add(&request->arena, &request->dns, value);
		return 0;
	case ADDRESS:
		list_add(&request->arena, &request->addresses, value);
		return 0;
	case DAYS:
		return parse_days(option, value, &request->days, err);
	default:
		return parse_days(option, value, &request->ca_days, err);
	}
}

/* `--name value`, `--name=value`, and more values after --dns and --ip. */
static int parse_option(struct certs_request *request, int argc, char **argv,
			int *i, struct err *err)
{
	const char *option = argv[*i];
	size_t len = strcspn(option, "=");
	enum kind kind = text_starts(option, "--")
				 ? kind_of(option + 2, len - 2)
				 : UNKNOWN;
	bool many = kind == DNS || kind == ADDRESS;

	if (kind == UNKNOWN)
		return err_set(err, 0, "%.60s: no such option", option);
	if (kind == FORCE || kind == HELP) {
		if (option[len])
			return err_set(err, 0, "%.60s: takes no value", option);
		*(kind == FORCE ? &request->force : &request->help) = true;
		return 0;
	}
	if (option[len])
		return set_option(request, kind, option, option + len + 1, err);
	if (*i + 1 >= argc || text_starts(argv[*i + 1], "--"))
		return err_set(err, 0, "%s: a value is missing", option);
	do {
		if (set_option(request, kind, option, argv[++*i], err) < 0)
			return -1;
	} while (many && *i + 1 < argc && !text_starts(argv[*i + 1], "--"));
	return 0;
}

static int parse(struct certs_request *request, int argc, char **argv,
		 struct err *err)
{
	for (int i = 1; i < argc; i++) {
		if (parse_option(request, argc, argv, &i, err) < 0)
			return -1;
	}
	if (request->help)
		return 0;
	if (!request->dir || !*request->dir)
		return err_set(err, 0, "--dir is missing");
	if (!request->dns.n && !request->addresses.n)
		return err_set(err, 0, "--dns is missing");
	if (request->days > request->ca_days)
		return err_set(err, 0,
			       "--days: the certificate would outlive "
			       "its CA (--ca-days %ld)",
			       request->ca_days);
	return 0;
}

static int issue(const struct certs_request *request, int64_t now,
		 struct issued *ca, struct issued *leaf, struct err *err)
{
	struct issue_ask ask = {.common_name = "gpugate CA",
				.now = now,
				.seconds = (int64_t)request->ca_days * DAY};

	if (issue_ca(&ask, ca, err) < 0)
		return -1;
	ask.common_name = NULL;
	ask.dns = request->dns.items;
	ask.addresses = request->addresses.items;
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
		"%s/ca.key   its key: it can issue for any name, so keep "
		"it off the cluster\n",
		dir);
	fprintf(out, "%s/tls.crt  for", dir);
	for (size_t i = 0; i < request->dns.n; i++)
		fprintf(out, " %s", request->dns.items[i]);
	for (size_t i = 0; i < request->addresses.n; i++)
		fprintf(out, " %s", request->addresses.items[i]);
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

int certs_command(int argc, char **argv, FILE *out, FILE *err)
{
	struct certs_request request = {.days = 365, .ca_days = 3650};
	struct err error = {0};
	int result = parse(&request, argc, argv, &error);

	if (result == 0 && request.help)
		fputs(usage, out);
	else if (result == 0)
		result = run(&request, out, &error);
	if (result == 0 && fflush(out) != 0)
		result = err_set(&error, errno, "standard output: %s",
				 strerror(errno));
	if (result < 0) {
		fprintf(err, "gpugated certs: %s\n", error.text);
		if (error.code == EEXIST)
			fputs("gpugated certs: --force overwrites\n", err);
	}
	arena_release(&request.arena);
	return result < 0 ? 2 : 0;
}
