/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses gpugated's arguments and environment (GPUGATED_*), and writes --help
 * with the defaults, all from one table of options.
 */
#ifndef WEBHOOK_OPTIONS_H
#define WEBHOOK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "cli/options.h"

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

#endif
