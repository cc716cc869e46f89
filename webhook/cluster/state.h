/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of the cluster state: a file written by `gpugate snapshot`, which
 * is read again when it changes, an API server that is listed and watched, or
 * none.
 */
#ifndef WEBHOOK_STATE_H
#define WEBHOOK_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "live.h"
#include "webhook/admission/admission.h"
#include "webhook/observe/watch.h"

struct api;

struct state {
	const char *file;	 /* path (NULL: no file) */
	const char *kubeconfig;	 /* path (NULL: no kubeconfig) */
	const char *live_wanted; /* "auto", "on", "off" */
	struct admission *admission;
	struct log *log;
	struct metrics *metrics;
	/* Private fields. */
	struct api *api; /* used by --self-managed too */
	struct live *live;
	struct watch *watch; /* watches the file */
	int64_t taken_at;    /* time of the file's state (0: none) */
	bool again;	     /* memory ran out while the file was read */
	int64_t next_try;    /* time of the next attempt; monotonic seconds */
	/* the state's time is in the future, so it is not used */
	bool ahead;
	/* reason why the state is not used, or NULL */
	const char *_Atomic unused;
	/* time since the state is not used; monotonic seconds */
	int64_t unused_since;
};

/* Opens the source. Must be called before there are threads. Without a file and
 * a kubeconfig, the service account of the pod is used if it exists; live "on"
 * requires an API server. Returns -1 after logging the reason. */
int state_open(struct state *state);
/* Starts the source. Must be called once admission is set. Returns -1 after
 * logging the reason. */
int state_start(struct state *state);
/* Reads the file again if it has changed, updates the metric of its age, and
 * logs when the state starts or stops being used. To be called about each
 * second. */
void state_poll(struct state *state);
/* Returns the reason why rules that need a state do not run; NULL if they run,
 * or a state was not requested. May be called by any thread. */
const char *state_unused(const struct state *state);
/* Returns the reason why the first state is not read yet, or NULL. May be
 * called by any thread. */
const char *state_not_ready(const struct state *state);
/*
 * Returns true if the process is a client of an API server; the sandbox then
 * permits it.
 */
bool state_asks(const struct state *state);
void state_release(struct state *state);

#endif
