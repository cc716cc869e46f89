/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of the cluster state: a file written by `gpugate snapshot` (read
 * again when it changes), an API server (list and watch), or none.
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
	const char *file;	 /* path, or NULL */
	const char *kubeconfig;	 /* path, or NULL */
	const char *live_wanted; /* "auto", "on", "off" */
	struct admission *admission;
	struct log *log;
	struct metrics *metrics;
	/* its own: */
	struct api *api; /* also for --self-managed */
	struct live *live;
	struct watch *watch; /* of the file */
	int64_t taken_at;    /* of the file's state; 0: none */
	bool again;	     /* memory ran out while it was read */
	int64_t next_try;    /* then; monotonic seconds */
	bool ahead;	     /* its time is in the future: it is not used */
	const char *_Atomic unused; /* why, or NULL */
	int64_t unused_since;	    /* monotonic seconds */
};

/* Must be called before there are threads. Without a file and a kubeconfig it
 * uses the service account of the pod, if there is one; live "on" requires an
 * API server. Returns -1 after logging the reason. */
int state_open(struct state *state);
/* Must be called once admission is set. Returns as above. */
int state_start(struct state *state);
/* Checks whether the file changed; called each second, for the age. */
void state_poll(struct state *state);
/* Returns why rules that need a state do not run; NULL if they do, or no state
 * was requested. May be called by any thread. */
const char *state_unused(const struct state *state);
/* Returns the reason why the first state is not read yet, or NULL. May be
 * called by any thread. */
const char *state_not_ready(const struct state *state);
/*
 * True if the process is a client of an API server. The sandbox depends on it.
 */
bool state_asks(const struct state *state);
void state_release(struct state *state);

#endif
