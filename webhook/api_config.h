/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to reach an API server and who we are there, as a kubeconfig file or a
 * pod's service account says it. Only said here: files named are not yet
 * read, programs not yet run. What we do not do (plain http, no verification,
 * proxies, passwords, impersonation) is refused with the line that asks for
 * it, never passed over.
 */
#ifndef WEBHOOK_API_CONFIG_H
#define WEBHOOK_API_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* A PEM text from a file, or given with the configuration; or neither. */
struct api_pem {
	const char *path;
	const char *text; /* decoded */
};

/* A credential plugin (client.authentication.k8s.io). */
struct api_exec {
	const char *api_version;
	char *const *argv;	/* NULL-terminated; [0] is the command */
	const char *const *env; /* NAME=VALUE, NULL-terminated */
	const char *hint;	/* what to install, or NULL */
	bool cluster_info;	/* KUBERNETES_EXEC_INFO tells the cluster */
};

struct api_config {
	struct arena arena; /* of all strings */
	const char *server; /* https://host[:port][/path], no '/' at the end */
	const char *tls_server_name; /* or NULL */
	struct api_pem ca, cert, key;
	const char *token, *token_file; /* or NULL */
	const struct api_exec *exec;	/* or NULL */
};

/* -1: err tells FILE:LINE:COLUMN. */
int api_config_load(struct api_config *config, const char *path,
		    struct err *err);
int api_config_parse(struct api_config *config, const char *path,
		     const char *text, size_t len, struct err *err);
/* From the environment and the files that a pod has. */
int api_config_in_cluster(struct api_config *config, struct err *err);
/* Are we in a pod? */
bool api_config_is_in_cluster(void);
void api_config_release(struct api_config *config);

#endif
