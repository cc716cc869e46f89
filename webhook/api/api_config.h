/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the address of an API server and the credentials for it, from a
 * kubeconfig file or a pod's service account. Files that the configuration
 * names are read later. Unsupported settings (plain http, skipped verification,
 * proxies, passwords, impersonation, credential plugins) are rejected with
 * their line, never ignored.
 */
#ifndef WEBHOOK_API_CONFIG_H
#define WEBHOOK_API_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* A PEM text, from a file or inline. Both are NULL if it is absent. */
struct api_pem {
	const char *path;
	const char *text; /* decoded text */
};

struct api_config {
	struct arena arena; /* memory of all strings */
	/* https://host[:port][/path], without '/' at the end */
	const char *server;
	const char *tls_server_name; /* may be NULL */
	struct api_pem ca, cert, key;
	const char *token, *token_file; /* may be NULL */
};

/* Reads a kubeconfig file. Returns 0, or -1 with FILE:LINE:COLUMN in err. */
int api_config_load(struct api_config *config, const char *path,
		    struct err *err);
int api_config_parse(struct api_config *config, const char *path,
		     const char *text, size_t len, struct err *err);
/* Reads the configuration from the environment and the files of a pod. */
int api_config_in_cluster(struct api_config *config, struct err *err);
void api_config_release(struct api_config *config);

#endif
