/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the service that runs until a signal ends it. */
#ifndef WEBHOOK_SERVE_H
#define WEBHOOK_SERVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/registry.h"
#include "webhook/admission/admission.h"
#include "webhook/observe/log.h"
#include "webhook/observe/watch.h"
#include "webhook/tls/key_store.h"

/*
 * A thread that only waits for signals: a slow read of a file blocks the main
 * thread, but not the handling of SIGTERM.
 */

struct signals {
	/* Called on the thread for signals: first() at the first SIGTERM or
	 * SIGINT, second() at the second. */
	void (*first)(void *context, unsigned signal);
	void (*second)(void *context);
	void *context;
	/* Reasons to wake the main thread, which resets `reload`. */
	atomic_bool reload, stop;
	/* Private fields. */
	pthread_t thread;
	bool runs;
	int fd, wake, end;
};

/* Blocks signals, so that only the thread of signals_start() gets them. Must be
 * called before the first thread starts. Returns -1 and sets errno. */
int signals_block(struct signals *signals);
int signals_start(struct signals *signals);
/* Returns a descriptor that is readable if a signal has arrived for the main
 * thread. */
int signals_fd(const struct signals *signals);
void signals_clear(struct signals *signals);
void signals_release(struct signals *signals);

/*
 * Drops rights that a process which only answers reviews does not need:
 * capabilities, starting programs, writing files, opening sockets. An attacker
 * who controls a thread has only the remaining rights.
 */

/*
 * Forbids core dumps, new privileges and all capabilities except the one for
 * binding low ports. Must be called before threads start, because capabilities
 * are per thread.
 */
int sandbox_prepare(struct err *err);

/* Returns true if the filter is compiled in. A sanitizer needs calls that the
 * filter rejects. */
bool sandbox_available(void);

/*
 * Installs the filter in all threads, and drops the remaining capabilities of
 * the calling one. Must be called once all listening sockets are open. A
 * rejected call fails with EPERM; the first few are logged to log_fd. Returns
 * -1, and no call is rejected, if the filter cannot be installed. If client is
 * set, the process is a client of an API server: it may open sockets, and start
 * the threads that resolve names.
 */
int sandbox_enter(int log_fd, bool json, bool client, struct err *err);

/*
 * Loads the policy, the certificate and the client CA at the start, and again
 * when their files change or on SIGHUP. A broken file is logged and never used:
 * the last good version stays. Only one thread may use it.
 */

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
