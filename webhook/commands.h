/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of gpugated, their options, and its version. */
#ifndef WEBHOOK_COMMANDS_H
#define WEBHOOK_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "cli/options.h"

/*
 * Parses gpugated's arguments and environment (GPUGATED_*), and writes --help
 * with the defaults, all from one table of options.
 */

enum option_command {
	OPTION_SERVE = 1,
	OPTION_SELFTEST = 2,
};

struct serve_options {
	struct arena arena;
	const char *listen, *probe_listen, *tls_cert, *tls_key, *client_ca;
	struct list client_names, dns;
	const char *secret, *namespace, *webhook_config;
	const char *ca_life, *leaf_life, *ca_settle;
	const char *cluster, *kubeconfig, *live;
	const char *policy, *log_level, *log_format, *sandbox, *address,
		*reservations;
	unsigned threads, max_in_flight, max_connections, timeout, drain;
	size_t max_body, max_memory;
	bool help, self_managed;
};

extern const struct option_set option_set;

/*
 * Sets defaults, then reads the environment, then the arguments
 * (NULL-terminated). Returns 0, or 2 after a message. Strings point into argv,
 * the environment or the arena.
 */
int serve_options_parse(struct serve_options *options,
			enum option_command command, char **argv, FILE *errors);
void serve_options_release(struct serve_options *options);

/*
 * Runs the service from start to end. Returns the exit status: 0 after SIGTERM
 * or SIGINT, 2 if the service cannot start.
 */

int serve(const struct serve_options *options);
/* Returns the value of --threads; by default one for each processor that the
 * process and its container may use, at most 8. */
unsigned serve_threads(const struct serve_options *options);

extern const char program_version[]; /* "1.0.0" */
extern const char program_build[]; /* "1.0.0 (COMMIT)" if the commit is known */

/*
 * `gpugated selftest`: sends reviews over TLS to a server that it starts, or
 * one review to a running server. Returns the exit status, 0 or 1.
 */

int selftest(const struct serve_options *options);

/*
 * Runs `gpugated certs`. argv[0] is "certs", and argv ends with NULL. Returns
 * the exit status: 0, or 2 after a message on err.
 */

extern const struct option_set certs_options;

int certs_command(char **argv, FILE *out, FILE *err);

#endif
