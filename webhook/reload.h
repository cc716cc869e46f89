/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the policy, the certificate and the client CA at the start, and again
 * when their files change or on SIGHUP. A broken file is logged and never used:
 * the last good version stays. Only one thread may use it.
 */
#ifndef WEBHOOK_RELOAD_H
#define WEBHOOK_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/registry.h"
#include "webhook/admission/admission.h"
#include "webhook/observe/watch.h"
#include "webhook/tls/client_ca.h"
#include "webhook/tls/key_store.h"

enum { PROBLEM_BYTES = 400 };
enum { RELOAD_POLICY, RELOAD_KEYS, RELOAD_CA, RELOAD_WATCHES };

struct reload {
	struct rule_set rules;
	const char *policy;	/* path (NULL: preset `recommended`) */
	const char *cert, *key; /* paths (NULL: not read from files) */
	/* path (NULL: client certificates are not required) */
	const char *ca;
	struct log *log;
	struct metrics *metrics;
	struct admission *admission;
	struct key_store *keys;
	struct client_ca *client_ca; /* set if `ca` is set */
	bool knows_namespaces;	     /* a cluster state is configured */
	/* Private fields. */
	struct watch *watches[RELOAD_WATCHES]; /* NULL if the path is NULL */
	/* memory of the folders in the policy's `custom:` */
	struct arena folders_arena;
	/* folders named in `custom:`; watched in addition to the policy file */
	const char **folders;
	size_t nfolders, nwatched, folders_size;
	/* monotonic seconds of the next check of the certificates' dates */
	int64_t next_look;
	uint64_t hash; /* hash of the effective policy */
	/* the policy was logged as effective since the last failure */
	bool reported;
	bool again; /* memory ran out while the policy was read */
	unsigned generation, ca_generation;
	/* last logged problem of the certificate */
	char problem[PROBLEM_BYTES];
	/* last logged problem of the client CA */
	char ca_problem[PROBLEM_BYTES];
};

/* Loads all files for the first time. Returns -1 after logging the problem. */
int reload_start(struct reload *reload);
void reload_release(struct reload *reload);
/* Loads all files, changed or not (SIGHUP). */
void reload_now(struct reload *reload);
/* Loads files that have changed; each minute also the certificate and the
 * client CA, whose dates may have passed, and a policy for which memory ran
 * out. */
void reload_poll(struct reload *reload);
/* Returns the milliseconds until reload_poll() is due. */
int reload_wait(const struct reload *reload);

#endif
