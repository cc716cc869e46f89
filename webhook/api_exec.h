/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credential plugins. We may not run programs once the sandbox is up, nor
 * fork with threads running: a helper is forked at the start and runs the
 * plugin when it is asked over a socket. It ends when we do.
 */
#ifndef WEBHOOK_API_EXEC_H
#define WEBHOOK_API_EXEC_H

#include <stdatomic.h>
#include <stdint.h>

#include "api_config.h"
#include "base/buf.h"

struct api_helper;

/* Before there are threads. config->exec is not NULL; it is copied by the
 * fork. */
struct api_helper *api_helper_start(const struct api_config *config,
				    struct err *err);
/* What the plugin printed, appended. Waits for it, at most a minute; -1
 * early once *stop is true (stop may be NULL). One thread at a time. */
int api_helper_ask(struct api_helper *helper, const atomic_bool *stop,
		   struct buf *out, struct err *err);
void api_helper_stop(struct api_helper *helper);

/* What a plugin says. */
struct api_credential {
	struct buf token, cert, key; /* empty when not given */
	int64_t expires;	     /* seconds since the epoch, 0: never */
};
void api_credential_init(struct api_credential *credential);
void api_credential_release(struct api_credential *credential);
/* -1: no ExecCredential with a status of use; credential stays as it is. */
int api_credential_parse(struct api_credential *credential, const char *text,
			 size_t len, struct err *err);

#endif
