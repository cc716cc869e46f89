/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy, the certificate and the client CA, loaded at the start and again
 * when their files change or on SIGHUP. A broken file is logged and never
 * used: the last good one stays. One thread uses it.
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
	const char *policy;	/* path; NULL: preset `recommended` */
	const char *cert, *key; /* NULL: not read from files */
	const char *ca;		/* path; NULL: anybody may send requests */
	struct log *log;
	struct metrics *metrics;
	struct admission *admission;
	struct key_store *keys;
	struct client_ca *client_ca; /* set if there is a path */
	bool knows_namespaces;	     /* there is a cluster state */
	/* its own: */
	struct watch *watches[RELOAD_WATCHES]; /* NULL without a path */
	struct arena folders_arena; /* holds the folders named in the policy's
				       `custom:` */
	const char **folders; /* of the watch, including the policy's path */
	size_t nfolders, nwatched, folders_size;
	int64_t next_look; /* at the certificate's dates */
	uint64_t hash;	   /* of the effective policy */
	bool reported; /* it is reported as effective since the last failure */
	bool again;    /* memory ran out while it was read */
	unsigned generation, ca_generation;
	char problem[PROBLEM_BYTES];	/* last problem logged about the
					   certificate */
	char ca_problem[PROBLEM_BYTES]; /* and about the client CA */
};

/* Loads all files for the first time. Returns -1 after logging the problem. */
int reload_start(struct reload *reload);
void reload_release(struct reload *reload);
/* Loads all files, changed or not (SIGHUP). */
void reload_now(struct reload *reload);
/* Checks whether something changed. */
void reload_poll(struct reload *reload);
/* Milliseconds until reload_poll() is due. */
int reload_wait(const struct reload *reload);

#endif
