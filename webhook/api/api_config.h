/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of an API server and the credentials for it, from a kubeconfig
 * file or a pod's service account. The files that it names are read later.
 * Unsupported settings (plain http, no verification, proxies, passwords,
 * impersonation, credential plugins) are rejected with their line, never
 * ignored.
 */
#ifndef WEBHOOK_API_CONFIG_H
#define WEBHOOK_API_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* A PEM text from a file or in the configuration; or neither. */
struct api_pem {
	const char *path;
	const char *text; /* decoded */
};

struct api_config {
	struct arena arena; /* of all strings */
	const char *server; /* https://host[:port][/path], no '/' at the end */
	const char *tls_server_name; /* or NULL */
	struct api_pem ca, cert, key;
	const char *token, *token_file; /* or NULL */
};

/* Returns 0, or -1 with FILE:LINE:COLUMN in err. */
int api_config_load(struct api_config *config, const char *path,
		    struct err *err);
int api_config_parse(struct api_config *config, const char *path,
		     const char *text, size_t len, struct err *err);
/* Reads it from the environment and the files of a pod. */
int api_config_in_cluster(struct api_config *config, struct err *err);
void api_config_release(struct api_config *config);

#endif
